"""A streamed answer of the Chat Completions API: its chunks, put together to a completion.

Servers differ most in tool calls: pieces with or without a place or an id, names in the first piece or in all of them,
arguments as text or as an object.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from .base import fields_of, index_of, mapping, objects, text_of
from .tools import arguments_text

__all__ = ["API", "Assembly"]

API = "the Chat Completions API"


@dataclass(slots=True)
class _Call:
    """A tool call of which some pieces have come."""

    place: int
    id: str | None = None
    name: str = ""
    pieces: list[str] = field(default_factory=list)

    def take(self, piece: dict[str, Any]) -> None:
        """Add a piece: its id counts if none came before, its name unless it only repeats the one that did."""
        function = fields_of(piece.get("function"))
        self.id = self.id or text_of(piece.get("id"))
        name = text_of(function.get("name")) or ""
        self.name += "" if name == self.name else name
        if function.get("arguments") is not None:
            self.pieces.append(arguments_text(function["arguments"]))

    @property
    def is_whole(self) -> bool:
        """Whether its arguments need no further piece."""
        try:
            json.loads("".join(self.pieces))
        except (ValueError, RecursionError):
            return False
        return True

    @property
    def message_part(self) -> dict[str, Any]:
        """As it stands in the message of a completion."""
        function = {"name": self.name, "arguments": "".join(self.pieces)}
        return {"id": self.id, "type": "function", "function": function}


class Assembly:
    """The chunks of a streamed completion."""

    # Counts come after the reason to finish; the end is a line of its own, which is no JSON and not seen here.
    finished = False

    def __init__(self) -> None:
        self.begun = False
        self.done = False
        self._body: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {"content": [], "refusal": [], "reasoning_content": []}
        self._calls: list[_Call] = []
        self._last: _Call | None = None
        self._legacy: _Call | None = None
        self._finish: Any = None
        self._has_choice = False

    def add(self, event: Any) -> None:
        """Take a chunk; usage comes in one without choices."""
        chunk = mapping(event, API, "a chunk of the stream")
        for key in ("id", "model", "usage"):
            if chunk.get(key) is not None:
                self._body[key] = chunk[key]
        for choice in objects(chunk.get("choices")):
            if index_of(choice.get("index")) == 0:
                self._has_choice = True
                self._delta(fields_of(choice.get("delta")))
                if choice.get("finish_reason") is not None:
                    self._finish = choice["finish_reason"]
                    self.done = True

    def _delta(self, delta: dict[str, Any]) -> None:
        for key, pieces in self._texts.items():
            piece = delta.get(key) or (delta.get("reasoning") if key == "reasoning_content" else None)
            if isinstance(piece, str) and piece:
                pieces.append(piece)
                self.begun = True
        for piece in objects(delta.get("tool_calls")):
            self._last = self._call_of(piece)
            self._last.take(piece)
            self.begun = True
        if isinstance(delta.get("function_call"), dict):
            self._legacy = self._legacy or self._new_call()
            self._legacy.take({"function": delta["function_call"]})
            self.begun = True

    def _call_of(self, piece: dict[str, Any]) -> _Call:
        """The call that a piece belongs to, a new one if need be."""
        place, call_id = piece.get("index"), text_of(piece.get("id"))
        if isinstance(place, int):
            same = next((call for call in self._calls if call.place == place), None)
            return same or self._new_call(place)
        if call_id:
            return next((call for call in self._calls if call.id == call_id), None) or self._new_call()
        name = text_of(fields_of(piece.get("function")).get("name"))
        if self._last is None or (name and (name != self._last.name or self._last.is_whole)):
            return self._new_call()
        return self._last

    def _new_call(self, place: int | None = None) -> _Call:
        after_all = max((call.place for call in self._calls), default=-1) + 1
        call = _Call(after_all if place is None else place)
        self._calls.append(call)
        return call

    def result(self) -> dict[str, Any]:
        """The completion as if it had come in one piece."""
        message: dict[str, Any] = {"role": "assistant"}
        message |= {key: "".join(pieces) for key, pieces in self._texts.items() if pieces}
        if self._calls:
            message["tool_calls"] = [call.message_part for call in sorted(self._calls, key=lambda each: each.place)]
        choice = {"index": 0, "message": message, "finish_reason": self._finish}
        return {**self._body, "choices": [choice] if self._has_choice else []}
