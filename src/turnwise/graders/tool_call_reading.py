"""Tool calls as a model or an agent made them, read from messages. What is malformed is kept as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..conversation.transcript import tool_call_name
from .json_values import NotJson, brief, read_json

if TYPE_CHECKING:
    from ..conversation.chat import ChatMessage

__all__ = ["ToolCall", "calls_in"]

_NAMELESS = "(no name)"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call. `malformed` says why its arguments cannot be read; they are then the text that was written."""

    name: str
    arguments: Any
    malformed: str | None = None

    def as_evidence(self) -> dict[str, Any]:
        """As plain data."""
        said = {"name": self.name[:200], "arguments": brief(self.arguments)}
        return said if self.malformed is None else {**said, "malformed": self.malformed}


def calls_in(messages: Sequence[ChatMessage]) -> Iterator[ToolCall]:
    """The calls of the assistant, in their order.

    >>> list(calls_in([{"role": "assistant", "content": None, "tool_calls": [{"name": "f", "arguments": "{}"}]}]))
    [ToolCall(name='f', arguments={}, malformed=None)]
    """
    for message in messages:
        if message.get("role") == "assistant":
            calls: Any = message.get("tool_calls") or ()
            for call in calls:
                yield _call(call) if isinstance(call, Mapping) else ToolCall(_NAMELESS, call, "the call is no mapping")


def _call(call: Mapping[str, Any]) -> ToolCall:
    function = call.get("function")
    written = (function if isinstance(function, Mapping) else call).get("arguments")
    name = tool_call_name(call) or _NAMELESS
    if isinstance(written, Mapping):
        return ToolCall(name, dict(written))
    if written is None or written == "":
        return ToolCall(name, {})
    try:
        value = read_json(written) if isinstance(written, str) else written
    except NotJson as why:
        return ToolCall(name, written, f"the arguments are not JSON: {why}")
    except RecursionError:
        return ToolCall(name, written, "the arguments are nested too deeply to be read")
    return ToolCall(name, value, None if isinstance(value, dict) else "the arguments are JSON, but no object")
