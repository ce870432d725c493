"""What is legal but probably not meant, or refused by some API: warnings about a conversation, never changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .chat import GUIDELINES_HEADER
from .transcript import role_marker
from .values import Message, Text

__all__ = ["Finding", "lint"]

_COMMON_ROLES = ("system", "user", "assistant", "tool", "developer")
_MARKER_HINT = "readers of the transcript cannot tell it from Turnwise's own marker; reword it if that matters"


class Finding(NamedTuple):
    """A warning about one message, counted from 0 (None: about the whole conversation)."""

    message_index: int | None
    code: str
    message: str
    hint: str


def lint(messages: Sequence[Message]) -> list[Finding]:
    """All warnings about a conversation, in the order of its messages."""
    visible = [index for index, message in enumerate(messages) if message.is_visible]
    shown = visible or [index for index, message in enumerate(messages) if message.parts]
    findings = [*_whole(messages, shown), *_tool_answers(messages)]
    marker_lines = {role_marker(role) for role in (*_COMMON_ROLES, *(message.role for message in messages))}
    for index, message in enumerate(messages):
        findings += _turn(index, message, bool(visible))
        for part in message.parts:
            if isinstance(part, Text):
                findings += _markers(index, part.value, marker_lines)
    return sorted(findings, key=lambda finding: -1 if finding.message_index is None else finding.message_index)


def _whole(messages: Sequence[Message], shown: Sequence[int]) -> Iterator[Finding]:
    turns = [(index, messages[index]) for index in shown if messages[index].role not in ("system", "developer")]
    if not any(message.role == "user" for _, message in turns):
        yield Finding(
            None,
            "no-user-turn",
            "the conversation has no user turn",
            "some APIs (Anthropic, Gemini) refuse it",
        )
    if turns and turns[-1][1].role == "assistant":
        yield Finding(
            turns[-1][0],
            "assistant-last",
            "the last turn is the assistant's own",
            "some APIs refuse it, others continue that turn; end with the turn that is to be answered",
        )


def _turn(index: int, message: Message, anything_visible: bool) -> Iterator[Finding]:
    if not message.is_visible:
        if not message.parts:
            yield Finding(
                index,
                "blank-message",
                f"a blank {message.role} message is not sent",
                "write text or remove it",
            )
        elif message.role != "system" and anything_visible:
            yield Finding(
                index,
                "guideline-only-message",
                f"this {message.role} message holds only guidelines, which move to the system text: no turn is sent",
                "add text to the message if the model is to see a turn here",
            )
    if message.role == "system" and (message.tool_calls or message.name or message.tool_call_id):
        yield Finding(
            index,
            "system-extras",
            "system messages are merged into one text: `name`, `tool_calls` and `tool_call_id` are not sent",
            "remove them, or use another role",
        )
    folded = message.role.strip().lower()
    if message.role != folded and folded in _COMMON_ROLES:
        yield Finding(
            index,
            "role-spelling",
            f"the role {message.role!r} is not {folded!r}",
            f"write `role: {folded}` if that is meant",
        )


def _tool_answers(messages: Sequence[Message]) -> Iterator[Finding]:
    """Calls and their answers must match, or no API takes them in their native form."""
    open_calls: dict[str, int] = {}
    for index, message in enumerate(messages):
        if message.role == "tool":
            call_id = message.tool_call_id
            if call_id is None or call_id not in open_calls:
                what = "has no `tool_call_id`" if call_id is None else f"answers {call_id!r}, which no open call has"
                yield Finding(
                    index,
                    "tool-without-call",
                    f"this tool message {what}",
                    "it will be sent as a user turn that starts `[Tool]:`; add the call to an assistant turn before it",
                )
            else:
                del open_calls[call_id]
        for call in message.tool_calls:
            call_id = call.get("id")
            if isinstance(call_id, str):
                open_calls[call_id] = index
    for call_id, index in open_calls.items():
        if index < len(messages) - 1:
            yield Finding(
                index,
                "call-without-answer",
                f"the tool call {call_id!r} is never answered",
                "add a `tool` message for it",
            )


def _markers(index: int, text: str, marker_lines: set[str]) -> Iterator[Finding]:
    if "]:" in text:
        for line in text.split("\n"):
            if line.strip() in marker_lines:
                yield Finding(index, "marker-in-text", f"the text holds the line `{line.strip()}`", _MARKER_HINT)
                break
    for opening in ("<Attached: ", "<Image: "):
        if opening in text:
            yield Finding(index, "marker-in-text", f"the text holds `{opening.strip()} …>`", _MARKER_HINT)
    if GUIDELINES_HEADER in text:
        yield Finding(index, "marker-in-text", f"the text holds `{GUIDELINES_HEADER}`", _MARKER_HINT)
    if "===" in text and re.search(r"^=== \S.* ===$", text, re.MULTILINE):
        yield Finding(index, "marker-in-text", "the text holds a line of the form `=== name ===`", _MARKER_HINT)
