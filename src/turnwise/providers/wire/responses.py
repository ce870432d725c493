"""OpenAI's Responses API."""

from __future__ import annotations

from typing import Any

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
from .checks import COMMON_IMAGES, OPENAI_NAMES, called_names, declared_names, image_types
from .openai import SHORT_IDS
from .passes import images_only_in, known_roles, no_names, something_to_send, texts_joined
from .reported import in_band_error
from .strict_schema import is_strict_schema
from .tools import arguments_text, call_ids_like, no_call_extras, paired_tools
from .turns import Notes, Turn, run_passes

__all__ = ["API", "SETTINGS", "Assembly", "decode", "encode"]

API = "the Responses API"
SETTINGS = frozenset({"temperature", "top_p", "max_output_tokens", "reasoning_effort"})

_PASSES = (
    known_roles,
    paired_tools,
    call_ids_like(SHORT_IDS),
    called_names(OPENAI_NAMES),
    images_only_in("user", "tool"),
    image_types(*COMMON_IMAGES),
    no_names,
    no_call_extras,
)


def encode(request: WireRequest) -> Encoded:
    """The body of `POST /responses`: the messages are `input`, system messages in their places; nothing is stored."""
    notes = Notes(API, request.images)
    something_to_send(request.messages, notes)
    declared_names(request.tools, OPENAI_NAMES, notes)
    turns = run_passes(_PASSES, request.messages, notes)
    items = [item for turn in turns for item in _items(turn, request.system_role, notes)]
    body: dict[str, Any] = {"model": request.model, "input": items, "store": False}
    settings = checked_settings(request, API, SETTINGS)
    body |= present(
        temperature=settings.temperature, top_p=settings.top_p, max_output_tokens=settings.max_output_tokens
    )
    if settings.reasoning_effort is not None:
        body["reasoning"] = {"effort": settings.reasoning_effort}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                "strict": False,
            }
            for tool in request.tools
        ]
    if request.output_schema is not None:
        schema = request.output_schema
        form = {"type": "json_schema", "name": "answer", "schema": schema, "strict": is_strict_schema(schema)}
        body["text"] = {"format": form}
    if request.stream:
        body["stream"] = True
    return Encoded(merged(body, request.extra_body), notes.in_order)


def _items(turn: Turn, system_role: str, notes: Notes) -> list[dict[str, Any]]:
    if turn.answers is not None:
        output: Any = [_part(part) for part in turn.parts] if turn.has_images else texts_joined(turn, notes)
        return [{"type": "function_call_output", "call_id": turn.answers.id, "output": output}]
    role = turn.role
    if role == "system" and system_role != "system":
        role = system_role
        what = f"the system message has the role `{role}`"
        notes.add("system-role", turn.index, what, f"the target says `system_role: {role}`")
    items: list[dict[str, Any]] = []
    if turn.parts or not turn.calls:
        # The type is optional by the API, but servers that speak it, such as llama.cpp, tell items apart by it.
        items.append({"type": "message", "role": role, "content": _content(turn, notes)})
    for call in turn.calls:
        item = {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments_text}
        items.append(item)
    return items


def _content(turn: Turn, notes: Notes) -> Any:
    if turn.role == "assistant":
        return texts_joined(turn, notes)  # a list would need ids and annotations of the API's own
    if len(turn.parts) == 1 and turn.plain:
        return turn.parts[0]["text"]
    return [_part(part) for part in turn.parts] if turn.parts else ""


def _part(part: dict[str, Any]) -> dict[str, Any]:
    if part["type"] == "text":
        return {"type": "input_text", "text": part["text"]}
    url = f"data:{part['media_type']};base64,{part['data']}"
    return {"type": "input_image", "image_url": url, "detail": "auto"}


def decode(body: Any) -> Answer:
    """The messages, calls and reasoning of a response."""
    response = mapping(body, API, "the answer")
    _raise_failure(response)
    output = response.get("output")
    if not isinstance(output, list):
        keys = ", ".join(f"`{key}`" for key in list(response)[:8]) or "nothing"
        raise ProtocolError(f"{API}: the answer holds no `output`; it has {keys}", hint="is `base_url` right?")
    texts: list[str] = []
    refusals: list[str] = []
    reasoning: list[str] = []
    calls: list[dict[str, Any]] = []
    for item in objects(output):
        if item.get("type") == "message":
            texts.append(text_of(item.get("content")) or "")  # some servers send a text in the place of parts
            for part in objects(item.get("content")):
                texts.append(text_of(part.get("text")) or "")
                refusals.append(text_of(part.get("refusal")) or "")
        elif item.get("type") == "reasoning":
            # The summary is the usual form; open models give the reasoning itself.
            parts = objects(item.get("summary")) + objects(item.get("content"))
            reasoning += [text_of(part.get("text")) or "" for part in parts]
        elif item.get("type") == "function_call":
            calls.append(_call(item))
    text, refusal = "".join(texts), "".join(refusals)
    finish, raw = _finish(response, bool(calls))
    if finish == "content_filter" and not text and not calls:
        raise ContentFilterError("the provider's content filter withheld the answer", hint="see the filter's settings")
    return Answer(
        text=text or refusal,
        tool_calls=numbered(calls),
        finish_reason="refusal" if refusal else finish,
        raw_finish_reason=raw,
        reasoning="\n\n".join(each for each in reasoning if each) or None,
        refusal=refusal or None,
        usage=_usage(response.get("usage")),
        model=text_of(response.get("model")),
        response_id=text_of(response.get("id")),
    )


def _raise_failure(response: dict[str, Any]) -> None:
    if response.get("error"):
        raise in_band_error({"error": response["error"]}, API)
    if response.get("status") in ("failed", "cancelled"):
        raise OverloadedError(f"{API}: the response ended with the status `{response['status']}`, without a reason")


def _finish(response: dict[str, Any], has_calls: bool) -> tuple[FinishReason, str | None]:
    status = text_of(response.get("status"))
    if status == "incomplete":
        reason = text_of(fields_of(response.get("incomplete_details")).get("reason"))
        known: dict[str | None, FinishReason] = {"max_output_tokens": "length", "content_filter": "content_filter"}
        return known.get(reason, "other"), reason or status
    if status in ("completed", None):
        return "tool_calls" if has_calls else "stop", status
    return "other", status


def _call(item: dict[str, Any]) -> dict[str, Any]:
    function = {"name": text_of(item.get("name")) or "", "arguments": arguments_text(item.get("arguments")) or "{}"}
    return {"id": text_of(item.get("call_id")), "type": "function", "function": function}


def _usage(usage: Any) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    sent, came = fields_of(usage.get("input_tokens_details")), fields_of(usage.get("output_tokens_details"))
    return Usage(
        input_tokens=count(usage.get("input_tokens")),
        output_tokens=count(usage.get("output_tokens")),
        cached_input_tokens=count(sent.get("cached_tokens")),
        cache_write_tokens=count(sent.get("cache_write_tokens")),
        reasoning_tokens=count(came.get("reasoning_tokens")),
    )


class Assembly:
    """The events of a streamed response: the last one holds all of it."""

    def __init__(self) -> None:
        self.begun = False
        self.done = False
        self.finished = False
        self._response: dict[str, Any] = {}
        self._items: list[dict[str, Any]] = []

    def add(self, event: Any) -> None:
        """Take an event; only its kind and, at the end, its response matter."""
        data = mapping(event, API, "an event of the stream")
        kind = text_of(data.get("type")) or ""
        if kind.endswith(".delta"):
            self.begun = True
        elif kind == "response.output_item.done" and isinstance(data.get("item"), dict):
            self._items.append(data["item"])
        elif kind in ("response.completed", "response.incomplete", "response.failed"):
            self._response = mapping(data.get("response"), API, "the end of the stream")
            self.done = self.finished = True

    def result(self) -> dict[str, Any]:
        """The response as if it had come in one piece; some servers leave its output to the items before it."""
        if not self._response.get("output") and self._items:
            return {**self._response, "output": self._items}
        return self._response
