"""Answers of the Converse API: we read in them what botocore reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from answer_streams import aws_frame, read_stream
from sdk_recorder import Recorder, recorder
from turnwise.errors import ContentFilterError, ProtocolError, ProviderConnectionError, RateLimitError
from turnwise.providers.base import Usage
from turnwise.providers.wire import bedrock
from turnwise.providers.wire.base import Answer

USAGE = {
    "inputTokens": 10, "outputTokens": 9, "totalTokens": 29, "cacheReadInputTokens": 4, "cacheWriteInputTokens": 6,
}  # fmt: skip
THINKING = {"reasoningContent": {"reasoningText": {"text": "six times seven", "signature": "sig"}}}


def call(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": arguments}}


# The blocks, the API's reason to stop, and ours.
ANSWERS: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "text": ([{"text": "Grüße 🙂\n"}, {"text": "zwei"}], "end_turn", "stop"),
    "thinking": ([THINKING, {"text": "42"}], "end_turn", "stop"),
    "calls": ([call("c1", "find", {"q": "Zürich"}), call("c2", "get", {})], "tool_use", "tool_calls"),
    "call and text": ([{"text": "let me see"}, call("c1", "find", {"n": [1, 2]})], "tool_use", "tool_calls"),
    "cut": ([{"text": "half"}], "max_tokens", "length"),
    "guarded": ([{"text": "Sorry."}], "guardrail_intervened", "content_filter"),
    "odd": ([{"text": "x"}], "malformed_tool_use", "other"),
}


@pytest.fixture(scope="module")
def server() -> Iterator[Recorder]:
    """A recorder."""
    with recorder() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Recorder) -> Iterator[Any]:
    """Amazon's own client."""
    from botocore.config import Config
    from botocore.session import Session

    session = Session()
    session.set_credentials("id", "secret")
    config = Config(retries={"max_attempts": 0}, proxies={})
    running = session.create_client("bedrock-runtime", region_name="us-east-1", endpoint_url=server.url, config=config)
    yield running
    running.close()


def answer_of(blocks: list[dict[str, Any]], stop: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": blocks}
    return {"output": {"message": message}, "stopReason": stop, "usage": USAGE, "metrics": {"latencyMs": 1}}


def frames(blocks: list[dict[str, Any]], stop: str) -> bytes:
    """The same answer as the API streams it."""
    events: list[tuple[str, dict[str, Any]]] = [("messageStart", {"role": "assistant"})]
    for index, block in enumerate(blocks):
        place = {"contentBlockIndex": index}
        if use := block.get("toolUse"):
            start = {"toolUse": {"toolUseId": use["toolUseId"], "name": use["name"]}}
            events.append(("contentBlockStart", {"start": start, **place}))
        events += [("contentBlockDelta", {"delta": delta, **place}) for delta in deltas(block)]
        events.append(("contentBlockStop", place))
    events += [("messageStop", {"stopReason": stop}), ("metadata", {"usage": USAGE, "metrics": {"latencyMs": 1}})]
    return b"".join(aws_frame(kind, payload) for kind, payload in events)


def deltas(block: dict[str, Any]) -> list[dict[str, Any]]:
    if "text" in block:
        return [{"text": each} for each in block["text"]]
    if "reasoningContent" in block:
        thoughts = block["reasoningContent"]["reasoningText"]["text"]
        pieces = [{"reasoningContent": {"text": each}} for each in thoughts]
        return [*pieces, {"reasoningContent": {"signature": "sig"}}]
    arguments = json.dumps(block["toolUse"]["input"])
    return [{"toolUse": {"input": each}} for each in (arguments[:3], arguments[3:])]


def put_together(stream: Any) -> dict[str, Any]:
    """The events that botocore reads, as one answer: by index, texts joined."""
    blocks: dict[int, dict[str, Any]] = {}
    ended: dict[str, Any] = {}
    for event in stream:
        ((kind, data),) = event.items()
        if kind == "contentBlockStart":
            blocks[data["contentBlockIndex"]] = {"toolUse": {**data["start"]["toolUse"], "input": ""}}
        elif kind == "contentBlockDelta":
            place, delta = data["contentBlockIndex"], data["delta"]
            if "text" in delta:
                blocks.setdefault(place, {"text": ""})["text"] += delta["text"]
            elif "toolUse" in delta:
                blocks[place]["toolUse"]["input"] += delta["toolUse"]["input"]
            else:
                thought = blocks.setdefault(place, {"reasoningContent": {"reasoningText": {"text": ""}}})
                thought["reasoningContent"]["reasoningText"]["text"] += delta["reasoningContent"].get("text", "")
        else:
            ended |= data
    for block in blocks.values():
        if use := block.get("toolUse"):
            use["input"] = json.loads(use["input"])
    return {**ended, "output": {"message": {"content": [blocks[each] for each in sorted(blocks)]}}}


def check(answer: Answer, theirs: dict[str, Any], finish: str) -> None:
    """Our answer says what botocore's response says."""
    blocks = theirs["output"]["message"]["content"]
    assert answer.text == "".join(block.get("text", "") for block in blocks)
    thoughts = [block["reasoningContent"]["reasoningText"]["text"] for block in blocks if "reasoningContent" in block]
    assert answer.reasoning == ("\n\n".join(thoughts) or None)
    uses = [block["toolUse"] for block in blocks if "toolUse" in block]
    assert [
        (each["id"], each["function"]["name"], json.loads(each["function"]["arguments"])) for each in answer.tool_calls
    ] == [(use["toolUseId"], use["name"], use["input"]) for use in uses]
    assert (answer.raw_finish_reason, answer.finish_reason) == (theirs["stopReason"], finish)
    usage = theirs["usage"]
    assert answer.usage == Usage(
        input_tokens=usage["inputTokens"] + usage["cacheReadInputTokens"] + usage["cacheWriteInputTokens"],
        output_tokens=usage["outputTokens"],
        cached_input_tokens=usage["cacheReadInputTokens"],
        cache_write_tokens=usage["cacheWriteInputTokens"],
    )
    assert answer.usage.input_tokens == usage["totalTokens"] - usage["outputTokens"]


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_reads_as_in_the_sdk(name: str, client: Any, server: Recorder) -> None:
    """Text, reasoning, calls, reason to stop and counts of a whole answer are those of botocore."""
    blocks, stop, finish = ANSWERS[name]
    body = answer_of(blocks, stop)
    server.answer_json(body)
    theirs = client.converse(modelId="m", messages=[{"role": "user", "content": [{"text": "q"}]}])
    check(bedrock.decode(body), theirs, finish)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_streamed_answer_reads_as_in_the_sdk(name: str, client: Any, server: Recorder) -> None:
    """In frames, cut anywhere, the same answer comes together as from botocore's events."""
    blocks, stop, finish = ANSWERS[name]
    server.answer, server.content_type = frames(blocks, stop), "application/vnd.amazon.eventstream"
    body, first_at = read_stream(bedrock, server.answer, step=19, aws=True)
    theirs = client.converse_stream(modelId="m", messages=[{"role": "user", "content": [{"text": "q"}]}])
    check(bedrock.decode(body), put_together(theirs["stream"]), finish)
    theirs["stream"].close()
    assert bedrock.decode(body) == bedrock.decode(answer_of(blocks, stop))
    assert first_at is not None


def test_the_arguments_of_the_answer_tool_are_the_answer() -> None:
    """Where a schema became a tool, its call is the text, and the answer ended as it should."""
    answer = bedrock.decode(answer_of([{"text": "so"}, call("c1", "turnwise_answer", {"n": 1})], "tool_use"))
    assert (json.loads(answer.text), answer.tool_calls, answer.finish_reason) == ({"n": 1}, [], "stop")


def test_an_exception_in_the_stream_is_raised() -> None:
    """Amazon's own name for the failure decides on the kind of error; the message is kept."""
    data = aws_frame("messageStart", {"role": "assistant"})
    data += aws_frame("throttlingException", {"message": "slow down"}, exception=True)
    with pytest.raises(RateLimitError, match="slow down") as caught:
        read_stream(bedrock, data, step=1000, aws=True)
    assert caught.value.retryable


def test_a_stream_that_breaks_between_frames_is_not_whole() -> None:
    """Without the event that ends a message, what came is no answer."""
    data = aws_frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "half"}})
    with pytest.raises(ProviderConnectionError, match="before the answer was whole"):
        read_stream(bedrock, data, step=1000, aws=True)


def test_a_filter_that_withholds_everything_is_an_error() -> None:
    """Without any text, a filtered answer is none."""
    with pytest.raises(ContentFilterError, match="content_filtered"):
        bedrock.decode(answer_of([], "content_filtered"))


@pytest.mark.parametrize("body", [None, [], "x", {}, {"output": {}}, {"output": {"message": 1}}])
def test_what_is_no_answer_is_an_error(body: Any) -> None:
    """An answer of another form is a protocol error, never a traceback or an empty text."""
    with pytest.raises(ProtocolError):
        bedrock.decode(body)
