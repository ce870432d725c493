"""Answers of the Chat Completions API: we read in them what OpenAI's SDK reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from answer_streams import read_stream
from sdk_recorder import Recorder, recorder
from turnwise.errors import ContentFilterError, ProtocolError
from turnwise.providers.base import Usage
from turnwise.providers.wire import openai
from turnwise.providers.wire.base import Answer

USAGE = {
    "prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29,
    "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
    "completion_tokens_details": {"reasoning_tokens": 5},
}  # fmt: skip
CALLS = [
    {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": "Zürich 🙂"}'}},
    {"id": "c2", "type": "function", "function": {"name": "get", "arguments": "{}"}},
]
# Message, and reason to finish.
ANSWERS: dict[str, tuple[dict[str, Any], str]] = {
    "text": ({"content": "Grüße 🙂\nzwei"}, "stop"),
    "empty text": ({"content": ""}, "stop"),
    "cut": ({"content": "half"}, "length"),
    "calls": ({"content": None, "tool_calls": CALLS}, "tool_calls"),
    "calls and text": ({"content": "let me see", "tool_calls": CALLS[:1]}, "tool_calls"),
    "refusal": ({"content": None, "refusal": "I cannot."}, "stop"),
    "filtered": ({"content": "half"}, "content_filter"),
    "reasoning": ({"content": "42", "reasoning_content": "six times seven"}, "stop"),
}
FINISH = {"stop": "stop", "length": "length", "tool_calls": "tool_calls", "content_filter": "content_filter"}


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


def completion(message: dict[str, Any], finish: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {
        "id": "chat-1", "object": "chat.completion", "created": 1, "model": "gpt-x", "choices": [choice],
        "usage": USAGE,
    }  # fmt: skip


def chunks(message: dict[str, Any], finish: str) -> list[dict[str, Any]]:
    """The same answer in pieces: two letters at a time, ids and names of calls first, usage last."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    for key in ("reasoning_content", "content", "refusal"):
        deltas += [{key: piece} for piece in pieces(message.get(key) or "")]
    for index, call in enumerate(message.get("tool_calls", ())):
        function = call["function"]
        deltas.append({"tool_calls": [{**call, "index": index, "function": {**function, "arguments": ""}}]})
        for piece in pieces(function["arguments"]):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    frame = {"id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-x"}
    choices: list[dict[str, Any]] = [{"index": 0, "delta": each, "finish_reason": None} for each in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    return [*({**frame, "choices": [each]} for each in choices), {**frame, "choices": [], "usage": USAGE}]


def pieces(text: str) -> list[str]:
    return [text[start : start + 2] for start in range(0, len(text), 2)]


def check(answer: Answer, theirs: Any) -> None:
    """Our answer says what the SDK's completion says."""
    message = theirs.choices[0].message
    assert answer.text == (message.content or message.refusal or "")
    assert answer.refusal == message.refusal
    assert answer.reasoning == getattr(message, "reasoning_content", None)
    assert [(each["id"], each["function"]["name"], each["function"]["arguments"]) for each in answer.tool_calls] == [
        (each.id, each.function.name, each.function.arguments) for each in message.tool_calls or ()
    ]
    assert answer.raw_finish_reason == theirs.choices[0].finish_reason
    assert answer.finish_reason == ("refusal" if message.refusal else FINISH[theirs.choices[0].finish_reason])
    assert (answer.model, answer.response_id) == (theirs.model, theirs.id)
    usage = theirs.usage
    assert answer.usage == Usage(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        cached_input_tokens=usage.prompt_tokens_details.cached_tokens,
        cache_write_tokens=usage.prompt_tokens_details.cache_write_tokens,
        reasoning_tokens=usage.completion_tokens_details.reasoning_tokens,
    )


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_reads_as_in_the_sdk(name: str, client: Any, server: Recorder) -> None:
    """Text, calls, refusal, reason to finish and counts of a whole answer are those of the SDK."""
    body = completion(*ANSWERS[name])
    server.answer_json(body)
    check(openai.decode(body), client.chat.completions.create(model="m", messages=[]))


@pytest.mark.parametrize("name", ANSWERS)
def test_a_streamed_answer_reads_as_the_whole_one(name: str, client: Any, server: Recorder) -> None:
    """In pieces, cut anywhere, the same answer comes together; its counts are in the last piece."""
    data = server.answer_events(chunks(*ANSWERS[name]), end="[DONE]")
    body, first_at = read_stream(openai, data, step=7)
    answer = openai.decode(body)
    assert answer == openai.decode(completion(*ANSWERS[name]))
    assert first_at is not None or name == "empty text"
    if name in ("cut", "filtered"):  # the SDK's helper raises for these
        return
    with client.chat.completions.stream(model="m", messages=[]) as theirs:
        final = theirs.get_final_completion()
    if name != "reasoning":  # the SDK's helper knows no such field
        check(answer, final)


def test_a_filter_that_withholds_everything_is_an_error() -> None:
    """Without any text, a filtered answer is none."""
    with pytest.raises(ContentFilterError):
        openai.decode(completion({"content": None}, "content_filter"))


@pytest.mark.parametrize("body", [None, [], "x", {}, {"choices": []}, {"choices": [{}]}, {"choices": [1]}])
def test_what_is_no_completion_is_an_error(body: Any) -> None:
    """An answer of another form is a protocol error, never a traceback or an empty text."""
    with pytest.raises(ProtocolError):
        openai.decode(body)
