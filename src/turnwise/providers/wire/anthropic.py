"""Anthropic's Messages API."""

from __future__ import annotations

import re
from typing import Any

from ...errors import PromptError, ProtocolError
from ..base import FinishReason, Settings, Usage
from .anthropic_stream import API, Assembly
from .base import (
    Answer,
    Encoded,
    WireRequest,
    checked_settings,
    count,
    fields_of,
    mapping,
    merged,
    numbered,
    objects,
    present,
    text_of,
    total,
)
from .checks import COMMON_IMAGES, NameRule, called_names, declared_names, image_types
from .passes import (
    images_only_in,
    known_roles,
    needs_user_turn,
    no_empty_turns,
    no_names,
    no_trailing_space,
    system_apart,
)
from .tools import (
    arguments_object,
    arguments_text,
    call_ids_like,
    no_call_extras,
    paired_tools,
    undeclared,
)
from .turns import Notes, Turn, run_passes

__all__ = ["API", "DEFAULT_MAX_TOKENS", "SETTINGS", "Assembly", "decode", "encode"]

SETTINGS = frozenset({"temperature", "top_p", "max_output_tokens", "stop", "reasoning_effort", "thinking_budget"})
# The API demands a limit, and has no default.
DEFAULT_MAX_TOKENS = 4096

_LEAST_BUDGET = 1024
_NAMES = NameRule(re.compile(r"[a-zA-Z0-9_-]{1,128}"), "1 to 128 letters, digits, `_` and `-`")
_PASSES = (
    known_roles,
    paired_tools,
    call_ids_like(re.compile(r"[a-zA-Z0-9_-]+")),
    called_names(_NAMES),
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
    "refusal": "refusal",
}


def encode(request: WireRequest) -> Encoded:
    """The body of `POST /v1/messages`."""
    notes = Notes(API, request.images)
    system, turns = system_apart(run_passes(_PASSES, request.messages, notes), notes, "system")
    turns = no_trailing_space(turns, notes)
    needs_user_turn(turns, notes)
    settings = checked_settings(request, API, SETTINGS)
    _check_budget(settings)
    declared_names(request.tools, _NAMES, notes)
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": _max_tokens(settings, notes),
        "messages": _messages(turns, notes),
    }
    body |= present(
        system=system,
        temperature=settings.temperature,
        top_p=settings.top_p,
        stop_sequences=list(settings.stop) if settings.stop else None,
        thinking=_thinking(settings),
        output_config=_output_config(request, settings) or None,
        tools=_tools(request, turns, notes) or None,
    )
    if request.stream:
        body["stream"] = True
    return Encoded(merged(body, request.extra_body), notes.in_order)


def _max_tokens(settings: Settings, notes: Notes) -> int:
    if settings.max_output_tokens is not None:
        return settings.max_output_tokens
    limit = DEFAULT_MAX_TOKENS + max(settings.thinking_budget or 0, 0)
    what = f"`max_tokens: {limit}` was added"
    notes.add("max-tokens-added", None, what, f"{API} demands a limit; set `max_output_tokens` for another one")
    return limit


def _check_budget(settings: Settings) -> None:
    budget, limit = settings.thinking_budget, settings.max_output_tokens
    if budget is None or budget <= 0:
        return
    if budget < _LEAST_BUDGET:
        raise PromptError(
            "thinking budget",
            f"`thinking_budget: {budget}` is too small; {API} takes {_LEAST_BUDGET} tokens or more",
            hint=f"set `thinking_budget` to at least {_LEAST_BUDGET}, to 0 for no thinking, or to -1 to leave it open",
        )
    if limit is not None and budget >= limit:
        raise PromptError(
            "thinking budget",
            f"`thinking_budget: {budget}` leaves no room in `max_output_tokens: {limit}`, which {API} counts it in",
            hint="raise `max_output_tokens` above `thinking_budget`",
        )


def _thinking(settings: Settings) -> dict[str, Any] | None:
    budget = settings.thinking_budget
    if budget is None:
        return None
    if budget < 0:
        return {"type": "adaptive"}
    return {"type": "enabled", "budget_tokens": budget} if budget else {"type": "disabled"}


def _output_config(request: WireRequest, settings: Settings) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if settings.reasoning_effort is not None:
        config["effort"] = settings.reasoning_effort
    if request.output_schema is not None:
        config["format"] = {"type": "json_schema", "schema": request.output_schema}
    return config


def _tools(request: WireRequest, turns: list[Turn], notes: Notes) -> list[dict[str, Any]]:
    tools = [
        {"name": tool.name, **({"description": tool.description} if tool.description else {}),
         "input_schema": tool.parameters}
        for tool in request.tools
    ]  # fmt: skip
    declared = {tool.name for tool in request.tools}
    return tools + [{"name": name, "input_schema": {"type": "object"}} for name in undeclared(turns, declared, notes)]


def _messages(turns: list[Turn], notes: Notes) -> list[dict[str, Any]]:
    """Turns as they are, but for neighbouring tool results, which belong into one user turn."""
    messages: list[dict[str, Any]] = []
    open_results: list[dict[str, Any]] | None = None
    for turn in turns:
        if turn.answers is None:
            open_results = None
            role = "assistant" if turn.role == "assistant" else "user"
            messages.append({"role": role, "content": _content(turn, notes)})
        elif open_results is None:
            open_results = [_result(turn)]
            messages.append({"role": "user", "content": open_results})
        else:
            open_results.append(_result(turn))
            why = f"{API} takes the results of one turn's calls in one user turn"
            notes.add("turns-merged", turn.index, "joined with the tool result before it", why)
    return messages


def _content(turn: Turn, notes: Notes) -> Any:
    if turn.plain and len(turn.parts) == 1 and not turn.calls:
        return turn.parts[0]["text"]
    blocks = [_block(part) for part in turn.parts]
    for call in turn.calls:
        arguments = arguments_object(call, turn, notes)
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": arguments})
    return blocks


def _result(turn: Turn) -> dict[str, Any]:
    assert turn.answers is not None
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": turn.answers.id}
    if turn.plain and len(turn.parts) == 1:
        result["content"] = turn.parts[0]["text"]
    elif turn.parts:
        result["content"] = [_block(part) for part in turn.parts]
    return result


def _block(part: dict[str, Any]) -> dict[str, Any]:
    if part["type"] == "text":
        return part
    source = {"type": "base64", "media_type": part["media_type"], "data": part["data"]}
    return {"type": "image", "source": source}


def decode(body: Any) -> Answer:
    """The blocks of a message."""
    message = mapping(body, API, "the answer")
    content = message.get("content")
    if not isinstance(content, list):
        keys = ", ".join(f"`{key}`" for key in list(message)[:8]) or "nothing"
        raise ProtocolError(f"{API}: the answer holds no `content`; it has {keys}", hint="is `base_url` right?")
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[dict[str, Any]] = []
    for block in objects(content):
        kind = block.get("type")
        if kind == "text":
            texts.append(text_of(block.get("text")) or "")
        elif kind == "thinking":
            thoughts.append(text_of(block.get("thinking")) or "")
        elif kind == "tool_use":
            calls.append(_call(block))
    stop = text_of(message.get("stop_reason"))
    text = "".join(texts)
    return Answer(
        text=text,
        tool_calls=numbered(calls),
        finish_reason=_FINISH.get(stop, "other") if stop is not None else "stop",
        raw_finish_reason=stop,
        reasoning="\n\n".join(each for each in thoughts if each) or None,
        refusal=(text or "refused") if stop == "refusal" else None,
        usage=_usage(message.get("usage")),
        model=text_of(message.get("model")),
        response_id=text_of(message.get("id")),
    )


def _call(block: dict[str, Any]) -> dict[str, Any]:
    arguments = arguments_text(block.get("input"))
    function = {"name": text_of(block.get("name")) or "", "arguments": arguments}
    return {"id": text_of(block.get("id")), "type": "function", "function": function}


def _usage(usage: Any) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    read, written = count(usage.get("cache_read_input_tokens")), count(usage.get("cache_creation_input_tokens"))
    return Usage(
        input_tokens=total(count(usage.get("input_tokens")), read, written),
        output_tokens=count(usage.get("output_tokens")),
        cached_input_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=count(fields_of(usage.get("output_tokens_details")).get("thinking_tokens")),
    )
