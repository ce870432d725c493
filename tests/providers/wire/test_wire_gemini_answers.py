"""Answers of the Gemini API: we read in them what Google's SDK reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from answer_streams import read_stream
from sdk_recorder import Recorder, recorder
from turnwise.errors import ContentFilterError, ProtocolError, ProviderConnectionError
from turnwise.providers.base import Usage
from turnwise.providers.wire import gemini
from turnwise.providers.wire.base import Answer

USAGE = {
    "promptTokenCount": 20, "candidatesTokenCount": 4, "totalTokenCount": 30, "cachedContentTokenCount": 3,
    "thoughtsTokenCount": 5, "toolUsePromptTokenCount": 1,
}  # fmt: skip


def text(value: str, **fields: Any) -> dict[str, Any]:
    return {"text": value, **fields}


def call(name: str, args: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": args, **fields}}


# The parts, the API's reason to finish, and ours.
ANSWERS: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "text": ([text("Grüße 🙂\n"), text("zwei")], "STOP", "stop"),
    "thoughts": ([text("six times ", thought=True), text("seven", thought=True), text("42")], "STOP", "stop"),
    "calls": ([call("find", {"q": "Zürich"}, id="c1"), call("get", {}, id="c2")], "STOP", "tool_calls"),
    "call and text": ([text("let me see"), call("find", {"n": [1, 2]}, id="c1")], "STOP", "tool_calls"),
    "cut": ([text("half")], "MAX_TOKENS", "length"),
    "filtered": ([text("half")], "SAFETY", "content_filter"),
    "odd": ([text("x")], "MALFORMED_FUNCTION_CALL", "other"),
}


@pytest.fixture(scope="module")
def server() -> Iterator[Recorder]:
    """A recorder."""
    with recorder() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Recorder) -> Iterator[Any]:
    """Google's own client."""
    from google import genai

    with genai.Client(api_key="key", http_options=genai.types.HttpOptions(base_url=server.url)) as running:
        yield running


def answer_of(parts: list[dict[str, Any]], finish: str | None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "usageMetadata": USAGE, "modelVersion": "gemini-x", "responseId": "r1"}


def pieces(parts: list[dict[str, Any]], finish: str) -> list[dict[str, Any]]:
    """The same answer in pieces, one part each, with counts that grow; the last has the reason alone."""
    early = {**USAGE, "candidatesTokenCount": 1}
    return [*({**answer_of([part], None), "usageMetadata": early} for part in parts), answer_of([], finish)]


def check(answer: Answer, theirs: list[Any], finish: str) -> None:
    """Our answer says what the SDK's response, or all pieces of one, say."""
    parts = [part for each in theirs for part in each.candidates[0].content.parts or ()]
    assert answer.text == "".join(part.text for part in parts if part.text and not part.thought)
    assert answer.reasoning == ("".join(part.text for part in parts if part.text and part.thought) or None)
    assert [
        (each["id"], each["function"]["name"], json.loads(each["function"]["arguments"])) for each in answer.tool_calls
    ] == [
        (part.function_call.id, part.function_call.name, part.function_call.args or {})
        for part in parts
        if part.function_call
    ]
    last = theirs[-1]
    assert (answer.raw_finish_reason, answer.finish_reason) == (last.candidates[0].finish_reason.value, finish)
    assert (answer.model, answer.response_id) == (last.model_version, last.response_id)
    usage = last.usage_metadata
    assert answer.usage == Usage(
        input_tokens=usage.prompt_token_count + usage.tool_use_prompt_token_count,
        output_tokens=usage.candidates_token_count + usage.thoughts_token_count,
        cached_input_tokens=usage.cached_content_token_count,
        reasoning_tokens=usage.thoughts_token_count,
    )


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_reads_as_in_the_sdk(name: str, client: Any, server: Recorder) -> None:
    """Text, thoughts, calls, reason to finish and counts of a whole answer are those of the SDK."""
    parts, reason, finish = ANSWERS[name]
    body = answer_of(parts, reason)
    server.answer_json(body)
    check(gemini.decode(body), [client.models.generate_content(model="m", contents="q")], finish)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_streamed_answer_reads_as_the_whole_one(name: str, client: Any, server: Recorder) -> None:
    """In pieces, cut anywhere, the same answer comes together; the last counts are the right ones."""
    parts, reason, finish = ANSWERS[name]
    data = server.answer_events(pieces(parts, reason))
    body, first_at = read_stream(gemini, data, step=17)
    answer = gemini.decode(body)
    check(answer, list(client.models.generate_content_stream(model="m", contents="q")), finish)
    assert answer == gemini.decode(answer_of(parts, reason))
    assert first_at is not None


def test_calls_without_ids_get_one_each() -> None:
    """Older models name no ids; the next turn needs them to pair results with calls."""
    answer = gemini.decode(answer_of([call("f", {}), call("f", {})], "STOP"))
    assert [each["id"] for each in answer.tool_calls] == ["call_1", "call_2"]


def test_a_refused_conversation_is_an_error() -> None:
    """Without a candidate, the reason of the refusal is in the error; whole or streamed."""
    body = {"promptFeedback": {"blockReason": "SAFETY"}}
    with pytest.raises(ContentFilterError, match="SAFETY"):
        gemini.decode(body)
    streamed, _ = read_stream(gemini, f"data: {json.dumps(body)}\n\n".encode(), step=9)
    with pytest.raises(ContentFilterError, match="SAFETY"):
        gemini.decode(streamed)


def test_ratings_of_the_prompt_do_not_end_a_stream() -> None:
    """Feedback that blocks nothing comes with the first piece: a stream that breaks after it is not whole."""
    piece = {**answer_of([text("half")], None), "promptFeedback": {"safetyRatings": []}}
    with pytest.raises(ProviderConnectionError, match="before the answer was whole"):
        read_stream(gemini, f"data: {json.dumps(piece)}\n\n".encode(), step=50)


def test_a_filter_that_withholds_everything_is_an_error() -> None:
    """Without any text, a filtered answer is none."""
    with pytest.raises(ContentFilterError, match="RECITATION"):
        gemini.decode(answer_of([], "RECITATION"))


@pytest.mark.parametrize("body", [None, [], "x", {}, {"candidates": []}, {"candidates": [1]}])
def test_what_is_no_answer_is_an_error(body: Any) -> None:
    """An answer of another form is a protocol error, never a traceback or an empty text."""
    with pytest.raises(ProtocolError):
        gemini.decode(body)
