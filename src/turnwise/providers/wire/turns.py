"""Messages on their way to an API: taken apart into turns, and led through passes.

A pass is a pure function from turns to turns; what it changes, it notes as a rewrite. Each wire module has an ordered
tuple of them. Nothing is dropped or changed without a note.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...conversation.chat import ChatMessage
from ...conversation.transcript import tool_call_name
from ...errors import PromptError
from ..base import Rewrite

__all__ = ["Call", "Notes", "Pass", "Turn", "run_passes", "turns_of"]


@dataclass(slots=True)
class Call:
    """A tool call. `arguments` is as written: JSON text, or the value itself.

    `extra` holds further authored keys, `function_extra` those that stand in its `function`.
    """

    id: str | None
    name: str
    arguments: Any
    extra: dict[str, Any]
    function_extra: dict[str, Any] = field(default_factory=dict)
    answered: bool = False

    @property
    def line(self) -> str:
        """How it reads as text."""
        return f"Tool call: {self.name}({self.arguments_text})"

    @property
    def arguments_text(self) -> str:
        """The arguments as JSON text."""
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, ensure_ascii=False, separators=(",", ":"))


@dataclass(slots=True)
class Turn:
    """One message, taken apart. `index` is its place in the messages; `plain` says that its content is a text."""

    role: str
    index: int
    parts: list[dict[str, Any]]
    plain: bool = True
    name: str | None = None
    calls: list[Call] = field(default_factory=list)
    call_id: str | None = None
    answers: Call | None = None

    @property
    def text(self) -> str:
        """Its text alone."""
        return "\n".join(part["text"] for part in self.parts if part["type"] == "text")

    @property
    def text_count(self) -> int:
        """How many texts it holds."""
        return sum(part["type"] == "text" for part in self.parts)

    @property
    def has_images(self) -> bool:
        """Whether it shows anything."""
        return any(part["type"] == "image" for part in self.parts)

    def append_text(self, text: str) -> None:
        """Add a line to its text."""
        if self.parts and self.parts[-1]["type"] == "text":
            last = self.parts[-1]["text"]
            self.parts[-1] = {"type": "text", "text": f"{last}\n{text}" if last else text}
        else:
            self.parts.append({"type": "text", "text": text})

    def prepend_text(self, text: str) -> None:
        """Put a line before its text."""
        if self.parts and self.parts[0]["type"] == "text":
            self.parts[0] = {"type": "text", "text": f"{text}\n{self.parts[0]['text']}"}
        else:
            self.parts.insert(0, {"type": "text", "text": f"{text}\n"})


@dataclass(slots=True)
class Notes:
    """What the passes have changed for one request to one API."""

    api: str
    images: bool = True
    rewrites: list[Rewrite] = field(default_factory=list)

    @property
    def in_order(self) -> tuple[Rewrite, ...]:
        """All rewrites, those of the first message first, those of no message last."""
        return tuple(sorted(self.rewrites, key=lambda each: (each.message_index is None, each.message_index or 0)))

    def add(self, kind: str, index: int | None, what: str, why: str) -> None:
        self.rewrites.append(Rewrite(kind, index, what, why))


Pass = Callable[[list[Turn], Notes], list[Turn]]


def run_passes(passes: Iterable[Pass], messages: Sequence[ChatMessage], notes: Notes) -> list[Turn]:
    """The messages as turns that the API takes."""
    turns = turns_of(messages, notes)
    for each in passes:
        turns = each(turns, notes)
    return turns


def turns_of(messages: Sequence[ChatMessage], notes: Notes) -> list[Turn]:
    """Take messages apart. Raises `PromptError` for content of a kind that is not known."""
    turns = []
    for index, message in enumerate(messages):
        content = message["content"]
        if isinstance(content, str):
            turn = Turn(message["role"], index, [{"type": "text", "text": content}])
        elif content is None:
            turn = Turn(message["role"], index, [])
        else:
            turn = Turn(message["role"], index, [_part(part, index, notes) for part in content], plain=False)
        if len(message) > 2:
            turn.name = message.get("name")
            turn.call_id = message.get("tool_call_id")
            turn.calls = [_call(call, index) for call in message.get("tool_calls") or ()]
            _note_others(message, _MESSAGE_KEYS, index, notes)
        turns.append(turn)
    return turns


def _part(part: Any, index: int, notes: Notes) -> dict[str, Any]:
    kind = part.get("type") if isinstance(part, dict) else None
    if isinstance(part, dict):
        _note_others(part, _PART_KEYS, index, notes)
    if kind == "text" and isinstance(text := part.get("text", part.get("value")), str):
        return {"type": "text", "text": text}
    if kind == "image" and isinstance(part.get("data"), str) and isinstance(part.get("media_type"), str):
        if not notes.images:
            raise PromptError(
                "no images",
                f"message {index + 1} holds an image, and this target takes none",
                hint="leave the case out for this target; `images: true` is for models that can see",
                message_index=index,
            )
        return {**part, "media_type": _media_type(part["media_type"])}
    raise PromptError(
        "unknown content",
        f"message {index + 1} holds content of the kind {kind!r}, which no API takes",
        hint="a part is {type: text, text} or {type: image, value, media_type, data}",
        message_index=index,
    )


def _media_type(written: str) -> str:
    """APIs know one spelling of each type, and people write two."""
    known = written.lower()
    return "image/jpeg" if known == "image/jpg" else known


_MESSAGE_KEYS = frozenset({"role", "content", "name", "tool_calls", "tool_call_id"})
_PART_KEYS = frozenset({"type", "text", "value", "media_type", "data"})


def _note_others(value: Mapping[str, Any], known: frozenset[str], index: int, notes: Notes) -> None:
    """Keys that a caller of the Python API may add, and that have no meaning here: they are not sent."""
    for key in value.keys() - known:
        notes.add("key-left-out", index, f"the key `{key}` was left out", "a message or a part has no such key")


_CALL_KEYS = frozenset({"id", "type"})
_FUNCTION_KEYS = frozenset({"name", "arguments", "input"})


def _call(call: dict[str, Any], index: int) -> Call:
    name = tool_call_name(call)
    if name is None:
        raise PromptError(
            "tool name",
            f"message {index + 1} calls a tool without a name",
            hint="write `function: {name: …, arguments: …}`",
            message_index=index,
        )
    holder = call.get("function")
    inner = holder if isinstance(holder, dict) else call
    known = _CALL_KEYS | ({"function"} if inner is holder else _FUNCTION_KEYS)
    arguments = inner.get("arguments", inner.get("input"))
    call_id = call.get("id")
    return Call(
        id=call_id if isinstance(call_id, str) and call_id else None,
        name=name,
        arguments="{}" if arguments is None or arguments == "" else arguments,
        extra=_others(call, known),
        function_extra=_others(inner, _FUNCTION_KEYS) if inner is holder else {},
    )


def _others(values: dict[str, Any], known: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in known}
