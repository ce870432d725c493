"""What holds for every conversation and every API: nothing is lost, nothing is changed behind anybody's back."""

from __future__ import annotations

import json
import string
from collections.abc import Iterator
from copy import deepcopy
from importlib import import_module
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapes import IMAGE_PART, all_shapes
from turnwise.conversation.chat import ChatPrompt
from turnwise.errors import PromptError
from turnwise.providers.base import Rewrite
from turnwise.providers.wire.base import Encoded, WireRequest

WIRES = ("openai", "responses", "anthropic", "gemini", "bedrock")
REFUSE_BLANK = ("anthropic", "gemini", "bedrock")
ROLES: dict[str, set[str | None]] = {
    "openai": {"system", "developer", "user", "assistant", "tool"},
    "responses": {"system", "developer", "user", "assistant", None},
    "anthropic": {"user", "assistant"},
    "gemini": {"user", "model"},
    "bedrock": {"user", "assistant"},
}


def encode(wire: str, messages: ChatPrompt) -> Encoded | None:
    """The encoded request, or None for one that the API has no form for; then the error leads to the message."""
    refused: PromptError | None = None
    try:
        encoded: Encoded = import_module(f"turnwise.providers.wire.{wire}").encode(
            WireRequest(model="m", messages=messages)
        )
    except PromptError as error:
        refused = error
    if refused is None:
        return encoded
    assert refused.hint
    assert refused.rule
    assert refused.message_index is None or 0 <= refused.message_index < len(messages)
    return None


def turns_of(body: dict[str, Any]) -> list[Any]:
    found = body.get("messages", body.get("input", body.get("contents")))
    assert isinstance(found, list)
    return found


def strings(value: Any) -> Iterator[str]:
    """Every text in JSON data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)


def texts_of(message: Any) -> list[str]:
    """What a reader would miss: texts, images, names and arguments of calls."""
    content = message["content"]
    parts = [{"text": content}] if isinstance(content, str) else content or []
    found: list[str] = [part["text"] if "text" in part else part["data"] for part in parts]
    found += [call["function"]["name"] for call in message.get("tool_calls", ())]
    return [each for each in found if each.strip()]


def check_texts(messages: ChatPrompt, encoded: Encoded) -> None:
    sent = list(strings(encoded.body))
    trimmed = {each.message_index for each in encoded.rewrites if each.kind == "trailing-space-cut"}
    for index, message in enumerate(messages):
        for text in texts_of(message):
            wanted = text.rstrip() if index in trimmed else text
            assert any(wanted in each for each in sent), f"message {index}: {wanted!r} is lost"


def check_rewrites(rewrites: tuple[Rewrite, ...], messages: ChatPrompt) -> None:
    for each in rewrites:
        assert each.message_index is None or 0 <= each.message_index < len(messages)
        assert each.what
        assert each.why
        assert "{" not in each.why


def check_alternation(wire: str, body: dict[str, Any]) -> None:
    roles = [turn.get("role") for turn in turns_of(body)]
    assert set(roles) <= ROLES[wire]
    if wire in ("gemini", "bedrock"):
        assert all(first != second for first, second in pairwise(roles))
    if wire == "bedrock":
        assert roles[0] == "user"


def check_blank(wire: str, body: dict[str, Any]) -> None:
    if wire not in REFUSE_BLANK:
        return
    for turn in turns_of(body):
        content = turn.get("parts", turn.get("content"))
        assert content
        blocks = [{"text": content}] if isinstance(content, str) else content
        assert all(block["text"].strip() for block in blocks if "text" in block)


def ids(wire: str, turn: Any) -> tuple[list[str], list[str]]:
    """The ids of the calls and of the results of one turn."""
    if wire == "openai":
        calls = [each["id"] for each in turn.get("tool_calls", ())]
        return calls, [turn["tool_call_id"]] if turn["role"] == "tool" else []
    if wire == "responses":
        kind = turn.get("type")
        own = [turn["call_id"]] if "call_id" in turn else []
        return (own, []) if kind == "function_call" else ([], own)
    blocks = turn.get("parts", turn.get("content"))
    blocks = [] if isinstance(blocks, str) else blocks
    if wire == "anthropic":
        return (
            [each["id"] for each in blocks if each["type"] == "tool_use"],
            [each["tool_use_id"] for each in blocks if each["type"] == "tool_result"],
        )
    call, result, key = (
        ("functionCall", "functionResponse", "id") if wire == "gemini" else ("toolUse", "toolResult", "toolUseId")
    )
    return [each[call][key] for each in blocks if call in each], [
        each[result][key] for each in blocks if result in each
    ]


def check_pairs(wire: str, body: dict[str, Any]) -> None:
    """Results come directly after their calls, one for each."""
    open_calls: list[str] = []
    for turn in turns_of(body):
        calls, results = ids(wire, turn)
        for each in results:
            assert each in open_calls, "a result without an open call"
            open_calls.remove(each)
        if not results and not (wire == "responses" and calls):
            assert not open_calls, "a turn between a call and its result"
        open_calls += calls
    assert not open_calls, "a call without result"


def check_all(wire: str, messages: ChatPrompt) -> None:
    before = deepcopy(messages)
    encoded = encode(wire, messages)
    assert messages == before, "the caller's messages were changed"
    if encoded is None:
        return
    again = encode(wire, messages)
    assert encoded == again
    assert json.loads(json.dumps(encoded.body)) == encoded.body
    check_texts(messages, encoded)
    check_rewrites(encoded.rewrites, messages)
    check_alternation(wire, encoded.body)
    check_blank(wire, encoded.body)
    check_pairs(wire, encoded.body)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("name", [each.name for each in all_shapes()])
def test_the_rules_hold_for_every_shape(wire: str, name: str) -> None:
    """No text is lost, roles and their order are legal, results follow calls, and the input stays as it is."""
    check_all(wire, next(each.messages for each in all_shapes() if each.name == name))


_TEXT = st.text(string.ascii_letters + " \n\t🙂", max_size=8)
_PARTS = st.lists(
    st.one_of(_TEXT.map(lambda text: {"type": "text", "text": text}), st.just(dict(IMAGE_PART))), max_size=3
)
_IDS = st.sampled_from(["c1", "c2", "c 3", None])
_ARGUMENTS = st.sampled_from(['{"q":"x"}', "{}", "", {"n": 1}, None])


@st.composite
def _messages(draw: st.DrawFn) -> Any:
    role = draw(st.sampled_from(["system", "developer", "user", "user", "assistant", "assistant", "tool", "critic"]))
    content = draw(_TEXT if role in ("system", "developer", "assistant") else st.one_of(_TEXT, _PARTS))
    message: dict[str, Any] = {"role": role, "content": content}
    if role == "tool" and (call_id := draw(_IDS)) is not None:
        message["tool_call_id"] = call_id
    if role == "assistant" and draw(st.booleans()):
        message["tool_calls"] = [_call(draw) for _ in range(draw(st.integers(1, 3)))]
    return message


@st.composite
def _exchanges(draw: st.DrawFn) -> Any:
    """Calls and most of their results, in any order, with ids that may come again."""
    calls = [_call(draw) for _ in range(draw(st.integers(1, 3)))]
    answered = [each for each in draw(st.permutations(calls)) if draw(st.integers(0, 4))]
    results = [
        {"role": "tool", "content": draw(_TEXT), **({"tool_call_id": each["id"]} if "id" in each else {})}
        for each in answered
    ]
    return [{"role": "assistant", "content": draw(st.one_of(st.none(), _TEXT)), "tool_calls": calls}, *results]


def _call(draw: st.DrawFn) -> dict[str, Any]:
    call: dict[str, Any] = {"type": "function", "function": {"name": "find", "arguments": draw(_ARGUMENTS)}}
    call_id = draw(_IDS)
    return call if call_id is None else {"id": call_id, **call}


_CONVERSATIONS = st.lists(st.one_of(_messages().map(lambda each: [each]), _exchanges()), min_size=1, max_size=6).map(
    lambda pieces: [message for piece in pieces for message in piece]
)


@pytest.mark.parametrize("wire", WIRES)
@given(messages=_CONVERSATIONS)
def test_the_rules_hold_for_any_conversation(wire: str, messages: ChatPrompt) -> None:
    """The same, for conversations that nobody thought of."""
    check_all(wire, messages)


@pytest.mark.parametrize("wire", WIRES)
@given(messages=_CONVERSATIONS)
def test_ids_of_calls_are_unique(wire: str, messages: ChatPrompt) -> None:
    """Two calls never share an id: an API could not tell which of them a result answers."""
    encoded = encode(wire, messages)
    if encoded is not None:
        found = [each for turn in turns_of(encoded.body) for each in ids(wire, turn)[0]]
        assert len(found) == len(set(found))
