"""OpenAI's Chat Completions API, and the servers that speak it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...conversation.chat import ChatMessage
from ...conversation.transcript import role_marker
from ...errors import ContentFilterError, ProtocolError
from ..base import FinishReason, Usage
from .base import Answer, Encoded, WireRequest, checked_settings, count, mapping, merged, present, text_of
from .passes import images_only_in, known_roles
from .tools import paired_tools
from .turns import Call, Notes, Turn, run_passes

__all__ = ["API", "SETTINGS", "Assembly", "decode", "encode", "is_strict_schema", "tool_call", "usage_of"]

API = "the Chat Completions API"
SETTINGS = frozenset({"temperature", "top_p", "max_output_tokens", "seed", "stop", "reasoning_effort"})

_PLAIN_ROLES = frozenset({"system", "developer", "user", "assistant"})
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
    return Encoded(merged(body, request.extra_body), tuple(notes.rewrites))


def _messages(request: WireRequest, notes: Notes) -> list[dict[str, Any]]:
    # Most conversations are what this API takes: the passes would change nothing, and take five times as long.
    if request.system_role == "system" and all(map(_is_plain, request.messages)):
        return [{"role": message["role"], "content": message["content"]} for message in request.messages]
    turns = run_passes(_PASSES, request.messages, notes)
    return [_message(turn, request.system_role, notes) for turn in turns]


def _is_plain(message: ChatMessage) -> bool:
    return len(message) == 2 and message["role"] in _PLAIN_ROLES and isinstance(message["content"], str)


def tool_images_apart(turns: list[Turn], notes: Notes) -> list[Turn]:
    """Results of tools are text here: their images follow in a user turn, after the results of that turn."""
    if not any(turn.answers is not None and turn.has_images for turn in turns):
        return turns
    moved: list[Turn] = []
    pending: list[Turn] = []
    for turn in turns:
        if turn.answers is None:
            moved += pending
            pending = []
        elif turn.has_images:
            pending.append(_images_turn(turn))
            markers = "\n".join(_marker(part) if part["type"] == "image" else part["text"] for part in turn.parts)
            turn.parts = [{"type": "text", "text": markers}]
            turn.plain = True
            what = "the images of the tool result follow in a user turn; markers stand in their place"
            notes.add("image-moved", turn.index, what, f"{notes.api} takes text alone in tool results")
        moved.append(turn)
    return moved + pending


def _images_turn(turn: Turn) -> Turn:
    images = [part for part in turn.parts if part["type"] == "image"]
    return Turn("user", turn.index, [{"type": "text", "text": role_marker("tool")}, *images], plain=False)


def _marker(part: dict[str, Any]) -> str:
    # A caller of the Python API may hand over an image without a label: it reads as a data URL does.
    return f"<Image: {part.get('value') or 'data:' + part['media_type']}>"


_PASSES = (known_roles, paired_tools, tool_images_apart, images_only_in("user"))


def _message(turn: Turn, system_role: str, notes: Notes) -> dict[str, Any]:
    role = turn.role
    if role == "system" and system_role != "system":
        role = system_role
        what = f"the system message has the role `{role}`"
        notes.add("system-role", turn.index, what, f"the target says `system_role: {role}`")
    message: dict[str, Any] = {"role": role, "content": _content(turn)}
    if turn.name is not None:
        if turn.answers is None:
            message["name"] = turn.name
        else:
            what = f"the name `{turn.name}` was left out"
            notes.add("name-left-out", turn.index, what, f"{notes.api} has no names in tool messages")
    if turn.calls:
        message["tool_calls"] = [
            {**call.extra, "id": call.id, "type": "function", "function": _called(call)} for call in turn.calls
        ]
    if turn.answers is not None:
        message["tool_call_id"] = turn.answers.id
    return message


def _called(call: Call) -> dict[str, Any]:
    return {"name": call.name, "arguments": call.arguments_text}


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


def is_strict_schema(schema: Any) -> bool:
    """Whether a JSON Schema keeps to what OpenAI's strict mode takes: objects that name and require all their keys.

    >>> is_strict_schema({"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False})
    True
    >>> is_strict_schema({"type": "object", "properties": {"a": {}}})
    False
    """
    if isinstance(schema, list):
        return all(is_strict_schema(each) for each in schema)
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties")
    if isinstance(properties, Mapping) or schema.get("type") == "object":
        names = set(properties) if isinstance(properties, Mapping) else set()
        if schema.get("additionalProperties") is not False or set(schema.get("required") or ()) != names:
            return False
    return all(is_strict_schema(value) for value in schema.values())


def decode(body: Any) -> Answer:
    """The first choice of a completion."""
    choices = mapping(body, API, "the answer").get("choices")
    if not isinstance(choices, list) or not choices:
        raise _no_choice(body)
    choice = mapping(choices[0], API, "choices[0]")
    message = mapping(choice.get("message"), API, "choices[0].message")
    finish = text_of(choice.get("finish_reason"))
    text, refusal = _text(message.get("content")), text_of(message.get("refusal"))
    calls = [tool_call(each) for each in message.get("tool_calls") or () if isinstance(each, dict)]
    if finish == "content_filter" and not text and not calls:
        raise ContentFilterError("the provider's content filter withheld the answer", hint="see the filter's settings")
    return Answer(
        text=text or refusal or "",
        tool_calls=calls,
        finish_reason="refusal" if refusal else _finish(finish, bool(calls)),
        raw_finish_reason=finish,
        # OpenRouter and llama.cpp, vLLM have a name each.
        reasoning=text_of(message.get("reasoning_content")) or text_of(message.get("reasoning")),
        refusal=refusal,
        usage=usage_of(body.get("usage")),
        model=text_of(body.get("model")),
        response_id=text_of(body.get("id")),
    )


def _finish(finish: str | None, has_calls: bool) -> FinishReason:
    if finish is None:
        return "tool_calls" if has_calls else "stop"
    return _FINISH.get(finish, "other")


def _no_choice(body: dict[str, Any]) -> Exception:
    if any(isinstance(each, dict) for each in body.get("prompt_filter_results") or ()):
        return ContentFilterError("the provider's content filter withheld the answer", hint="see the filter's settings")
    keys = ", ".join(f"`{key}`" for key in list(body)[:8]) or "nothing"
    return ProtocolError(
        f"{API}: the answer holds no `choices`; it has {keys}", hint="is `base_url` the address of this API?"
    )


def _text(content: Any) -> str:
    """Content is a text; some servers send a list of parts."""
    if isinstance(content, list):
        return "".join(text_of(part.get("text")) or "" for part in content if isinstance(part, dict))
    return text_of(content) or ""


def tool_call(call: dict[str, Any]) -> dict[str, Any]:
    """A call of an answer, as a suite writes it."""
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments if arguments is not None else {}, ensure_ascii=False)
    name = text_of(function.get("name")) or ""
    return {"id": text_of(call.get("id")), "type": "function", "function": {"name": name, "arguments": arguments}}


def usage_of(usage: Any) -> Usage:
    """Token counts of a completion."""
    if not isinstance(usage, dict):
        return Usage()
    sent, came = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    return Usage(
        input_tokens=count(usage.get("prompt_tokens")),
        output_tokens=count(usage.get("completion_tokens")),
        cached_input_tokens=count(sent.get("cached_tokens")) if isinstance(sent, dict) else None,
        cache_write_tokens=count(sent.get("cache_write_tokens")) if isinstance(sent, dict) else None,
        reasoning_tokens=count(came.get("reasoning_tokens")) if isinstance(came, dict) else None,
    )


class Assembly:
    """The chunks of a streamed completion."""

    def __init__(self) -> None:
        self.begun = False
        self.done = False
        self._body: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {"content": [], "refusal": [], "reasoning_content": []}
        self._calls: dict[int, dict[str, Any]] = {}
        self._finish: str | None = None
        self._has_choice = False

    def add(self, event: Any) -> None:
        """Take a chunk; usage comes in one without choices."""
        chunk = mapping(event, API, "a chunk of the stream")
        for key in ("id", "model", "usage"):
            if chunk.get(key) is not None:
                self._body[key] = chunk[key]
        for choice in chunk.get("choices") or ():
            if isinstance(choice, dict) and choice.get("index", 0) == 0:
                self._has_choice = True
                self._delta(choice.get("delta"))
                if choice.get("finish_reason") is not None:
                    self._finish = choice["finish_reason"]
                    self.done = True

    def _delta(self, delta: Any) -> None:
        if not isinstance(delta, dict):
            return
        for key, pieces in self._texts.items():
            piece = delta.get(key) or (delta.get("reasoning") if key == "reasoning_content" else None)
            if isinstance(piece, str) and piece:
                pieces.append(piece)
                self.begun = True
        for call in delta.get("tool_calls") or ():
            if isinstance(call, dict):
                self._call(call)
                self.begun = True

    def _call(self, call: dict[str, Any]) -> None:
        index = call.get("index")
        known = self._calls.setdefault(
            index if isinstance(index, int) else len(self._calls), {"id": None, "name": "", "arguments": []}
        )
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        known["id"] = known["id"] or call.get("id")
        known["name"] += text_of(function.get("name")) or ""
        known["arguments"].append(text_of(function.get("arguments")) or "")

    def result(self) -> dict[str, Any]:
        """The completion as if it had come in one piece."""
        message: dict[str, Any] = {"role": "assistant"}
        message |= {key: "".join(pieces) for key, pieces in self._texts.items() if pieces}
        if self._calls:
            message["tool_calls"] = [
                {
                    "id": call["id"],
                    "type": "function",
                    "function": {"name": call["name"], "arguments": "".join(call["arguments"])},
                }
                for _, call in sorted(self._calls.items())
            ]
        choice = {"index": 0, "message": message, "finish_reason": self._finish}
        return {**self._body, "choices": [choice] if self._has_choice else []}
