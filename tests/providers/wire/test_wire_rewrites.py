"""What an API's rules change is told: which message, what became of it, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import turnwise.providers.wire as wires
from shapes import IMAGE_PART, m, shape
from turnwise.errors import PromptError
from turnwise.providers.base import Rewrite
from turnwise.providers.wire.base import WireRequest


@dataclass(frozen=True)
class Case:
    """A rewrite that must be told; `says` are words of what happened."""

    wire: str
    name: str
    kind: str
    index: int | None
    says: str


CASES = [
    Case(
        "openai", "29 unknown role", "role-as-user", 1, "the role `critic` became a user turn that starts `[Critic]:`"
    ),
    Case("openai", "16 direct, call by a user", "tool-call-as-text", 0, "the call of `find` became a line of text"),
    Case("openai", "19 call without result", "tool-call-as-text", 1, "the call of `find` became a line of text"),
    Case("openai", "20 result without call", "tool-as-user", 1, "a user turn that starts `[Tool]:`"),
    Case("openai", "29 direct, a further key", "key-left-out", 0, "the key `mood` was left out"),
    Case("openai", "20 direct, named", "name-left-out", 1, "the name `find` was left out"),
    Case("openai", "21 two results for one call", "tool-as-user", 3, "a user turn that starts `[Tool]:`"),
    Case("openai", "06 direct", "tool-result-moved", 3, "the result of `find` moved up to its call"),
    Case("openai", "16 direct, call without id", "tool-id-added", 1, "the call of `find` got the id `call_1`"),
    Case("openai", "24 image in a tool result", "image-moved", 2, "the images of the tool result follow"),
    Case("responses", "29 direct, named", "name-left-out", 0, "the name `Ann` was left out"),
    Case("responses", "16 direct, further keys", "call-key-left-out", 1, "`cache` of the call of `get` left out"),
    Case("responses", "12 direct, three texts", "parts-joined", 1, "its 3 texts became one, a line each"),
    Case("anthropic", "01 user only", "max-tokens-added", None, "`max_tokens: 4096` was added"),
    Case("anthropic", "02 system, user", "system-hoisted", 0, "the system message went to `system`"),
    Case("anthropic", "04 direct", "system-hoisted", 1, "it stood after message 1"),
    Case("anthropic", "30 developer", "developer-as-system", 0, "became system text in `system`"),
    Case("anthropic", "13 direct, empty turn", "empty-turn-left-out", 1, "the empty turn was left out"),
    Case("anthropic", "14 direct, blank system", "empty-turn-left-out", 0, "the empty turn was left out"),
    Case("anthropic", "15 direct, list with an empty text and a text", "empty-text-left-out", 0, "an empty text"),
    Case(
        "anthropic", "12 assistant last, trailing space", "trailing-space-cut", 1, "of the last assistant turn was cut"
    ),
    Case("anthropic", "07 direct, prefill with trailing space", "trailing-space-cut", 1, "white space at the end"),
    Case("anthropic", "16 direct, strange id", "tool-id-changed", 1, "`a b/c`, became `call_1`"),
    Case("anthropic", "16 calls without text", "tool-declared", 1, "the tool `find` was declared"),
    Case("anthropic", "18 two calls, results out of order", "turns-merged", 3, "joined with the tool result before it"),
    Case("gemini", "10 two user turns", "turns-merged", 1, "joined with the turn before it"),
    Case("gemini", "24 image in a tool result", "image-moved", 2, "follow the function response"),
    Case("gemini", "02 system, user", "system-hoisted", 0, "`systemInstruction`"),
    Case("bedrock", "11 two assistant turns", "turns-merged", 2, "joined with the turn before it"),
]
# What is said of these needs more than a conversation; each has a test of its own.
BY_REQUEST = {"schema-as-tool", "system-role"}


def rewrites(wire: str, messages: Any, **fields: Any) -> tuple[Rewrite, ...]:
    encode = import_module(f"turnwise.providers.wire.{wire}").encode
    found: tuple[Rewrite, ...] = encode(WireRequest(model="m", messages=messages, **fields)).rewrites
    return found


@pytest.mark.parametrize("case", CASES, ids=[f"{each.wire}: {each.kind}: {each.name}" for each in CASES])
def test_a_rewrite_says_what_became_of_which_message(case: Case) -> None:
    """Each kind of change is told for the message that it is about, in words for people, and names the API's rule."""
    found = [each for each in rewrites(case.wire, shape(case.name)) if each.kind == case.kind]
    assert [each.message_index for each in found] == [case.index]
    assert case.says in found[0].what
    assert len(found[0].why.split()) > 3


def test_every_kind_of_rewrite_has_a_case_here() -> None:
    """No pass changes anything in a way that these tests do not know."""
    sources = [path.read_text("utf-8") for path in Path(wires.__path__[0]).glob("*.py")]
    kinds = {kind for source in sources for kind in re.findall(r'notes\.add\(\s*"([a-z-]+)"', source)}
    assert kinds == {each.kind for each in CASES} | BY_REQUEST


@pytest.mark.parametrize("wire", ["openai", "responses"])
@pytest.mark.parametrize("name", ["02 system, user", "04 direct", "17 calls with text", "30 developer", "31 200 turns"])
def test_what_an_api_takes_as_it_is_is_not_rewritten(wire: str, name: str) -> None:
    """System messages in place, developer messages and calls with results are native: nothing is told."""
    assert rewrites(wire, shape(name)) == ()


@pytest.mark.parametrize("wire", ["openai", "responses"])
def test_the_system_role_of_the_target_is_told(wire: str) -> None:
    """With `system_role: developer`, system messages have that role, and the rewrite says who wants it."""
    (told,) = rewrites(wire, shape("02 system, user"), system_role="developer")
    assert (told.kind, told.message_index) == ("system-role", 0)
    assert "system_role: developer" in told.why


def test_a_schema_that_becomes_a_tool_is_told() -> None:
    """Bedrock has no schema for all models: the rewrite names the tool in its place."""
    (told,) = rewrites("bedrock", shape("01 user only"), output_schema={"type": "object"})
    assert (told.kind, told.message_index) == ("schema-as-tool", None)
    assert "turnwise_answer" in told.what


@pytest.mark.parametrize("wire", ["openai", "responses", "anthropic", "gemini", "bedrock"])
def test_an_id_that_comes_again_is_changed_for_both_call_and_result(wire: str) -> None:
    """The second call of one id gets another, its result too, and the rewrite names both."""
    calls = [{"id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}} for name in ("f", "g")]
    messages = [m("user", "u")]
    for each in calls:
        messages += [m("assistant", None, tool_calls=[each]), m("tool", "r", tool_call_id="c1")]
    (told,) = [each for each in rewrites(wire, messages) if each.kind == "tool-id-changed"]
    assert told.message_index == 3
    assert "`c1`, which an earlier call has, became `call_1`" in told.what


@pytest.mark.parametrize("wire", ["openai", "responses", "anthropic", "gemini", "bedrock"])
def test_an_image_for_a_model_without_eyes_is_refused(wire: str) -> None:
    """With `images: false`, a conversation that holds one fails before anything is sent."""
    with pytest.raises(PromptError, match="takes none") as caught:
        rewrites(wire, [m("user", "u"), m("user", [IMAGE_PART])], images=False)
    assert (caught.value.rule, caught.value.message_index) == ("no images", 1)


@pytest.mark.parametrize("wire", ["openai", "responses", "anthropic", "gemini", "bedrock"])
@pytest.mark.parametrize("part", [{"type": "video"}, {"type": "image"}, {"type": "text"}, "text"])
def test_content_of_an_unknown_kind_is_refused(wire: str, part: Any) -> None:
    """A part that is neither text nor an image with its data is an error that shows the two forms."""
    with pytest.raises(PromptError, match="message 1 holds content") as caught:
        rewrites(wire, [m("user", [part])])
    assert caught.value.hint is not None
    assert "{type: text, text}" in caught.value.hint
