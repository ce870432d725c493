"""Google's Gemini API."""

from __future__ import annotations

import re
from typing import Any

from ...errors import ContentFilterError, PromptError, ProtocolError
from ..base import FinishReason, Settings, Usage
from .base import (
    Answer,
    Encoded,
    WireRequest,
    checked_settings,
    count,
    fields_of,
    listed,
    mapping,
    merged,
    objects,
    present,
    text_of,
    total,
)
from .checks import NameRule, called_names, declared_names, image_types
from .passes import (
    images_only_in,
    known_roles,
    merged_turns,
    needs_user_turn,
    no_empty_turns,
    no_names,
    system_apart,
    texts_joined,
)
from .tools import arguments_object, arguments_text, no_call_extras, paired_tools
from .turns import Notes, Turn, run_passes

__all__ = ["API", "SETTINGS", "Assembly", "decode", "encode"]

API = "the Gemini API"
SETTINGS = frozenset(
    {"temperature", "top_p", "max_output_tokens", "seed", "stop", "reasoning_effort", "thinking_budget"}
)

_NAMES = NameRule(
    re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"),
    "up to 128 letters, digits, `_`, `.`, `:` and `-` that begin with a letter or `_`",
)
_PASSES = (
    known_roles,
    paired_tools,
    called_names(_NAMES),
    images_only_in("user", "assistant", "tool"),
    image_types("png", "jpeg", "webp", "heic", "heif"),
    no_names,
    no_call_extras,
    no_empty_turns,
)
_FINISH: dict[str, FinishReason] = {"STOP": "stop", "MAX_TOKENS": "length"}
_FILTERED = frozenset({
    "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
})  # fmt: skip


def encode(request: WireRequest) -> Encoded:
    """The body of `POST /models/MODEL:generateContent`; the model is part of the address."""
    notes = Notes(API, request.images)
    system, turns = system_apart(run_passes(_PASSES, request.messages, notes), notes, "systemInstruction")
    needs_user_turn(turns, notes, first=bool(turns and turns[0].calls))
    blocks = [("model" if turn.role == "assistant" else "user", turn.index, _parts(turn, notes)) for turn in turns]
    contents = merged_turns(blocks, notes, f"{API} wants user and model to take turns")
    for _, parts in contents:
        # All responses to the calls of a turn come first; what they show, and what the user says, follows.
        parts.sort(key=lambda part: "functionResponse" not in part)
    body: dict[str, Any] = {"contents": [{"role": role, "parts": parts} for role, parts in contents]}
    if system is not None:
        body["systemInstruction"] = {"role": "user", "parts": [{"text": system}]}
    config = _config(request, checked_settings(request, API, SETTINGS))
    if config:
        body["generationConfig"] = config
    if request.tools:
        declared_names(request.tools, _NAMES, notes)
        body["tools"] = [{"functionDeclarations": [_function(tool) for tool in request.tools]}]
    return Encoded(merged(body, request.extra_body), notes.in_order)


def _config(request: WireRequest, settings: Settings) -> dict[str, Any]:
    config = present(
        temperature=settings.temperature,
        topP=settings.top_p,
        maxOutputTokens=settings.max_output_tokens,
        seed=settings.seed,
        stopSequences=list(settings.stop) if settings.stop else None,
    )
    if request.output_schema is not None:
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = request.output_schema
    if thinking := _thinking(settings):
        config["thinkingConfig"] = thinking
    return config


def _thinking(settings: Settings) -> dict[str, Any]:
    budget, effort = settings.thinking_budget, settings.reasoning_effort
    if budget is not None and effort is not None:
        raise PromptError(
            "thinking",
            f"`thinking_budget` and `reasoning_effort` are both set; {API} takes one of them",
            hint="remove one: newer models take `reasoning_effort`, older ones `thinking_budget`",
        )
    if budget is not None:
        return {"includeThoughts": budget != 0, "thinkingBudget": budget}
    return {"includeThoughts": True, "thinkingLevel": effort.upper()} if effort is not None else {}


def _function(tool: Any) -> dict[str, Any]:
    function = {"name": tool.name, "parametersJsonSchema": tool.parameters}
    return {**function, "description": tool.description} if tool.description else function


def _parts(turn: Turn, notes: Notes) -> list[dict[str, Any]]:
    if turn.answers is not None:
        return _result(turn, notes)
    parts = [_part(part) for part in turn.parts]
    for call in turn.calls:
        arguments = arguments_object(call, turn, notes)
        parts.append({"functionCall": {"id": call.id, "name": call.name, "args": arguments}})
    return parts


def _result(turn: Turn, notes: Notes) -> list[dict[str, Any]]:
    assert turn.answers is not None
    output = texts_joined(turn, notes)
    response = {"id": turn.answers.id, "name": turn.answers.name, "response": {"output": output}}
    images = [_part(part) for part in turn.parts if part["type"] == "image"]
    if images:
        what = "the images of the tool result follow the function response, in the same turn"
        notes.add("image-moved", turn.index, what, f"{API} takes JSON alone in function responses")
    return [{"functionResponse": response}, *images]


def _part(part: dict[str, Any]) -> dict[str, Any]:
    if part["type"] == "text":
        return {"text": part["text"]}
    return {"inlineData": {"mimeType": part["media_type"], "data": part["data"]}}


def decode(body: Any) -> Answer:
    """The first candidate of an answer."""
    answer = mapping(body, API, "the answer")
    candidates = answer.get("candidates")
    if not isinstance(candidates, list) or not candidates:
        raise _no_candidate(answer)
    candidate = mapping(candidates[0], API, "candidates[0]")
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[dict[str, Any]] = []
    for part in objects(fields_of(candidate.get("content")).get("parts")):
        if isinstance(call := part.get("functionCall"), dict):
            calls.append(_call(call, len(calls)))
        elif isinstance(text := part.get("text"), str):
            (thoughts if part.get("thought") is True else texts).append(text)
    finish = text_of(candidate.get("finishReason"))
    if finish in _FILTERED and not texts and not calls:
        raise ContentFilterError(f"{API} withheld the answer: {finish}", hint="see the API's safety settings")
    return Answer(
        text="".join(texts),
        tool_calls=calls,
        finish_reason=_finish(finish, bool(calls)),
        raw_finish_reason=finish,
        reasoning="".join(thoughts) or None,
        usage=_usage(answer.get("usageMetadata")),
        model=text_of(answer.get("modelVersion")),
        response_id=text_of(answer.get("responseId")),
    )


def _finish(finish: str | None, has_calls: bool) -> FinishReason:
    if finish in _FILTERED:
        return "content_filter"
    if finish in ("STOP", None):
        return "tool_calls" if has_calls else "stop"
    return _FINISH.get(finish, "other")


def _no_candidate(answer: dict[str, Any]) -> Exception:
    reason = text_of(fields_of(answer.get("promptFeedback")).get("blockReason"))
    if reason is not None:
        return ContentFilterError(f"{API} refused the conversation: {reason}", hint="see the API's safety settings")
    keys = ", ".join(f"`{key}`" for key in list(answer)[:8]) or "nothing"
    return ProtocolError(
        f"{API}: the answer holds no `candidates`; it has {keys}", hint="is `base_url` the address of this API?"
    )


def _call(call: dict[str, Any], number: int) -> dict[str, Any]:
    """Calls have ids only with newer models; a suite needs one to pair the result with."""
    arguments = arguments_text(call.get("args"))
    function = {"name": text_of(call.get("name")) or "", "arguments": arguments}
    return {"id": text_of(call.get("id")) or f"call_{number + 1}", "type": "function", "function": function}


def _usage(usage: Any) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    thoughts = count(usage.get("thoughtsTokenCount"))
    return Usage(
        input_tokens=total(count(usage.get("promptTokenCount")), count(usage.get("toolUsePromptTokenCount"))),
        output_tokens=total(count(usage.get("candidatesTokenCount")), thoughts),
        cached_input_tokens=count(usage.get("cachedContentTokenCount")),
        reasoning_tokens=thoughts,
    )


class Assembly:
    """The pieces of a streamed answer: each is an answer of its own, with some of the parts."""

    def __init__(self) -> None:
        self.begun = False
        self.done = False
        self.finished = False
        self._answer: dict[str, Any] = {}
        self._candidate: dict[str, Any] = {}
        self._parts: list[Any] = []

    def add(self, event: Any) -> None:
        """Take a piece; counts and reasons of later pieces replace those of earlier ones."""
        piece = mapping(event, API, "a piece of the stream")
        self._answer |= {key: value for key, value in piece.items() if key != "candidates"}
        if fields_of(piece.get("promptFeedback")).get("blockReason") is not None:
            self.done = True
        candidates = listed(piece.get("candidates"))
        self._take(fields_of(candidates[0]) if candidates else {})
        # Counts come with every piece, and the reason to finish with the last.
        self.finished = self.done and self._answer.get("usageMetadata") is not None

    def _take(self, candidate: dict[str, Any]) -> None:
        self._candidate |= {key: value for key, value in candidate.items() if key != "content"}
        parts = listed(fields_of(candidate.get("content")).get("parts"))
        self._parts += parts
        self.begun = self.begun or bool(parts)
        self.done = self.done or candidate.get("finishReason") is not None

    def result(self) -> dict[str, Any]:
        """The answer as if it had come in one piece."""
        if not self._candidate and not self._parts:
            return self._answer
        candidate = {**self._candidate, "content": {"role": "model", "parts": self._parts}}
        return {**self._answer, "candidates": [candidate]}
