"""Whatever JSON a server sends: an answer comes out of it, or a typed error, and nothing else."""

from __future__ import annotations

import json
from contextlib import suppress
from copy import deepcopy
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.errors import ProviderError
from turnwise.providers.streaming import AnswerStream
from turnwise.providers.wire.base import Answer

TEXT_PART = {"type": "output_text", "text": "hello"}
WHOLE: dict[str, Any] = {
    "openai": {
        "choices": [
            {
                "message": {
                    "content": "hello",
                    "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}],
                    "function_call": {"name": "f", "arguments": "{}"},
                },
                "error": None,
                "finish_reason": "stop",
            }
        ],
        "prompt_filter_results": [],
        "usage": {"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}},
    },
    "responses": {
        "status": "incomplete",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [
            {"type": "message", "content": [TEXT_PART]},
            {"type": "reasoning", "summary": [TEXT_PART], "content": [TEXT_PART]},
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        ],
        "usage": {"input_tokens": 1, "output_tokens_details": {"reasoning_tokens": 1}},
    },
    "anthropic": {
        "content": [
            {"type": "text", "text": "hello"},
            {"type": "thinking", "thinking": "hm"},
            {"type": "tool_use", "id": "c1", "name": "f", "input": {}},
        ],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens_details": {"thinking_tokens": 1}},
    },
    "gemini": {
        "candidates": [
            {
                "content": {"parts": [{"text": "hello"}, {"functionCall": {"name": "f", "args": {}}}]},
                "finishReason": "STOP",
            }
        ],
        "promptFeedback": {"blockReason": None},
        "usageMetadata": {"promptTokenCount": 1},
    },
    "bedrock": {
        "output": {
            "message": {
                "content": [
                    {"text": "hello"},
                    {"toolUse": {"toolUseId": "c1", "name": "f", "input": {}}},
                    {"reasoningContent": {"reasoningText": {"text": "hm"}}},
                ]
            }
        },
        "stopReason": "end_turn",
        "usage": {"inputTokens": 1},
    },
}
EVENTS: dict[str, list[Any]] = {
    "openai": [
        {
            "choices": [
                {
                    "index": 0,
                    "delta": {
                        "content": "hello",
                        "tool_calls": [{"index": 0, "id": "c1", "function": {"name": "f", "arguments": "{}"}}],
                        "function_call": {"name": "f", "arguments": "{}"},
                    },
                    "finish_reason": "stop",
                }
            ]
        },
        {"choices": [], "usage": {"prompt_tokens": 1}},
    ],
    "responses": [
        {"type": "response.output_text.delta", "delta": "hello"},
        {"type": "response.output_item.done", "item": WHOLE["responses"]["output"][0]},
        {"type": "response.completed", "response": {"status": "completed", "output": []}},
    ],
    "anthropic": [
        {"type": "message_start", "message": {"usage": {"input_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hello"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ],
    "gemini": [
        {"candidates": [{"content": {"parts": [{"text": "hello"}]}}], "usageMetadata": {"promptTokenCount": 1}},
        {"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}]},
    ],
    "bedrock": [
        {"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "c1", "name": "f"}}}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": "{}"}}}},
        {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"text": "hello"}}},
        {"messageStop": {"stopReason": "end_turn"}},
        {"metadata": {"usage": {"inputTokens": 1}}},
    ],
}
WIRES = tuple(WHOLE)
CONTEXT = {"api": "example.org", "retry_statuses": frozenset({429}), "credential": None, "secrets": frozenset()}

_LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-2, 600), st.floats(allow_nan=False), st.text(max_size=4))
_KEYS = st.sampled_from(["type", "text", "content", "error", "message", "index", "usage", "code", "delta", "choices"])
ANY_JSON = st.recursive(
    _LEAVES, lambda each: st.lists(each, max_size=3) | st.dictionaries(_KEYS, each, max_size=3), max_leaves=8
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every holder and key in JSON data at which something stands."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, inner in pairs for place in ((value, key), *places(inner))]


@st.composite
def spoilt(draw: st.DrawFn, sound: Any) -> Any:
    """Sound data with one or two things in it replaced by something else."""
    data = [deepcopy(sound)]
    for _ in range(draw(st.integers(1, 2))):
        holder, key = draw(st.sampled_from(places(data)))
        holder[key] = draw(ANY_JSON)
    return data[0]


def decoded(wire: str, body: Any) -> None:
    """Read an answer: what comes out can be sent on as a message."""
    with suppress(ProviderError):
        answer: Answer = import_module(f"turnwise.providers.wire.{wire}").decode(body)
        json.dumps(answer.message)
        assert isinstance(answer.text, str)
        assert all(isinstance(call["function"]["arguments"], str) for call in answer.tool_calls)


def assembled(wire: str, events: Any) -> None:
    """Put a streamed answer together, and read it."""
    with suppress(ProviderError):
        assembly = import_module(f"turnwise.providers.wire.{wire}").Assembly()
        for event in events if isinstance(events, list) else [events]:
            assembly.add(event)
        decoded(wire, assembly.result())


def streamed(wire: str, events: Any) -> None:
    """The same from bytes, by way of server-sent events."""
    with suppress(ProviderError):
        stream = AnswerStream(import_module(f"turnwise.providers.wire.{wire}").Assembly(), CONTEXT)
        for event in events if isinstance(events, list) else [events]:
            stream.feed(b"data: " + json.dumps(event).encode() + b"\n\n")
        decoded(wire, stream.result())


@pytest.mark.parametrize("wire", WIRES)
def test_the_sound_examples_are_answers(wire: str) -> None:
    """What the next tests spoil is read without a complaint, whole and in pieces."""
    module = import_module(f"turnwise.providers.wire.{wire}")
    assert module.decode(WHOLE[wire]).text == "hello"
    assembly = module.Assembly()
    for event in EVENTS[wire]:
        assembly.add(event)
    assert assembly.done
    assert module.decode(assembly.result()).text == "hello"


@pytest.mark.parametrize("wire", WIRES)
@given(data=st.data())
def test_any_json_is_an_answer_or_a_typed_error(wire: str, data: st.DataObject) -> None:
    """No JSON of status 200 makes reading it fail in any other way."""
    decoded(wire, data.draw(ANY_JSON))
    decoded(wire, data.draw(spoilt(WHOLE[wire])))


@pytest.mark.parametrize("wire", WIRES)
@given(data=st.data())
def test_any_events_are_an_answer_or_a_typed_error(wire: str, data: st.DataObject) -> None:
    """Nor do any events of a stream, with or without the layer that looks for failures in them."""
    assembled(wire, data.draw(st.lists(ANY_JSON, max_size=3)))
    events = data.draw(spoilt(EVENTS[wire]))
    assembled(wire, events)
    streamed(wire, events)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("odd", [None, True, 5, 1.5, "x", [1], [[1]], {"x": 1}], ids=repr)
def test_an_odd_value_anywhere_is_no_crash(wire: str, odd: Any) -> None:
    """At every single place of an answer, and of its events, any kind of value is survived."""
    count = 0
    for sound, read in ((WHOLE[wire], decoded), (EVENTS[wire], assembled), (EVENTS[wire], streamed)):
        for number in range(len(places(sound))):
            data = deepcopy(sound)
            holder, key = places(data)[number]
            holder[key] = odd
            read(wire, data)
            count += 1
    assert count > 20


def test_arguments_that_are_nested_too_deeply_are_a_typed_error() -> None:
    """A value that JSON can hold and Python cannot write again is told, not thrown."""
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(ProviderError, match="nested too deeply"):
        import_module("turnwise.providers.wire.anthropic").decode(
            {"content": [{"type": "tool_use", "id": "c1", "name": "f", "input": deep}]}
        )
