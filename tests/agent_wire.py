"""The wire formats that agent programs speak to a model: reading their requests, and writing a model's answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["CACHED", "INPUT", "OUTPUT", "REASONING", "Asked", "Call", "asked", "events", "format_of", "whole"]

Json = dict[str, Any]

INPUT, CACHED, OUTPUT, REASONING = 120, 20, 7, 3
"""Tokens of every answer: what went in, how much of it from a cache; what came out, how much of it was thought."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of the tools that the agent offers."""

    name: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request says, whatever its format: `tools` are parameter schemas by name, `results` what tools gave."""

    texts: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    tools: dict[str, Json] = field(default_factory=dict)
    model: str = ""
    streamed: bool = False


def format_of(path: str) -> str | None:
    """`chat`, `responses`, `messages` or `gemini`, by the path of the request.

    >>> format_of("/v1/messages?beta=true"), format_of("/v1beta/models/m:streamGenerateContent?alt=sse")
    ('messages', 'gemini')
    """
    plain = path.partition("?")[0].lower()
    ends = {"/chat/completions": "chat", "/responses": "responses", "/messages": "messages"}
    ends |= {":generatecontent": "gemini", ":streamgeneratecontent": "gemini"}
    return next((name for end, name in ends.items() if plain.endswith(end)), None)


def asked(format_name: str, path: str, body: Json) -> Asked:
    """Read a request: what the user said, what tools there are, and what they gave so far."""
    if format_name == "gemini":
        model, _, verb = path.partition("?")[0].rpartition("/")[2].partition(":")
        return Asked(*_gemini_parts(body), _gemini_tools(body), model, verb.startswith("stream"))
    readers = {"chat": _chat_parts, "responses": _responses_parts, "messages": _messages_parts}
    texts, results = readers[format_name](body)
    return Asked(texts, results, _tools(body), str(body.get("model")), body.get("stream") is True)


def _text(content: object) -> str:
    """The text of a content that is a string, or a list of parts of which some have one."""
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if isinstance(part.get("text"), str))
    return content if isinstance(content, str) else ""


def _chat_parts(body: Json) -> tuple[list[str], list[str]]:
    said = [(message["role"], _text(message.get("content"))) for message in body["messages"]]
    return [text for role, text in said if role == "user"], [text for role, text in said if role == "tool"]


def _responses_parts(body: Json) -> tuple[list[str], list[str]]:
    items = body["input"]
    if isinstance(items, str):
        return [items], []
    results = [_text(item["output"]) for item in items if item.get("type") == "function_call_output"]
    return [_text(item["content"]) for item in items if item.get("role") == "user"], results


def _messages_parts(body: Json) -> tuple[list[str], list[str]]:
    texts: list[str] = []
    results: list[str] = []
    for content in [message["content"] for message in body["messages"] if message["role"] == "user"]:
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        texts += [block["text"] for block in blocks if block["type"] == "text"]
        results += [_text(block.get("content")) for block in blocks if block["type"] == "tool_result"]
    return texts, results


def _gemini_parts(body: Json) -> tuple[list[str], list[str]]:
    parts = [part for content in body["contents"] if content.get("role") != "model" for part in content["parts"]]
    answers = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
    results = [str(answer["output"]) if "output" in answer else json.dumps(answer) for answer in answers]
    return [part["text"] for part in parts if "text" in part], results


def _tools(body: Json) -> dict[str, Json]:
    """The tools of the three formats that keep them in one list: beside each other, or below `function`."""
    found = [tool.get("function", tool) for tool in body.get("tools") or []]
    return {tool["name"]: tool.get("parameters") or tool.get("input_schema") or {} for tool in found if "name" in tool}


def _gemini_tools(body: Json) -> dict[str, Json]:
    declared = [one for tool in body.get("tools") or [] for one in tool.get("functionDeclarations", [])]
    return {one["name"]: one.get("parametersJsonSchema") or one.get("parameters") or {} for one in declared}


def events(format_name: str, reply: str | Call, model: str) -> Iterator[tuple[str, Json | str]]:
    """The events of a streamed answer, each with its name (empty where the format names none)."""
    if format_name == "responses":
        yield from ((event["type"], event) for event in _numbered(_responses_events(reply, model)))
    elif format_name == "messages":
        yield from ((event["type"], event) for event in _messages_events(reply, model))
    elif format_name == "chat":
        yield from (("", event) for event in _chat_events(reply, model))
        yield "", "[DONE]"
    else:
        yield "", whole("gemini", reply, model)


def whole(format_name: str, reply: str | Call, model: str) -> Json:
    """The same answer in one piece."""
    writers = {"chat": _chat_whole, "responses": _responses_whole, "messages": _messages_whole, "gemini": _gemini_whole}
    return writers[format_name](reply, model)


def _gemini_whole(reply: str | Call, model: str) -> Json:
    part = (
        {"text": reply} if isinstance(reply, str) else {"functionCall": {"name": reply.name, "args": reply.arguments}}
    )
    usage = {"promptTokenCount": INPUT, "cachedContentTokenCount": CACHED, "thoughtsTokenCount": REASONING}
    usage |= {"candidatesTokenCount": OUTPUT - REASONING, "totalTokenCount": INPUT + OUTPUT}
    candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model}


CHAT_USAGE = {
    "prompt_tokens": INPUT,
    "completion_tokens": OUTPUT,
    "total_tokens": INPUT + OUTPUT,
    "prompt_tokens_details": {"cached_tokens": CACHED},
    "completion_tokens_details": {"reasoning_tokens": REASONING},
}


def _chat_message(reply: str | Call) -> tuple[Json, str]:
    if isinstance(reply, str):
        return {"role": "assistant", "content": reply}, "stop"
    function = {"name": reply.name, "arguments": json.dumps(reply.arguments)}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"


def _chat_whole(reply: str | Call, model: str) -> Json:
    message, reason = _chat_message(reply)
    choice = {"index": 0, "message": message, "finish_reason": reason}
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model}
    return {**head, "choices": [choice], "usage": CHAT_USAGE}


def _chat_events(reply: str | Call, model: str) -> Iterator[Json]:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}
    message, reason = _chat_message(reply)
    yield {**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    yield {**head, "choices": [], "usage": CHAT_USAGE}


def _responses_item(reply: str | Call) -> Json:
    if isinstance(reply, str):
        content = [{"type": "output_text", "text": reply, "annotations": []}]
        return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}
    call = {"call_id": "call_1", "name": reply.name, "arguments": json.dumps(reply.arguments)}
    return {"id": "fc_1", "type": "function_call", "status": "completed", **call}


def _responses_whole(reply: str | Call, model: str) -> Json:
    usage = {"input_tokens": INPUT, "input_tokens_details": {"cached_tokens": CACHED}, "output_tokens": OUTPUT}
    usage |= {"output_tokens_details": {"reasoning_tokens": REASONING}, "total_tokens": INPUT + OUTPUT}
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": model, "status": "completed"}
    return {**head, "output": [_responses_item(reply)], "usage": usage}


def _responses_events(reply: str | Call, model: str) -> Iterator[Json]:
    done, item = _responses_whole(reply, model), _responses_item(reply)
    place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    yield {"type": "response.created", "response": {**done, "status": "in_progress", "output": [], "usage": None}}
    empty = {**item, "status": "in_progress"} | ({"content": []} if isinstance(reply, str) else {})
    yield {"type": "response.output_item.added", "output_index": 0, "item": empty}
    if isinstance(reply, str):
        part = {"type": "output_text", "text": "", "annotations": []}
        yield {"type": "response.content_part.added", **place, "part": part}
        yield {"type": "response.output_text.delta", **place, "delta": reply}
        yield {"type": "response.output_text.done", **place, "text": reply}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": done}


def _numbered(found: Iterator[Json]) -> Iterator[Json]:
    return ({**event, "sequence_number": number} for number, event in enumerate(found))


def _messages_block(reply: str | Call) -> Json:
    if isinstance(reply, str):
        return {"type": "text", "text": reply}
    return {"type": "tool_use", "id": "toolu_1", "name": reply.name, "input": reply.arguments}


def _messages_whole(reply: str | Call, model: str) -> Json:
    usage = {"input_tokens": INPUT - CACHED, "cache_creation_input_tokens": 0, "cache_read_input_tokens": CACHED}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [_messages_block(reply)]}
    reason = "end_turn" if isinstance(reply, str) else "tool_use"
    return {**head, "stop_reason": reason, "stop_sequence": None, "usage": {**usage, "output_tokens": OUTPUT}}


def _messages_events(reply: str | Call, model: str) -> Iterator[Json]:
    done, block = _messages_whole(reply, model), _messages_block(reply)
    started = {**done, "content": [], "stop_reason": None, "usage": {**done["usage"], "output_tokens": 1}}
    yield {"type": "message_start", "message": started}
    empty: Mapping[str, object] = {"text": ""} if isinstance(reply, str) else {"input": {}}
    yield {"type": "content_block_start", "index": 0, "content_block": {**block, **empty}}
    for delta in _messages_deltas(reply):
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    ended = {"stop_reason": done["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": OUTPUT}}
    yield {"type": "message_stop"}


def _messages_deltas(reply: str | Call) -> Sequence[Json]:
    if isinstance(reply, str):
        return [{"type": "text_delta", "text": reply}]
    return [{"type": "input_json_delta", "partial_json": json.dumps(reply.arguments)}]
