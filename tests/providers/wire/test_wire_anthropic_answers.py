"""Answers of the Messages API: we read in them what Anthropic's SDK reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from answer_streams import read_stream
from sdk_recorder import Recorder, recorder
from turnwise.errors import OverloadedError, ProtocolError
from turnwise.providers.base import Usage
from turnwise.providers.wire import anthropic
from turnwise.providers.wire.base import Answer

USAGE: dict[str, Any] = {
    "input_tokens": 10, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 6, "output_tokens": 9,
    "output_tokens_details": {"thinking_tokens": 5},
}  # fmt: skip
THINKING = {"type": "thinking", "thinking": "six times seven", "signature": "sig"}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def call(call_id: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


# The blocks, the API's reason to stop, and ours.
ANSWERS: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "text": ([text("Grüße 🙂\nzwei")], "end_turn", "stop"),
    "two texts": ([text("one "), text("two")], "end_turn", "stop"),
    "thinking": ([THINKING, text("42")], "end_turn", "stop"),
    "hidden thinking": ([{"type": "redacted_thinking", "data": "x"}, text("42")], "end_turn", "stop"),
    "calls": ([call("c1", "find", {"q": "Zürich"}), call("c2", "get", {})], "tool_use", "tool_calls"),
    "call and text": ([THINKING, text("let me see"), call("c1", "find", {"n": [1, 2]})], "tool_use", "tool_calls"),
    "cut": ([text("half")], "max_tokens", "length"),
    "stop sequence": ([text("half")], "stop_sequence", "stop"),
    "full window": ([text("half")], "model_context_window_exceeded", "length"),
    "refusal": ([text("I cannot.")], "refusal", "refusal"),
    "nothing": ([], "end_turn", "stop"),
}


@pytest.fixture(scope="module")
def server() -> Iterator[Recorder]:
    """A recorder."""
    with recorder() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Recorder) -> Iterator[Any]:
    """Anthropic's own client."""
    from anthropic import Anthropic

    with Anthropic(base_url=server.url, api_key="key", max_retries=0) as running:
        yield running


def message(blocks: list[dict[str, Any]], stop: str | None) -> dict[str, Any]:
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "content": blocks,
        "stop_reason": stop, "stop_sequence": None, "usage": USAGE,
    }  # fmt: skip


def events(blocks: list[dict[str, Any]], stop: str) -> list[dict[str, Any]]:
    """The same answer as the API streams it; what the end does not count anew is null there."""
    start = {**message([], None), "usage": {**USAGE, "output_tokens": 1, "output_tokens_details": None}}
    found: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, block in enumerate(blocks):
        empty: dict[str, Any] = {
            "text": {"text": ""},
            "thinking": {"thinking": "", "signature": ""},
            "tool_use": {"input": {}},
        }
        opened = {**block, **empty.get(block["type"], {})}
        found.append({"type": "content_block_start", "index": index, "content_block": opened})
        found += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas(block)]
        found.append({"type": "content_block_stop", "index": index})
    ended = {
        "input_tokens": None, "cache_read_input_tokens": None, "cache_creation_input_tokens": None,
        "output_tokens": USAGE["output_tokens"], "output_tokens_details": USAGE["output_tokens_details"],
    }  # fmt: skip
    found.append({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": ended})
    return [*found, {"type": "message_stop"}]


def deltas(block: dict[str, Any]) -> list[dict[str, Any]]:
    match block["type"]:
        case "text":
            return [{"type": "text_delta", "text": each} for each in block["text"]]
        case "thinking":
            thoughts = [{"type": "thinking_delta", "thinking": each} for each in block["thinking"]]
            return [*thoughts, {"type": "signature_delta", "signature": "sig"}]
        case "tool_use":
            whole = json.dumps(block["input"]) if block["input"] else ""
            return [{"type": "input_json_delta", "partial_json": each} for each in ("", whole[:5], whole[5:])]
    return []


def check(answer: Answer, theirs: Any, finish: str) -> None:
    """Our answer says what the SDK's message says."""
    words = "".join(block.text for block in theirs.content if block.type == "text")
    assert answer.text == words
    thoughts = [block.thinking for block in theirs.content if block.type == "thinking"]
    assert answer.reasoning == ("\n\n".join(thoughts) or None)
    assert [
        (each["id"], each["function"]["name"], json.loads(each["function"]["arguments"])) for each in answer.tool_calls
    ] == [(block.id, block.name, block.input) for block in theirs.content if block.type == "tool_use"]
    assert (answer.raw_finish_reason, answer.finish_reason) == (theirs.stop_reason, finish)
    assert answer.refusal == (words if finish == "refusal" else None)
    assert (answer.model, answer.response_id) == (theirs.model, theirs.id)
    usage = theirs.usage
    assert answer.usage == Usage(
        input_tokens=usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens,
        output_tokens=usage.output_tokens,
        cached_input_tokens=usage.cache_read_input_tokens,
        cache_write_tokens=usage.cache_creation_input_tokens,
        reasoning_tokens=5,
    )


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_reads_as_in_the_sdk(name: str, client: Any, server: Recorder) -> None:
    """Text, thinking, calls, reason to stop and counts of a whole answer are those of the SDK."""
    blocks, stop, finish = ANSWERS[name]
    body = message(blocks, stop)
    server.answer_json(body)
    check(anthropic.decode(body), client.messages.create(model="m", max_tokens=9, messages=[]), finish)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_streamed_answer_reads_as_the_whole_one(name: str, client: Any, server: Recorder) -> None:
    """In events, cut anywhere, the same answer comes together; counts of the start that the end leaves open stay."""
    blocks, stop, finish = ANSWERS[name]
    data = server.answer_events(events(blocks, stop), named=True)
    body, _ = read_stream(anthropic, data, step=13)
    answer = anthropic.decode(body)
    with client.messages.stream(model="m", max_tokens=9, messages=[]) as theirs:
        check(answer, theirs.get_final_message(), finish)
    assert answer == anthropic.decode(message(blocks, stop))


def test_events_of_unknown_kinds_are_passed_over() -> None:
    """The API may send kinds of events and pieces that nobody knows yet."""
    assembly = anthropic.Assembly()
    for event in events([text("hello")], "end_turn"):
        assembly.add({"type": "news", "data": 1})
        assembly.add({"type": "content_block_delta", "index": 0, "delta": {"type": "news"}})
        assembly.add(event)
    assert anthropic.decode(assembly.result()).text == "hello"


def test_an_error_in_the_stream_is_raised() -> None:
    """The API's message is in the error, which passes."""
    event = {"type": "error", "error": {"type": "overloaded_error", "message": "too busy"}}
    with pytest.raises(OverloadedError, match="too busy") as caught:
        read_stream(anthropic, f"event: error\ndata: {json.dumps(event)}\n\n".encode(), step=9)
    assert caught.value.retryable


def test_arguments_that_are_cut_stay_as_they_came() -> None:
    """A call that the limit of tokens cut off keeps its text: asking again would cut it off again."""
    assembly = anthropic.Assembly()
    assembly.add({"type": "content_block_start", "index": 0, "content_block": call("c1", "find", {})})
    delta = {"type": "input_json_delta", "partial_json": '{"q": "x'}
    assembly.add({"type": "content_block_delta", "index": 0, "delta": delta})
    assembly.add({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 9}})
    answer = anthropic.decode(assembly.result())
    assert answer.finish_reason == "length"
    assert answer.tool_calls[0]["function"] == {"name": "find", "arguments": '{"q": "x'}


@pytest.mark.parametrize("body", [None, [], "x", {}, {"content": "x"}])
def test_what_is_no_message_is_an_error(body: Any) -> None:
    """An answer of another form is a protocol error, never a traceback or an empty text."""
    with pytest.raises(ProtocolError):
        anthropic.decode(body)
