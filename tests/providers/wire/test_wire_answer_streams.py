"""Streams as bytes: when they are whole, and what a failure in the middle of one means."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import pytest

from answer_streams import aws_frame, read_stream
from turnwise.errors import (
    BadRequestError,
    ContentFilterError,
    OverloadedError,
    ProviderConnectionError,
    ProviderError,
    RateLimitError,
)
from turnwise.providers.streaming import AnswerStream
from turnwise.providers.wire import openai, responses

SECRET = "hunter2-hunter2"
CONTEXT: dict[str, Any] = {
    "api": "example.org", "retry_statuses": frozenset({429, 500, 502}), "credential": None, "secrets": {SECRET},
}  # fmt: skip
CHUNK = {"choices": [{"index": 0, "delta": {"content": "hello"}}]}
STOP = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
RESPONSE = {"output": [{"type": "message", "content": [{"type": "output_text", "text": "hello"}]}]}


def sse(*events: Any) -> list[bytes]:
    return [f"data: {each if isinstance(each, str) else json.dumps(each)}\n\n".encode() for each in events]


# The pieces of an answer; the last one makes it whole.
WHOLE: dict[str, tuple[str, list[bytes]]] = {
    "chat": ("openai", sse(CHUNK, STOP, {"choices": [], "usage": {"prompt_tokens": 3}}, "[DONE]")),
    "responses": ("responses", sse(CHUNK, {"type": "response.completed", "response": RESPONSE})),
    "cut response": (
        "responses", sse({"type": "response.incomplete", "response": {**RESPONSE, "status": "incomplete"}}),
    ),
    "messages": (
        "anthropic",
        sse(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hello"}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
            {"type": "message_stop"},
        ),
    ),
    "gemini": (
        "gemini",
        sse(
            {"candidates": [{"content": {"parts": [{"text": "hello"}]}}]},
            {"candidates": [{"finishReason": "STOP"}]},
            {"usageMetadata": {"promptTokenCount": 3}},
        ),
    ),
    "converse": (
        "bedrock",
        [
            aws_frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "hello"}}),
            aws_frame("messageStop", {"stopReason": "end_turn"}),
            aws_frame("metadata", {"usage": {"inputTokens": 3}}),
        ],
    ),
}  # fmt: skip


def opened(wire: str) -> AnswerStream:
    return AnswerStream(import_module(f"turnwise.providers.wire.{wire}").Assembly(), CONTEXT, aws=wire == "bedrock")


@pytest.mark.parametrize("name", WHOLE)
def test_a_stream_is_finished_with_its_last_piece(name: str) -> None:
    """Not at the reason to finish, after which counts may come, nor only when the connection closes."""
    wire, pieces = WHOLE[name]
    stream = opened(wire)
    for each in pieces[:-1]:
        stream.feed(each)
        assert not stream.finished
    stream.feed(pieces[-1])
    assert stream.finished
    assert import_module(f"turnwise.providers.wire.{wire}").decode(stream.result()).text == "hello"


@pytest.mark.parametrize("name", WHOLE)
def test_what_follows_a_finished_stream_is_passed_over(name: str) -> None:
    """Whether it comes with the last piece or later, it changes nothing."""
    wire, pieces = WHOLE[name]
    expected = opened(wire)
    expected.feed(b"".join(pieces))
    junk = aws_frame("metadata", {"usage": None}) if wire == "bedrock" else sse({"error": "late"})[0]
    together, apart = opened(wire), opened(wire)
    together.feed(b"".join(pieces) + junk)
    apart.feed(b"".join(pieces))
    apart.feed(b"data: half")
    assert together.result() == apart.result() == expected.result()


def test_gemini_is_not_finished_without_counts() -> None:
    """Then only the end of the stream ends it; the answer is whole all the same."""
    stream = opened("gemini")
    stream.feed(sse({"candidates": [{"content": {"parts": [{"text": "hello"}]}, "finishReason": "STOP"}]})[0])
    assert not stream.finished
    assert stream.result()["candidates"][0]["finishReason"] == "STOP"


def test_an_answer_that_is_not_streamed_has_no_early_end() -> None:
    """JSON in one piece is read to its end."""
    stream = opened("openai")
    stream.feed(b'{"choices": [{"message": {"content": "hello"}}]}')
    assert not stream.finished
    assert openai.decode(stream.result()).text == "hello"


def test_a_stream_that_breaks_off_is_no_answer() -> None:
    """Without a last piece it is a broken connection."""
    stream = opened("anthropic")
    stream.feed(WHOLE["messages"][1][0])
    with pytest.raises(ProviderConnectionError):
        stream.result()


FAILURES: list[tuple[dict[str, Any], type[ProviderError], bool]] = [
    ({"code": "invalid_prompt", "message": "no"}, ContentFilterError, False),
    ({"code": "rate_limit_exceeded", "message": "no"}, RateLimitError, True),
    ({"code": "server_error", "message": "no"}, OverloadedError, True),
    ({"code": "image_too_small", "message": "no"}, BadRequestError, False),
]


@pytest.mark.parametrize(("error", "kind", "passes"), FAILURES)
def test_a_response_that_failed_is_the_error_that_it_names(
    error: dict[str, Any], kind: type[ProviderError], passes: bool
) -> None:
    """In a stream and whole, its code says which; some of them pass, and no secret is repeated."""
    response = {"status": "failed", "error": {**error, "message": f"no, {SECRET}"}}
    stream = opened("responses")
    with pytest.raises(kind) as caught:
        stream.feed(sse({"type": "response.failed", "response": response})[0])
    assert (type(caught.value), caught.value.retryable) == (kind, passes)
    assert SECRET not in str(caught.value)
    with pytest.raises(kind) as whole:
        responses.decode(response)
    assert (type(whole.value), whole.value.retryable) == (kind, passes)


def test_a_response_that_failed_without_a_reason_is_an_error() -> None:
    """The stream is finished by it; reading it fails, and may be tried again."""
    body, _ = read_stream(responses, sse({"type": "response.failed", "response": {"status": "failed"}})[0], step=9)
    with pytest.raises(OverloadedError, match="`failed`"):
        responses.decode(body)


CHOICES = [
    ({"code": 502, "message": f"host down {SECRET} {'x' * 900}"}, OverloadedError, True),
    ({"code": 429, "message": "slow down"}, RateLimitError, True),
    ({"code": "content_filter", "message": "no"}, ContentFilterError, False),
]


@pytest.mark.parametrize(("error", "kind", "passes"), CHOICES)
def test_a_choice_that_holds_an_error_is_none(error: dict[str, Any], kind: type[ProviderError], passes: bool) -> None:
    """What a gateway reports in the place of an answer is the error that its code names, and is quoted in short."""
    choice = {"index": 0, "message": {"content": "half"}, "finish_reason": "error", "error": error}
    with pytest.raises(kind) as whole:
        openai.decode({"choices": [choice]})
    stream = opened("openai")
    stream.feed(sse(CHUNK)[0])
    with pytest.raises(kind) as caught:
        stream.feed(sse({"choices": [{"index": 0, "delta": {"content": ""}, **choice}]})[0])
    assert SECRET not in str(caught.value)
    for each in (whole.value, caught.value):
        assert each.retryable is passes
        assert len(str(each)) < 600


def test_a_choice_that_ended_with_an_error_is_none_either() -> None:
    """Also where the server does not say which."""
    with pytest.raises(OverloadedError, match="ended with an error"):
        openai.decode({"choices": [{"message": {"content": "half"}, "finish_reason": "error"}]})
