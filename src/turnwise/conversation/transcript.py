"""The transcript: a conversation as text for people, judges and agents.

Pure functions of the messages. Nothing here reads the chat prompt, and the chat prompt reads nothing from here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from .values import File, Image, Message, Text

__all__ = ["role_marker", "tool_call_line", "tool_call_name", "transcript"]


def transcript(messages: Sequence[Message]) -> str:
    """The question as a person reads it: flat for a lone question, else with a `[Role]:` line above each turn.

    >>> transcript([Message("user", (Text("Hi"),)), Message("assistant", (Text("Hello"),))])
    '[User]:\\nHi\\n\\n[Assistant]:\\nHello'
    """
    visible = [
        message
        for message in messages
        if (message.parts and isinstance(message.parts[0], Text)) or message.is_visible  # mostly decided by the first
    ]
    nothing_visible = not visible
    if nothing_visible:
        visible = [message for message in messages if message.parts]
    if _is_flat(messages, visible):
        return "\n\n".join(_body(message, markers=nothing_visible) for message in visible)
    return "\n\n".join(f"{role_marker(message.role)}\n{_body(message, markers=True)}" for message in visible)


@lru_cache(maxsize=128)
def role_marker(role: str) -> str:
    """The line above a turn.

    >>> role_marker("user")
    '[User]:'
    """
    return f"[{role[:1].upper()}{role[1:]}]:"


def tool_call_name(call: Mapping[str, Any]) -> str | None:
    """The name of the function that a tool call asks for, in any of the usual spellings."""
    function = call.get("function")
    name = function.get("name") if isinstance(function, Mapping) else call.get("name")
    return name if isinstance(name, str) and name else None


def _is_flat(messages: Sequence[Message], visible: Sequence[Message]) -> bool:
    for message in messages:
        if message.role != "user" and message.role != "system":
            return False
    if len(visible) < 2:
        return True
    return len(visible) == 2 and visible[0].role == "system" and visible[1].role == "user"


def _body(message: Message, markers: bool) -> str:
    parts = message.parts
    if len(parts) == 1 and isinstance(parts[0], Text) and not message.tool_calls:
        return parts[0].value
    lines: list[str] = []
    for part in parts:
        if isinstance(part, Text):
            lines.append(part.value)
        elif isinstance(part, Image):
            lines.append(f"<Image: {part.label}>")
        elif not part.guideline:
            lines.append(_file_block(part))
        elif markers:
            lines.append(f"<Attached: {part.written}>")
    lines.extend(tool_call_line(call) for call in message.tool_calls)
    return "\n".join(lines)


def _file_block(file: File) -> str:
    return f"=== {file.written} ===\n{file.content}"


def tool_call_line(call: Mapping[str, Any]) -> str:
    """How a tool call reads in a transcript."""
    holder = call.get("function")
    if not isinstance(holder, Mapping):
        holder = call
    arguments = holder.get("arguments", holder.get("input", ""))
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    return f"Tool call: {tool_call_name(call) or ''}({arguments})"
