"""What the APIs are strict about beside the order of turns: names, ids, types of images, thinking."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from shapes import IMAGE_PART, call, m
from turnwise.errors import PromptError
from turnwise.providers.base import Settings, Tool
from turnwise.providers.wire.base import Encoded, WireRequest

WIRES = ("openai", "responses", "anthropic", "gemini", "bedrock")
U = m("user", "question")
COMMON = {"png", "jpeg", "gif", "webp"}
IMAGES = {**dict.fromkeys(WIRES, COMMON), "gemini": {"png", "jpeg", "webp", "heic", "heif"}}
LONGEST = {**dict.fromkeys(WIRES, 64), "anthropic": 128, "gemini": 128}


def encode(wire: str, *messages: Any, **fields: Any) -> Encoded:
    encoded: Encoded = import_module(f"turnwise.providers.wire.{wire}").encode(
        WireRequest(model="m", messages=list(messages), **fields)
    )
    return encoded


def refused(wire: str, *messages: Any, **fields: Any) -> PromptError:
    with pytest.raises(PromptError) as caught:
        encode(wire, *messages, **fields)
    assert caught.value.hint
    return caught.value


def kinds(encoded: Encoded) -> list[str]:
    return [each.kind for each in encoded.rewrites]


def calling(name: str, call_id: str = "c1") -> list[Any]:
    return [U, m("assistant", None, tool_calls=[call(call_id, name)]), m("tool", "r", tool_call_id=call_id)]


def picture(media_type: str) -> Any:
    return m("user", [{**IMAGE_PART, "media_type": media_type}])


@pytest.mark.parametrize("name", ["Ada Lovelace", "Zoë", "", "x" * 65, "a\n"])
def test_a_speaker_whose_name_openai_refuses_has_none(name: str) -> None:
    """The name is left out, and that is told."""
    encoded = encode("openai", m("user", "question", name=name))
    assert encoded.body["messages"] == [U]
    assert kinds(encoded) == ["name-left-out"]
    assert "64 letters" in encoded.rewrites[0].why


@pytest.mark.parametrize("name", ["Ada", "ada_lovelace-1", "x" * 64])
def test_a_speaker_whose_name_fits_keeps_it(name: str) -> None:
    """Nothing is told."""
    encoded = encode("openai", m("user", "question", name=name))
    assert encoded.body["messages"] == [{**U, "name": name}]
    assert encoded.rewrites == ()


@pytest.mark.parametrize(("wire", "key"), [("openai", "tool_call_id"), ("responses", "call_id")])
def test_an_id_of_more_than_40_characters_is_changed_at_openai(wire: str, key: str) -> None:
    """Call and result get a short one; 40 characters are left as they are, whichever these are."""
    kept, changed = (encode(wire, *calling("f", "é/" * 20 + more)) for more in ("", "x"))
    fields = [encoded.body.get("messages") or encoded.body["input"] for encoded in (kept, changed)]
    assert [each[-1][key] for each in fields] == ["é/" * 20, "call_1"]
    assert (kinds(kept), kinds(changed)) == ([], ["tool-id-changed"])


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("name", ["get weather", "météo", "", "{length}", "a/b", "f\n"])
def test_a_tool_whose_name_the_api_refuses_is_told_before_sending(wire: str, name: str) -> None:
    """In a call with the message, among the tools with its number; the hint is to rename it."""
    name = "x" * (LONGEST[wire] + 1) if name == "{length}" else name
    call_refused, tool_refused = refused(wire, *calling(name)), refused(wire, U, tools=[Tool("f"), Tool(name)])
    assert (call_refused.rule, call_refused.message_index) == ("tool name", 1)
    assert "message 2 calls" in str(call_refused)
    assert (tool_refused.rule, tool_refused.message_index) == ("tool name", None)
    assert "tool 2 of `tools`" in str(tool_refused)
    assert "rename" in str(tool_refused.hint)


@pytest.mark.parametrize("wire", WIRES)
def test_the_longest_name_of_a_tool_is_taken(wire: str) -> None:
    """And one more character is not."""
    longest = "x" * LONGEST[wire]
    assert longest in str(encode(wire, *calling(longest), tools=[Tool(longest)]).body)


def test_gemini_takes_dots_and_colons_and_no_digit_first() -> None:
    """Names of its functions are freer within, and stricter at the start."""
    assert "a.b:c" in str(encode("gemini", *calling("a.b:c")).body)
    assert refused("gemini", *calling("1st")).rule == "tool name"
    assert refused("openai", *calling("a.b")).rule == "tool name"


def test_a_call_that_becomes_text_may_have_any_name() -> None:
    """Without a result a call is a line of text, which has no rules."""
    assert kinds(encode("openai", *calling("get weather")[:2])) == ["tool-call-as-text"]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("form", ["png", "jpeg", "gif", "webp", "heic", "heif", "bmp", "svg+xml"])
def test_an_image_is_of_a_type_that_the_api_takes(wire: str, form: str) -> None:
    """Another type is refused, with the types that are taken, in user turns."""
    if form in IMAGES[wire]:
        assert form in str(encode(wire, picture(f"image/{form}")).body)
        return
    error = refused(wire, U, picture(f"image/{form}"))
    assert (error.rule, error.message_index) == ("image type", 1)
    assert f"image/{form}" in str(error)
    assert all(taken in str(error) for taken in IMAGES[wire])


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("written", ["image/jpg", "image/JPEG"])
def test_jpg_is_sent_as_jpeg(wire: str, written: str) -> None:
    """Two spellings of one type; nobody needs to be told."""
    encoded = encode(wire, picture(written))
    assert encoded.body == encode(wire, picture("image/jpeg")).body
    assert set(kinds(encoded)) <= {"max-tokens-added"}


@pytest.mark.parametrize(("budget", "limit"), [(1, None), (1023, None), (2048, 2048), (4096, 2048)])
def test_a_thinking_budget_that_anthropic_refuses_is_told(budget: int, limit: int | None) -> None:
    """It is 1024 or more, and leaves room for the answer."""
    error = refused("anthropic", U, settings=Settings(thinking_budget=budget, max_output_tokens=limit))
    assert error.rule == "thinking budget"
    assert str(budget) in str(error)


@pytest.mark.parametrize(("budget", "limit"), [(-1, 1), (0, 1), (1024, 1025), (1024, None)])
def test_a_thinking_budget_with_room_is_sent(budget: int, limit: int | None) -> None:
    """No thinking and thinking without a budget need no room of their own."""
    body = encode("anthropic", U, settings=Settings(thinking_budget=budget, max_output_tokens=limit)).body
    assert body["thinking"].get("budget_tokens", budget) == budget


def test_gemini_takes_a_budget_or_an_effort() -> None:
    """Both at once are refused; each alone is sent."""
    assert refused("gemini", U, settings=Settings(thinking_budget=0, reasoning_effort="low")).rule == "thinking"
    for settings in (Settings(thinking_budget=0), Settings(reasoning_effort="low")):
        assert len(encode("gemini", U, settings=settings).body["generationConfig"]["thinkingConfig"]) == 2


@pytest.mark.parametrize("wire", ["openai", "responses"])
def test_an_empty_conversation_is_not_sent(wire: str) -> None:
    """A system message alone is one."""
    assert refused(wire).rule == "nothing to send"
    assert encode(wire, m("system", "rule")).rewrites == ()


def parts(*texts: str) -> list[Any]:
    return [{"type": "text", "text": text} for text in texts]


def result(content: Any, text: Any = None) -> list[Any]:
    return [U, m("assistant", text, tool_calls=[call("c1", "f")]), m("tool", content, tool_call_id="c1")]


def test_texts_that_become_one_are_told() -> None:
    """Where an API takes one text, several are joined line by line; a lone one is as it was."""
    told = encode("responses", *result(parts("one", "two")))
    assert (told.body["input"][-1]["output"], kinds(told)) == ("one\ntwo", ["parts-joined"])
    spoken = encode("responses", U, m("assistant", parts("one", "two")))
    assert (spoken.body["input"][-1]["content"], kinds(spoken)) == ("one\ntwo", ["parts-joined"])
    gemini = encode("gemini", *result(parts("one", "two")))
    assert gemini.body["contents"][-1]["parts"][0]["functionResponse"]["response"] == {"output": "one\ntwo"}
    assert kinds(gemini) == ["parts-joined"]
    for wire in ("responses", "gemini"):
        assert kinds(encode(wire, *result(parts("one")))) == []


@pytest.mark.parametrize("wire", ["anthropic", "gemini", "bedrock"])
def test_white_space_that_vanishes_beside_calls_is_told(wire: str) -> None:
    """So is a result of white space; what is empty anyway is not."""
    for messages in (result(" "), result("r", " \n")):
        assert "empty-text-left-out" in kinds(encode(wire, *messages))
    for messages in (result(""), result("r", ""), result("r"), result(parts(""))):
        assert "empty-text-left-out" not in kinds(encode(wire, *messages))


def test_further_keys_of_a_function_are_kept_or_told() -> None:
    """Chat Completions gets them where they stood; elsewhere they are left out, with a note."""
    function = {"name": "f", "arguments": "{}", "strict": True}
    messages = [U, m("assistant", None, tool_calls=[{"id": "c1", "type": "function", "function": function}])]
    messages.append(m("tool", "r", tool_call_id="c1"))
    assert encode("openai", *messages).body["messages"][1]["tool_calls"][0]["function"] == function
    for wire in WIRES[1:]:
        told = [each.what for each in encode(wire, *messages).rewrites if each.kind == "call-key-left-out"]
        assert told == ["`strict` of the call of `f` left out"]


@pytest.mark.parametrize("wire", ["anthropic", "gemini", "bedrock"])
@pytest.mark.parametrize("arguments", ['{"a": NaN}', '{"a": 1e999}', '{"a": 1, "a": 2}', "[1]", "{"])
def test_arguments_that_would_change_are_refused(wire: str, arguments: str) -> None:
    """Where arguments are sent as an object, no number that JSON cannot hold and no key that stands twice is taken."""
    module: Any = import_module(f"turnwise.providers.wire.{wire}")
    calls = [{"id": "c1", "function": {"name": "find", "arguments": arguments}}]
    messages: Any = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "content": "x", "tool_call_id": "c1"},
    ]
    with pytest.raises(PromptError) as caught:
        module.encode(WireRequest(model="m", messages=messages))
    assert (caught.value.rule, caught.value.message_index) == ("arguments", 1)


def test_gemini_takes_all_responses_before_what_they_show() -> None:
    """Images of tool results follow the last response of the turn, in their order."""
    image = {"type": "image", "value": "a.png", "media_type": "image/png", "data": "AA=="}
    calls = [{"id": each, "function": {"name": "look", "arguments": "{}"}} for each in ("c1", "c2")]
    messages: Any = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "content": [image], "tool_call_id": "c1"},
        {"role": "tool", "content": [image], "tool_call_id": "c2"},
    ]
    gemini: Any = import_module("turnwise.providers.wire.gemini")
    parts = gemini.encode(WireRequest(model="m", messages=messages)).body["contents"][2]["parts"]
    assert [next(iter(part)) for part in parts] == ["functionResponse"] * 2 + ["inlineData"] * 2
