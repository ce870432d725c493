"""What each case sends: as data, byte for byte, and as text that a person can read in a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ..conversation.chat import ChatMessage, with_system
from ..conversation.conversation import Conversation
from ..conversation.transcript import tool_call_name
from ..conversation.values import File
from ..diagnostics import Diagnostic
from ..suite.case import Case
from ..suite.check import case_errors, case_warnings
from .diagnostics import as_record, as_text
from .terminal import Style, plain, printable

__all__ = ["prompt_record", "prompt_text"]

_ROLE_COLOURS = {"system": "magenta", "user": "green", "assistant": "blue", "tool": "yellow"}
_FOLD_FROM = 8
_SHOWN_LINES = 3


def prompt_record(case: Case, suite: str, known: Iterable[Diagnostic] = ()) -> dict[str, Any]:
    """Everything that a case sends, or its `error`. `known` are warnings that loading the suite gave."""
    errors = case_errors(case)
    if errors:
        return {
            "id": case.id,
            "suite": suite,
            "error": "\n".join(diagnostic.message for diagnostic in errors),
            "diagnostics": [as_record(diagnostic) for diagnostic in (*known, *errors)],
        }
    conversation = case.conversation
    default = case.context.default_system_prompt
    chat_prompt = conversation.chat_prompt(default_system_prompt=default)
    return {
        "id": case.id,
        "suite": suite,
        "chat_prompt": chat_prompt,
        "question": conversation.transcript(),
        "guidelines": conversation.guidelines,
        "messages": with_system(chat_prompt, default),
        "files": _files(conversation),
        "diagnostics": [as_record(diagnostic) for diagnostic in (*known, *case_warnings(case))],
    }


def prompt_text(
    case: Case,
    known: Iterable[Diagnostic] = (),
    *,
    style: Style = plain,
    full: bool = False,
    question: bool = False,
) -> str:
    """The same for a terminal: roles coloured, long files folded unless `full`; `question` shows the transcript."""
    line = case.place.line
    where = f"{case.source.file}:{line}" if line is not None else case.source.file
    blocks = [f"{style(f'── {printable(case.id)}', 'cyan', bold=True)}  {style(where, 'grey')}"]
    errors = case_errors(case)
    if errors:
        blocks += [as_text(diagnostic, style) for diagnostic in errors]
        return "\n".join(blocks) + "\n"
    conversation = case.conversation
    folds = [] if full else _folds(conversation)
    if question:
        blocks.append(_indented(_folded(conversation.transcript(), folds)))
    else:
        default = case.context.default_system_prompt
        messages = with_system(conversation.chat_prompt(default_system_prompt=default), default)
        blocks += [_message_text(message, folds, style) for message in messages]
    blocks += [as_text(diagnostic, style) for diagnostic in (*known, *case_warnings(case))]
    return "\n".join(blocks) + "\n"


def _files(conversation: Conversation) -> list[dict[str, Any]]:
    """One entry a file: as written, where it is from the project root, and what became of it."""
    return [
        {
            "written": file.written if isinstance(file, File) else file.label,
            "path": file.path,
            "type": ("guideline" if file.guideline else "file") if isinstance(file, File) else "image",
        }
        for file in conversation.files
    ]


def _message_text(message: ChatMessage, folds: list[tuple[str, str]], style: Style) -> str:
    role = message["role"]
    label = f"{role} ({message['name']})" if "name" in message else role
    if "tool_call_id" in message:
        label += f" → {message['tool_call_id']}"
    lines = [style(f"[{printable(label)}]", _ROLE_COLOURS.get(role, "cyan"), bold=True)]
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    for part in parts:
        if part["type"] == "text":
            lines.append(_indented(_folded(part["text"], folds)))
        else:
            lines.append(
                f"  <Image: {printable(part['value'])}> ({part['media_type']}, {len(part['data']) * 3 // 4:,} bytes)"
            )
    for call in message.get("tool_calls", []):
        shown = json.dumps(call.get("function", call), ensure_ascii=False)
        lines.append(f"  {style('tool call', 'yellow')} {printable(tool_call_name(call) or '')} {printable(shown)}")
    return "\n".join(lines)


def _folds(conversation: Conversation) -> list[tuple[str, str]]:
    """The contents of long files, each with what stands in for it."""
    folds = []
    for file in conversation.files:
        if isinstance(file, File):
            lines = file.content.split("\n")
            if len(lines) > _FOLD_FROM:
                rest = len(lines) - _SHOWN_LINES
                folds.append(
                    (
                        file.content,
                        "\n".join([*lines[:_SHOWN_LINES], f"… {rest} more lines (--full shows them)"]),
                    )
                )
    return folds


def _folded(text: str, folds: list[tuple[str, str]]) -> str:
    for content, short in folds:
        text = text.replace(content, short)
    return text


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in printable(text).split("\n"))
