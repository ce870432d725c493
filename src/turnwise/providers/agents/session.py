"""What an agent said and did, in our own form, whatever stream it was read from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from ...conversation.chat import ChatMessage
from ..base import Usage
from .fields import json_text

__all__ = ["Session", "event_lines", "tool_call", "tool_result"]


@dataclass(slots=True, kw_only=True)
class Session:
    """All that a stream tells. `text` is the final answer, None if there was none; `failure` is the agent's own word
    for what went wrong; `malformed` shows the first line that should be JSON and is not, and `misfit` says what else
    it wrote that is no answer. `trouble` is why it tried again, which says more if it never came to an end; `is_torn`
    says that the stream has no end. None of these is cut: secrets are taken out of them first. `called` are the ids of
    all calls."""

    text: str | None = None
    messages: list[ChatMessage] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    model: str | None = None
    session_id: str | None = None
    failure: str | None = None
    malformed: str | None = None
    misfit: str | None = None
    trouble: str | None = None
    is_torn: bool = False
    called: set[str] = field(default_factory=set, repr=False, compare=False)

    def spent(self) -> dict[str, Any]:
        """What was said and used, as results have it."""
        used = asdict(self.usage)
        known = any(number is not None for number in used.values())
        return {"output_messages": self.messages, "usage": used if known else None, "cost_usd": self.cost_usd}

    def say(self, text: str) -> None:
        """Add what the agent said."""
        self.messages.append({"role": "assistant", "content": text})

    def answer(self, piece: str, *, goes_on: bool) -> None:
        """Add a piece of what may be the answer: to the message before it, or as one of its own."""
        if goes_on:
            last = self.messages[-1]
            last["content"] = self.text = f"{last['content']}{piece}"
        else:
            self.text = piece
            self.say(piece)

    def call(self, call_id: str, name: str, arguments: Any) -> None:
        """Add a tool call to what the agent said last, or as a turn of its own after a result."""
        self.called.add(call_id)
        last = self.messages[-1] if self.messages else None
        if last is None or last["role"] != "assistant":
            last = {"role": "assistant", "content": None}
            self.messages.append(last)
        last.setdefault("tool_calls", []).append(tool_call(call_id, name, arguments))

    def result(self, call_id: str, content: str) -> None:
        """Add the result of a call."""
        self.messages.append(tool_result(call_id, content))

    def result_of(self, call_id: str, content: str) -> None:
        """The same for a stream that tells calls and results apart: a result of no call is nobody's."""
        if call_id in self.called:
            self.result(call_id, content)


def tool_call(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    """A call in the form of messages, whose arguments are JSON text."""
    written = arguments if isinstance(arguments, str) else json_text(arguments)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": written}}


def tool_result(call_id: str, content: str) -> ChatMessage:
    """A result in the form of messages."""
    return {"role": "tool", "content": content, "tool_call_id": call_id}


def event_lines(output: bytes, session: Session) -> Iterator[dict[str, Any]]:
    """The JSON objects of a stream, one a line. Other words on a line are noise; half an object is not, and is kept as
    `malformed`.

    >>> session = Session()
    >>> list(event_lines(b'Warning: old\\n{"type": "a"}\\n{"type": "b', session)), session.malformed
    ([{'type': 'a'}], '{"type": "b')
    """
    for line in output.decode("utf-8", "replace").split("\n"):
        if not line.lstrip().startswith("{"):
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            session.malformed = session.malformed or line.strip()
            continue
        if isinstance(event, dict):
            yield event
