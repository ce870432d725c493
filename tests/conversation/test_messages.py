"""Messages and segments as people write them: what is accepted, what is refused, what is visible."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from turnwise.conversation import Conversation, File, Image, Message, Text

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
GUIDELINE = File("g.instructions.md", "g.instructions.md", "Rule.", guideline=True)
PLAIN = File("a.txt", "a.txt", "A")
IMAGE = Image("p.png", "p.png", "image/png", "AAAA")


def only_message(message: dict[str, Any], folder: Path | str = ".") -> Message:
    return Conversation.from_messages([message], folder=folder).messages[0]


def leads_to(location: tuple[int | str, ...], place: tuple[int | str, ...]) -> bool:
    """Whether the steps of `place` follow the message's index; names of union members may stand between them."""
    steps = iter(location[1:])
    return all(step in steps for step in place)


@pytest.mark.parametrize(
    "role", ["system", "user", "assistant", "tool", "developer", "function", "Moderator", "critic 2", "役", " "]
)
def test_any_role_that_is_not_empty_is_accepted(role: str) -> None:
    """Any non-empty role string is accepted, and kept as written."""
    assert only_message({"role": role, "content": "x"}).role == role


@pytest.mark.parametrize(
    ("segment", "text"),
    [
        ("plain", "plain"),
        ({"type": "text", "value": "ours"}, "ours"),
        ({"type": "text", "text": "OpenAI's"}, "OpenAI's"),
    ],
)
def test_the_three_spellings_of_a_text_segment(segment: Any, text: str) -> None:
    """A plain string, `value` and `text` are the same text segment."""
    assert only_message({"role": "user", "content": [segment]}).parts == (Text(text),)


@pytest.mark.parametrize(
    ("message", "place"),
    [
        ({"content": "x"}, ("role",)),
        ({"role": "", "content": "x"}, ("role",)),
        ({"role": None, "content": "x"}, ("role",)),
        ({"role": 5, "content": "x"}, ("role",)),
        ({"role": "user"}, ()),
        ({"role": "user", "content": None}, ()),
        ({"role": "assistant", "tool_calls": []}, ()),
        ({"role": "assistant", "content": None, "tool_calls": None}, ()),
        ({"role": "tool", "tool_call_id": "c1"}, ()),
        ({"role": "user", "content": 5}, ("content",)),
        ({"role": "user", "content": True}, ("content",)),
        ({"role": "user", "content": {"type": "text", "value": "x"}}, ("content",)),
        ({"role": "user", "content": [5]}, ("content", 0)),
        ({"role": "user", "content": [None]}, ("content", 0)),
        ({"role": "user", "content": ["x", ["y"]]}, ("content", 1)),
        ({"role": "user", "content": [{"type": "video", "value": "x"}]}, ("content", 0)),
        ({"role": "user", "content": [{"value": "x"}]}, ("content", 0)),
        ({"role": "user", "content": [{"type": "text"}]}, ("content", 0)),
        ({"role": "user", "content": [{"type": "text", "value": "x", "text": "x"}]}, ("content", 0)),
        ({"role": "user", "content": [{"type": "text", "value": 5}]}, ("content", 0)),
        ({"role": "user", "content": [{"type": "file"}]}, ("content", 0)),
        ({"role": "user", "content": [{"type": "file", "value": ""}]}, ("content", 0)),
        ({"role": "user", "content": [{"type": "file", "path": "x"}]}, ("content", 0)),
        ({"role": "user", "content": [{"type": "image", "value": ""}]}, ("content", 0)),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}, ("content", 0)),
        ({"role": "user", "content": [{"type": "text", "value": "x", "extra": 1}]}, ("content", 0)),
        ({"role": "user", "content": "x", "extra": 1}, ("extra",)),
        ({"role": "user", "content": "x", "name": 5}, ("name",)),
        ({"role": "tool", "content": "x", "tool_call_id": 5}, ("tool_call_id",)),
        ({"role": "assistant", "tool_calls": "f()"}, ("tool_calls",)),
        ({"role": "assistant", "tool_calls": [{}]}, ()),
        ({"role": "assistant", "tool_calls": [{"function": {"arguments": "{}"}}]}, ()),
        ({"role": "assistant", "tool_calls": [CALL, {"function": {"name": ""}}]}, ()),
    ],
    ids=repr,
)
def test_a_malformed_message_is_an_error_at_its_place(message: dict[str, Any], place: tuple[str | int, ...]) -> None:
    """What the format does not know is an error that leads to its place, never a silently missing message."""
    good = {"role": "user", "content": "x"}
    with pytest.raises(ValidationError) as caught:
        Conversation.from_messages([good, message])
    places = [error["loc"] for error in caught.value.errors()]
    assert all(found[0] == 1 for found in places)
    assert any(leads_to(found, place) for found in places), places


@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": ""}, {"content": []}])
def test_content_may_be_absent_beside_tool_calls(content: dict[str, Any]) -> None:
    """`content` may be absent, null or empty beside `tool_calls`."""
    message = only_message({"role": "assistant", "tool_calls": [CALL], **content})
    assert message.parts == ()
    assert message.tool_calls == (CALL,)


@pytest.mark.parametrize("text", ["  a  ", "\ta\n", "a\r\nb", "a\n\n\nb\n\n", "\ufeffa", "a\0b", " a "])
def test_text_is_kept_as_written(text: str) -> None:
    """Nothing is trimmed or changed inside a text, be it a string, a string segment or a typed segment."""
    for content in (text, [text], [{"type": "text", "value": text}], [{"type": "text", "text": text}]):
        talk = Conversation.from_messages([{"role": "user", "content": content}])
        assert talk.messages[0].parts == (Text(text),)
        assert talk.chat_prompt()[0]["content"] == text
        assert talk.transcript() == text


@pytest.mark.parametrize("blank", ["", " ", "\n", "\t \r\n", "\u00a0", "\u2003\u3000"])
def test_a_blank_text_is_no_part(blank: str) -> None:
    """A text of white space only is no part, wherever it stands and however it is spelled."""
    assert only_message({"role": "user", "content": blank}).parts == ()
    for segment in (blank, {"type": "text", "value": blank}, {"type": "text", "text": blank}):
        assert only_message({"role": "user", "content": [segment]}).parts == ()
        assert only_message({"role": "user", "content": [segment, "a", segment, "b", segment]}).parts == (
            Text("a"),
            Text("b"),
        )


@pytest.mark.parametrize(
    ("message", "visible"),
    [
        (Message("user"), False),
        (Message("user", (Text("x"),)), True),
        (Message("user", (PLAIN,)), True),
        (Message("user", (File("e.txt", "e.txt", ""),)), True),
        (Message("user", (IMAGE,)), True),
        (Message("user", (GUIDELINE,)), False),
        (Message("user", (GUIDELINE, GUIDELINE)), False),
        (Message("user", (GUIDELINE, Text("x"))), True),
        (Message("user", (GUIDELINE, IMAGE)), True),
        (Message("assistant", tool_calls=(CALL,)), True),
        (Message("assistant", (GUIDELINE,), tool_calls=(CALL,)), True),
        (Message("tool"), False),
        (Message("tool", tool_call_id="c1"), True),
        (Message("tool", (GUIDELINE,), tool_call_id="c1"), True),
        (Message("user", tool_call_id="c1"), False),
        (Message("user", name="Ann"), False),
        (Message("tool", name="f"), False),
        (Message("system", (Text("x"),)), True),
        (Message("system", (GUIDELINE,)), False),
    ],
    ids=repr,
)
def test_visible_content(message: Message, visible: bool) -> None:
    """Visible are texts, non-guideline files, images, tool calls, and the id that a tool message answers."""
    assert message.is_visible is visible


def test_names_calls_and_ids_are_kept() -> None:
    """`name`, `tool_calls` and `tool_call_id` reach the conversation unchanged."""
    calls: list[dict[str, Any]] = [CALL, {"type": "custom", "name": "g", "input": {"deep": [1, None]}, "extra": True}]
    message = only_message({"role": "critic", "content": "x", "name": "Ann", "tool_calls": calls, "tool_call_id": "c9"})
    assert message == Message("critic", (Text("x"),), "Ann", tuple(calls), "c9")


def test_later_changes_of_the_input_do_not_reach_the_conversation() -> None:
    """A conversation is a value: what the caller does to its own lists afterwards changes nothing."""
    authored: list[dict[str, Any]] = [
        {"role": "user", "content": ["a", {"type": "text", "value": "b"}]},
        {"role": "assistant", "tool_calls": [copy.deepcopy(CALL)]},
    ]
    talk = Conversation.from_messages(authored)
    before = (talk.chat_prompt(), talk.transcript())
    authored[0]["content"].append("c")
    authored[0]["content"][1]["value"] = "changed"
    authored[1]["tool_calls"][0]["function"]["name"] = "changed"
    authored[1]["tool_calls"].append(CALL)
    assert (talk.chat_prompt(), talk.transcript()) == before
