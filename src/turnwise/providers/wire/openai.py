"""OpenAI's Chat Completions API, and the servers that speak it."""

from __future__ import annotations

import re
from typing import Any

from ...conversation.chat import ChatMessage
from ...errors import ContentFilterError, OverloadedError, ProtocolError
from ..base import FinishReason, Usage
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
)
from .chat_stream import API, Assembly
from .checks import COMMON_IMAGES, OPENAI_NAMES, called_names, declared_names, image_types
from .passes import images_only_in, known_roles, something_to_send, tool_images_apart
from .reported import in_band_error
from .strict_schema import is_strict_schema
from .tools import arguments_text, call_ids_like, paired_tools
from .turns import Call, Notes, Turn, run_passes

__all__ = ["API", "SETTINGS", "SHORT_IDS", "Assembly", "decode", "encode", "tool_call", "usage_of"]

SETTINGS = frozenset({"temperature", "top_p", "max_output_tokens", "seed", "stop", "reasoning_effort"})

# OpenAI takes ids of at most 40 characters, whichever these are.
SHORT_IDS = re.compile(r".{1,40}", re.DOTALL)

_SPEAKERS = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_PLAIN_ROLES = frozenset({"system", "developer", "user", "assistant"})
_PASSES = (
    known_roles,
    paired_tools,
    call_ids_like(SHORT_IDS),
    called_names(OPENAI_NAMES),
    tool_images_apart,
    images_only_in("user"),
    image_types(*COMMON_IMAGES),
)
_FINISH: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}


def encode(request: WireRequest) -> Encoded:
    """The body of `POST /chat/completions`."""
    notes = Notes(API, request.images)
    something_to_send(request.messages, notes)
    declared_names(request.tools, OPENAI_NAMES, notes)
    body: dict[str, Any] = {"model": request.model, "messages": _messages(request, notes)}
    settings = checked_settings(request, API, SETTINGS)
    body |= present(
        temperature=settings.temperature,
        top_p=settings.top_p,
        seed=settings.seed,
        stop=list(settings.stop) if settings.stop else None,
        reasoning_effort=settings.reasoning_effort,
    )
    if settings.max_output_tokens is not None:
        body[request.max_tokens_field] = settings.max_output_tokens
    if request.tools:
        body["tools"] = [{"type": "function", "function": _function(tool)} for tool in request.tools]
    if request.output_schema is not None:
        schema = request.output_schema
        form = {"name": "answer", "schema": schema, "strict": is_strict_schema(schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    if request.stream:
        body["stream"] = True
        body["stream_options"] = {"include_usage": True}
    return Encoded(merged(body, request.extra_body), notes.in_order)


def _messages(request: WireRequest, notes: Notes) -> list[dict[str, Any]]:
    # Most conversations are what this API takes: the passes would change nothing, and take five times as long.
    if request.system_role == "system" and all(map(_is_plain, request.messages)):
        return [{"role": message["role"], "content": message["content"]} for message in request.messages]
    turns = run_passes(_PASSES, request.messages, notes)
    return [_message(turn, request.system_role, notes) for turn in turns]


def _is_plain(message: ChatMessage) -> bool:
    return len(message) == 2 and message["role"] in _PLAIN_ROLES and isinstance(message["content"], str)


def _message(turn: Turn, system_role: str, notes: Notes) -> dict[str, Any]:
    role = turn.role
    if role == "system" and system_role != "system":
        role = system_role
        what = f"the system message has the role `{role}`"
        notes.add("system-role", turn.index, what, f"the target says `system_role: {role}`")
    message: dict[str, Any] = {"role": role, "content": _content(turn)}
    if turn.name is not None and _takes_name(turn, turn.name, notes):
        message["name"] = turn.name
    if turn.calls:
        message["tool_calls"] = [
            {**call.extra, "id": call.id, "type": "function", "function": _called(call)} for call in turn.calls
        ]
    if turn.answers is not None:
        message["tool_call_id"] = turn.answers.id
    return message


def _takes_name(turn: Turn, name: str, notes: Notes) -> bool:
    if turn.answers is None and _SPEAKERS.fullmatch(name):
        return True
    rule = (
        "takes names of 1 to 64 letters, digits, `_` and `-`" if turn.answers is None else "has none in tool messages"
    )
    notes.add("name-left-out", turn.index, f"the name `{name}` was left out", f"{notes.api} {rule}")
    return False


def _called(call: Call) -> dict[str, Any]:
    return {**call.function_extra, "name": call.name, "arguments": call.arguments_text}


def _content(turn: Turn) -> Any:
    if not turn.parts:
        return None if turn.calls else ""
    if turn.plain and len(turn.parts) == 1:
        return turn.parts[0]["text"]
    return [part if part["type"] == "text" else _image(part) for part in turn.parts]


def _image(part: dict[str, Any]) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:{part['media_type']};base64,{part['data']}"}}


def _function(tool: Any) -> dict[str, Any]:
    function = {"name": tool.name, "parameters": tool.parameters}
    return {**function, "description": tool.description} if tool.description else function


def decode(body: Any) -> Answer:
    """The first choice of a completion."""
    choices = mapping(body, API, "the answer").get("choices")
    if not isinstance(choices, list) or not choices:
        raise _no_choice(body)
    choice = mapping(choices[0], API, "choices[0]")
    _raise_failure(choice)
    message = mapping(choice.get("message"), API, "choices[0].message")
    finish = text_of(choice.get("finish_reason"))
    text, refusal = _text(message.get("content")), text_of(message.get("refusal"))
    calls = [tool_call(each) for each in objects(message.get("tool_calls")) or _legacy_call(message)]
    if finish == "content_filter" and not text and not calls:
        raise ContentFilterError("the provider's content filter withheld the answer", hint="see the filter's settings")
    return Answer(
        text=text or refusal or "",
        tool_calls=numbered(calls),
        finish_reason="refusal" if refusal else _finish(finish, bool(calls)),
        raw_finish_reason=finish,
        # OpenRouter and llama.cpp, vLLM have a name each.
        reasoning=text_of(message.get("reasoning_content")) or text_of(message.get("reasoning")),
        refusal=refusal,
        usage=usage_of(body.get("usage")),
        model=text_of(body.get("model")),
        response_id=text_of(body.get("id")),
    )


def _raise_failure(choice: dict[str, Any]) -> None:
    """OpenRouter reports the failure of the host behind it in the choice; what came before it is no answer."""
    if choice.get("error"):
        raise in_band_error({"error": choice["error"]}, API)
    if choice.get("finish_reason") == "error":
        raise OverloadedError(f"{API}: the answer ended with an error that is not explained")


def _legacy_call(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Older servers know one call only, and no id."""
    call = message.get("function_call")
    return [{"function": call}] if isinstance(call, dict) else []


def _finish(finish: str | None, has_calls: bool) -> FinishReason:
    # Some servers say `stop` whatever they stop for.
    if finish in (None, "stop"):
        return "tool_calls" if has_calls else "stop"
    return _FINISH.get(finish or "", "other")


def _no_choice(body: dict[str, Any]) -> Exception:
    if objects(body.get("prompt_filter_results")):
        return ContentFilterError("the provider's content filter withheld the answer", hint="see the filter's settings")
    if body.get("choices") == []:
        return ProtocolError(f"{API}: `choices` is an empty list", hint="the server gave no answer; see its own log")
    keys = ", ".join(f"`{key}`" for key in list(body)[:8]) or "nothing"
    return ProtocolError(
        f"{API}: the answer holds no `choices`; it has {keys}", hint="is `base_url` the address of this API?"
    )


def _text(content: Any) -> str:
    """Content is a text; some servers send a list of parts."""
    return text_of(content) or "".join(text_of(part.get("text")) or "" for part in objects(content))


def tool_call(call: dict[str, Any]) -> dict[str, Any]:
    """A call of an answer, as a suite writes it."""
    function = fields_of(call.get("function"))
    name, arguments = text_of(function.get("name")) or "", arguments_text(function.get("arguments"))
    return {"id": text_of(call.get("id")), "type": "function", "function": {"name": name, "arguments": arguments}}


def usage_of(usage: Any) -> Usage:
    """Token counts of a completion."""
    if not isinstance(usage, dict):
        return Usage()
    sent, came = fields_of(usage.get("prompt_tokens_details")), fields_of(usage.get("completion_tokens_details"))
    return Usage(
        input_tokens=count(usage.get("prompt_tokens")),
        output_tokens=count(usage.get("completion_tokens")),
        cached_input_tokens=count(sent.get("cached_tokens")),
        cache_write_tokens=count(sent.get("cache_write_tokens")),
        reasoning_tokens=count(came.get("reasoning_tokens")),
    )
