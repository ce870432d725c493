"""A streamed answer of Anthropic's Messages API: its events, put together to a message."""

from __future__ import annotations

from typing import Any

from .base import fields_of, index_of, mapping, text_of
from .tools import arguments_of

__all__ = ["API", "Assembly"]

API = "the Messages API"

_DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


class Assembly:
    """The events of a streamed message: its frame, then each block in pieces."""

    def __init__(self) -> None:
        self.begun = False
        self.done = False
        self.finished = False
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[tuple[int, str], list[str]] = {}

    def add(self, event: Any) -> None:
        """Take an event; kinds that are not known are passed over, as the API asks."""
        data = mapping(event, API, "an event of the stream")
        kind = data.get("type")
        if kind == "message_start":
            self._message = dict(mapping(data.get("message"), API, "the start of the stream"))
        elif kind == "content_block_start":
            block = mapping(data.get("content_block"), API, "a block of the stream")
            self._blocks[index_of(data.get("index"))] = dict(block)
        elif kind == "content_block_delta":
            self._delta(index_of(data.get("index")), mapping(data.get("delta"), API, "a piece of the stream"))
        elif kind == "message_delta":
            # The last counts are totals; those that are left open keep what the start said.
            counts = {key: value for key, value in fields_of(data.get("usage")).items() if value is not None}
            usage = {**fields_of(self._message.get("usage")), **counts}
            self._message |= {**mapping(data.get("delta"), API, "the end of the stream"), "usage": usage}
        elif kind == "message_stop":
            self.done = self.finished = True

    def _delta(self, index: int, delta: dict[str, Any]) -> None:
        key = _DELTAS.get(text_of(delta.get("type")) or "")
        if key is not None:
            self._blocks.setdefault(index, {"type": "text", "text": ""})
            self._pieces.setdefault((index, key), []).append(text_of(delta.get(key)) or "")
            self.begun = True

    def result(self) -> dict[str, Any]:
        """The message as if it had come in one piece."""
        for (index, key), pieces in self._pieces.items():
            block = self._blocks[index]
            if key != "partial_json":
                block[key] = (text_of(block.get(key)) or "") + "".join(pieces)
                continue
            block["input"] = arguments_of("".join(pieces))
        return {**self._message, "content": [block for _, block in sorted(self._blocks.items())]}
