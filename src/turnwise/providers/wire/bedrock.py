"""Amazon Bedrock's Converse API."""

from __future__ import annotations

import re
from typing import Any

from ...errors import ContentFilterError, ProtocolError
from ..base import FinishReason, Usage
from .base import (
    Answer,
    Encoded,
    WireRequest,
    checked_settings,
    count,
    fields_of,
    index_of,
    mapping,
    merged,
    numbered,
    objects,
    present,
    text_of,
    total,
)
from .checks import COMMON_IMAGES, OPENAI_NAMES, called_names, declared_names, image_types
from .passes import (
    images_only_in,
    known_roles,
    merged_turns,
    needs_user_turn,
    no_empty_turns,
    no_names,
    no_trailing_space,
    system_apart,
)
from .tools import (
    arguments_object,
    arguments_of,
    arguments_text,
    call_ids_like,
    no_call_extras,
    paired_tools,
    undeclared,
)
from .turns import Notes, Turn, run_passes

__all__ = ["ANSWER_TOOL", "API", "SETTINGS", "Assembly", "decode", "encode"]

API = "the Converse API"
SETTINGS = frozenset({"temperature", "top_p", "max_output_tokens", "stop", "reasoning_effort"})
# The tool whose arguments are the answer, where an answer must follow a schema.
ANSWER_TOOL = "turnwise_answer"

_PASSES = (
    known_roles,
    paired_tools,
    call_ids_like(re.compile(r"[a-zA-Z0-9_.:-]{1,64}")),
    called_names(OPENAI_NAMES),
    images_only_in("user", "tool"),
    image_types(*COMMON_IMAGES),
    no_names,
    no_call_extras,
    no_empty_turns,
)
_FINISH: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
}


def encode(request: WireRequest) -> Encoded:
    """The body of `POST /model/MODEL/converse`; the model is part of the address."""
    notes = Notes(API, request.images)
    system, turns = system_apart(run_passes(_PASSES, request.messages, notes), notes, "system")
    turns = no_trailing_space(turns, notes)
    needs_user_turn(turns, notes, first=True)
    blocks = [("assistant" if turn.role == "assistant" else "user", turn.index, _blocks(turn, notes)) for turn in turns]
    contents = merged_turns(blocks, notes, f"{API} demands that user and assistant take turns")
    body: dict[str, Any] = {"messages": [{"role": role, "content": content} for role, content in contents]}
    if system is not None:
        body["system"] = [{"text": system}]
    settings = checked_settings(request, API, SETTINGS)
    config = present(
        maxTokens=settings.max_output_tokens,
        temperature=settings.temperature,
        topP=settings.top_p,
        stopSequences=list(settings.stop) if settings.stop else None,
    )
    if config:
        body["inferenceConfig"] = config
    if settings.reasoning_effort is not None:
        body["outputConfig"] = {"effort": settings.reasoning_effort}
    if tools := _tools(request, turns, notes):
        body["toolConfig"] = tools
    return Encoded(merged(body, request.extra_body), notes.in_order)


def _tools(request: WireRequest, turns: list[Turn], notes: Notes) -> dict[str, Any]:
    declared_names(request.tools, OPENAI_NAMES, notes)
    specs = [(tool.name, tool.description, tool.parameters) for tool in request.tools]
    declared = {tool.name for tool in request.tools}
    specs += [(name, None, {"type": "object"}) for name in undeclared(turns, declared, notes)]
    config: dict[str, Any] = {}
    if request.output_schema is not None:
        specs.append((ANSWER_TOOL, "Gives the answer.", request.output_schema))
        config["toolChoice"] = {"tool": {"name": ANSWER_TOOL}}
        what = f"the schema of the answer became the tool `{ANSWER_TOOL}`, which the model must call"
        notes.add("schema-as-tool", None, what, f"{API} has schemas for some models only, tools for most")
    if specs:
        config["tools"] = [
            {"toolSpec": {"name": name, **({"description": text} if text else {}), "inputSchema": {"json": schema}}}
            for name, text, schema in specs
        ]
    return config


def _blocks(turn: Turn, notes: Notes) -> list[dict[str, Any]]:
    if turn.answers is not None:
        content = [_block(part) for part in turn.parts]
        return [{"toolResult": {"toolUseId": turn.answers.id, "content": content}}]
    blocks = [_block(part) for part in turn.parts]
    for call in turn.calls:
        arguments = arguments_object(call, turn, notes)
        blocks.append({"toolUse": {"toolUseId": call.id, "name": call.name, "input": arguments}})
    return blocks


def _block(part: dict[str, Any]) -> dict[str, Any]:
    if part["type"] == "text":
        return {"text": part["text"]}
    form = part["media_type"].removeprefix("image/")
    return {"image": {"format": form, "source": {"bytes": part["data"]}}}


def decode(body: Any) -> Answer:
    """The message of an answer."""
    answer = mapping(body, API, "the answer")
    message = fields_of(answer.get("output")).get("message")
    if not isinstance(message, dict):
        keys = ", ".join(f"`{key}`" for key in list(answer)[:8]) or "nothing"
        raise ProtocolError(f"{API}: the answer holds no `output.message`; it has {keys}", hint="is `base_url` right?")
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[dict[str, Any]] = []
    structured = False
    for block in objects(message.get("content")):
        if isinstance(text := block.get("text"), str):
            texts.append(text)
        elif isinstance(use := block.get("toolUse"), dict):
            call = _call(use)
            if call["function"]["name"] == ANSWER_TOOL:
                structured = True
                texts = [call["function"]["arguments"]]
            else:
                calls.append(call)
        elif isinstance(thought := block.get("reasoningContent"), dict):
            thoughts.append(text_of(fields_of(thought.get("reasoningText")).get("text")) or "")
    stop = text_of(answer.get("stopReason"))
    finish = "stop" if structured and stop == "tool_use" and not calls else _FINISH.get(stop or "end_turn", "other")
    text = "".join(texts)
    if finish == "content_filter" and not text and not calls:
        raise ContentFilterError(f"{API} withheld the answer: {stop}", hint="see the guardrail's settings")
    return Answer(
        text=text,
        tool_calls=numbered(calls),
        finish_reason=finish,
        raw_finish_reason=stop,
        reasoning="\n\n".join(each for each in thoughts if each) or None,
        usage=_usage(answer.get("usage")),
    )


def _call(use: dict[str, Any]) -> dict[str, Any]:
    arguments = arguments_text(use.get("input"))
    function = {"name": text_of(use.get("name")) or "", "arguments": arguments}
    return {"id": text_of(use.get("toolUseId")), "type": "function", "function": function}


def _usage(usage: Any) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    read, written = count(usage.get("cacheReadInputTokens")), count(usage.get("cacheWriteInputTokens"))
    return Usage(
        input_tokens=total(count(usage.get("inputTokens")), read, written),
        output_tokens=count(usage.get("outputTokens")),
        cached_input_tokens=read,
        cache_write_tokens=written,
    )


class Assembly:
    """The events of a streamed answer, each as `{kind: payload}`."""

    def __init__(self) -> None:
        self.begun = False
        self.done = False
        self.finished = False
        self._answer: dict[str, Any] = {}
        self._texts: dict[int, list[str]] = {}
        self._thoughts: dict[int, list[str]] = {}
        self._uses: dict[int, dict[str, Any]] = {}

    def add(self, event: Any) -> None:
        """Take an event."""
        for kind, payload in mapping(event, API, "an event of the stream").items():
            data = mapping(payload, API, f"the event `{kind}`")
            index = index_of(data.get("contentBlockIndex"))
            if kind == "contentBlockStart":
                use = fields_of(data.get("start")).get("toolUse")
                if isinstance(use, dict):
                    self._uses[index] = {**use, "input": []}
            elif kind == "contentBlockDelta":
                self._delta(index, mapping(data.get("delta"), API, "a piece of the stream"))
            elif kind == "messageStop":
                self._answer["stopReason"] = data.get("stopReason")
                self.done = True
            elif kind == "metadata":
                self._answer["usage"] = data.get("usage")
                self.finished = self.done

    def _delta(self, index: int, delta: dict[str, Any]) -> None:
        if isinstance(text := delta.get("text"), str):
            self._texts.setdefault(index, []).append(text)
        elif isinstance(thought := delta.get("reasoningContent"), dict):
            self._thoughts.setdefault(index, []).append(text_of(thought.get("text")) or "")
        elif isinstance(use := delta.get("toolUse"), dict):
            self._uses.setdefault(index, {"input": []})["input"].append(text_of(use.get("input")) or "")
        self.begun = True

    def result(self) -> dict[str, Any]:
        """The answer as if it had come in one piece."""
        blocks: dict[int, dict[str, Any]] = {index: {"text": "".join(each)} for index, each in self._texts.items()}
        for index, each in self._thoughts.items():
            blocks[index] = {"reasoningContent": {"reasoningText": {"text": "".join(each)}}}
        for index, use in self._uses.items():
            blocks[index] = {"toolUse": {**use, "input": arguments_of("".join(use["input"]))}}
        content = [block for _, block in sorted(blocks.items())]
        return {**self._answer, "output": {"message": {"role": "assistant", "content": content}}}
