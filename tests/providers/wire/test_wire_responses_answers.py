"""Answers of the Responses API: we read in them what OpenAI's SDK reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from answer_streams import read_stream
from sdk_recorder import Recorder, recorder
from turnwise.errors import ContentFilterError, OverloadedError, ProtocolError
from turnwise.providers.base import Usage
from turnwise.providers.wire import responses
from turnwise.providers.wire.base import Answer

USAGE = {
    "input_tokens": 20, "output_tokens": 9, "total_tokens": 29,
    "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
    "output_tokens_details": {"reasoning_tokens": 5},
}  # fmt: skip


def message(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": list(parts)}


def text(value: str) -> dict[str, Any]:
    return {"type": "output_text", "text": value, "annotations": [], "logprobs": []}


def call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {
        "type": "function_call", "id": f"f_{call_id}", "call_id": call_id, "name": name, "arguments": arguments,
        "status": "completed",
    }  # fmt: skip


REASONING = {
    "type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": each} for each in ("six", "seven")],
}  # fmt: skip
CUT: dict[str, Any] = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
# The items of the output, what else the response says, and how it ends in our words.
ANSWERS: dict[str, tuple[list[dict[str, Any]], dict[str, Any], str]] = {
    "text": ([message(text("Grüße 🙂\nzwei"))], {}, "stop"),
    "two texts": ([message(text("one "), text("two"))], {}, "stop"),
    "reasoning": ([REASONING, message(text("42"))], {}, "stop"),
    "calls": ([REASONING, call("c1", "find", '{"q": "Zürich"}'), call("c2", "get", "{}")], {}, "tool_calls"),
    "call and text": ([message(text("let me see")), call("c1", "find", "{}")], {}, "tool_calls"),
    "refusal": ([message({"type": "refusal", "refusal": "I cannot."})], {}, "refusal"),
    "cut": ([message(text("half"))], CUT, "length"),
    "nothing": ([], {}, "stop"),
}


@pytest.fixture(scope="module")
def server() -> Iterator[Recorder]:
    """A recorder."""
    with recorder() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Recorder) -> Iterator[Any]:
    """OpenAI's own client."""
    from openai import OpenAI

    with OpenAI(base_url=f"{server.url}/v1", api_key="key", max_retries=0) as running:
        yield running


def response(output: list[dict[str, Any]], fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-x", "status": "completed", "error": None,
        "incomplete_details": None, "output": output, "usage": USAGE, **fields,
    }  # fmt: skip


def events(output: list[dict[str, Any]], fields: dict[str, Any]) -> list[dict[str, Any]]:
    """The same answer as the API streams it: every item, and the whole response at the end."""
    found: list[dict[str, Any]] = [{"type": "response.created", "response": response([], {"status": "in_progress"})}]
    for index, item in enumerate(output):
        found.append({"type": "response.output_item.added", "output_index": index, "item": item})
        for part in item.get("content", ()):
            delta = {"item_id": item["id"], "output_index": index, "content_index": 0, "logprobs": []}
            found.append({"type": "response.output_text.delta", "delta": part.get("text", ""), **delta})
        found.append({"type": "response.output_item.done", "output_index": index, "item": item})
    whole = response(output, fields)
    found.append({"type": f"response.{whole['status']}", "response": whole})
    return [{**each, "sequence_number": number} for number, each in enumerate(found)]


def check(answer: Answer, theirs: Any, finish: str) -> None:
    """Our answer says what the SDK's response says."""
    refusals = [
        part.refusal
        for item in theirs.output if item.type == "message"
        for part in item.content if part.type == "refusal"
    ]  # fmt: skip
    assert answer.text == (theirs.output_text or "".join(refusals))
    assert answer.refusal == ("".join(refusals) or None)
    thoughts = [part.text for item in theirs.output if item.type == "reasoning" for part in item.summary]
    assert answer.reasoning == ("\n\n".join(thoughts) or None)
    assert [(each["id"], each["function"]["name"], each["function"]["arguments"]) for each in answer.tool_calls] == [
        (item.call_id, item.name, item.arguments) for item in theirs.output if item.type == "function_call"
    ]
    assert answer.finish_reason == finish
    incomplete = theirs.incomplete_details
    assert answer.raw_finish_reason == (incomplete.reason if incomplete else theirs.status)
    assert (answer.model, answer.response_id) == (theirs.model, theirs.id)
    usage = theirs.usage
    assert answer.usage == Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_input_tokens=usage.input_tokens_details.cached_tokens,
        cache_write_tokens=usage.input_tokens_details.cache_write_tokens,
        reasoning_tokens=usage.output_tokens_details.reasoning_tokens,
    )


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_reads_as_in_the_sdk(name: str, client: Any, server: Recorder) -> None:
    """Text, calls, reasoning, refusal, status and counts of a whole answer are those of the SDK."""
    output, fields, finish = ANSWERS[name]
    body = response(output, fields)
    server.answer_json(body)
    check(responses.decode(body), client.responses.create(model="m", input=""), finish)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_streamed_answer_reads_as_the_whole_one(name: str, client: Any, server: Recorder) -> None:
    """In events, cut anywhere, the same answer comes together."""
    output, fields, finish = ANSWERS[name]
    data = server.answer_events(events(output, fields), named=True)
    body, _ = read_stream(responses, data, step=11)
    answer = responses.decode(body)
    last = list(client.responses.create(model="m", input="", stream=True))[-1]
    check(answer, last.response, finish)


def test_items_that_the_last_event_leaves_out_are_kept() -> None:
    """Some servers stream the items and end with a response that has none."""
    assembly = responses.Assembly()
    assembly.add({"type": "response.output_item.done", "item": message(text("hello"))})
    assembly.add({"type": "response.completed", "response": response([], {})})
    assert responses.decode(assembly.result()).text == "hello"


def test_a_failed_response_is_an_error() -> None:
    """The API's message is in the error, which passes."""
    failed = response([], {"status": "failed", "error": {"code": "server_error", "message": "out of luck"}})
    with pytest.raises(OverloadedError, match="out of luck") as caught:
        responses.decode(failed)
    assert caught.value.retryable


def test_a_filter_that_withholds_everything_is_an_error() -> None:
    """Without any text, a filtered answer is none."""
    reason = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
    with pytest.raises(ContentFilterError):
        responses.decode(response([], reason))


@pytest.mark.parametrize("body", [None, [], "x", {}, {"output": "x"}])
def test_what_is_no_response_is_an_error(body: Any) -> None:
    """An answer of another form is a protocol error, never a traceback or an empty text."""
    with pytest.raises(ProtocolError):
        responses.decode(body)
