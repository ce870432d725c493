"""What each case sends: as data, byte for byte, and as text that a person can read in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..conversation.chat import GUIDELINES_HEADER, ChatMessage, ChatPrompt, with_system
from ..conversation.conversation import Conversation
from ..conversation.transcript import tool_call_line
from ..conversation.values import File
from ..diagnostics import Diagnostic
from ..suite.case import Case
from ..suite.check import case_warnings
from .diagnostics import as_record, as_text
from .terminal import Style, one_line, plain, printable

if TYPE_CHECKING:
    from ..providers.base import Preview

__all__ = ["Sent", "prompt_record", "prompt_text"]

_ROLE_COLOURS = {"system": "magenta", "user": "green", "assistant": "blue", "tool": "yellow"}
_FOLD_FROM = 8
_SHOWN_LINES = 3


def prompt_record(
    case: Case,
    suite: str,
    errors: Sequence[Diagnostic] = (),
    known: Iterable[Diagnostic] = (),
    sent: Sent | None = None,
    *,
    variant: str | None = None,
) -> dict[str, Any]:
    """Everything that a case sends, or its `error`. `errors` are those of the case, `known` the warnings that
    loading its suite gave, `sent` what goes to a target, `variant` the name of the one that the case is asked by."""
    head = {"id": case.id, "suite": suite, **({"variant": variant} if variant is not None else {})}
    if errors:
        return {
            **head,
            "error": "\n".join(diagnostic.message for diagnostic in errors),
            "diagnostics": [as_record(diagnostic) for diagnostic in (*known, *errors)],
        }
    conversation = case.conversation
    default = case.context.default_system_prompt
    chat_prompt = conversation.chat_prompt(default_system_prompt=default)
    record: dict[str, Any] = {
        **head,
        "chat_prompt": chat_prompt,
        "question": conversation.transcript(),
        "guidelines": conversation.guidelines,
        "messages": with_system(chat_prompt, default),
        "files": _files(conversation),
        "diagnostics": [as_record(diagnostic) for diagnostic in (*known, *case_warnings(case))],
    }
    if sent is not None:
        from .request import request_record

        record |= {"target": sent.target, "chat_prompt": sent.chat_prompt, "messages": list(sent.preview.messages)}
        record |= request_record(sent.preview)
    if case.is_live:
        from .live_prompt import live_record

        record["live"] = live_record(case)
    return record


@dataclass(frozen=True)
class Sent:
    """What a case sends to one target."""

    target: str
    chat_prompt: ChatPrompt
    preview: Preview


def prompt_text(
    case: Case,
    errors: Sequence[Diagnostic] = (),
    known: Iterable[Diagnostic] = (),
    *,
    style: Style = plain,
    full: bool = False,
    view: str = "messages",
    sent: Sent | None = None,
    variant: str | None = None,
) -> str:
    """The same for a terminal: roles coloured, long files folded unless `full`.

    `view` is `messages`, `question` for the transcript, or `request` for what goes over the wire.
    """
    line = case.place.line
    where = one_line(f"{case.source.file}:{line}" if line is not None else case.source.file)
    name = one_line(case.id if variant is None else f"{case.id} [{variant}]")
    blocks = [f"{style(f'── {name}', 'cyan', bold=True)}  {style(where, 'grey')}"]
    if errors:
        blocks += [as_text(diagnostic, style) for diagnostic in (*known, *errors)]
        return "\n".join(blocks) + "\n"
    conversation = case.conversation
    folds = [] if full else _folds(conversation)
    if view == "question":
        blocks.append(_indented(_folded(conversation.transcript(), folds)))
    elif view == "request" and sent is not None and sent.preview.request is not None:
        from .request import request_text

        blocks.append(request_text(sent.preview, style=style, full=full))
    else:
        default = case.context.default_system_prompt
        messages: Sequence[ChatMessage] = (
            with_system(conversation.chat_prompt(default_system_prompt=default), default)
            if sent is None
            else sent.preview.messages
        )
        blocks += [_message_text(message, folds, style) for message in messages]
        if view == "request":
            blocks.append(style("(the target gets these messages; nothing goes over HTTP)", "grey"))
    if case.is_live:
        from .live_prompt import live_lines

        blocks += live_lines(case, style)
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
    lines = [style(f"[{one_line(label)}]", _ROLE_COLOURS.get(role, "cyan"), bold=True)]
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    for part in parts:
        if part["type"] == "text":
            lines.append(_indented(_folded(part["text"], folds)))
        else:
            lines.append(
                f"  <Image: {one_line(part['value'])}> ({part['media_type']}, {len(part['data']) * 3 // 4:,} bytes)"
            )
    for call in message.get("tool_calls", []):
        call_id = f"  {call['id']}" if isinstance(call.get("id"), str) else ""
        lines.append(f"  {one_line(tool_call_line(call))}{style(one_line(call_id), 'grey')}")
    return "\n".join(lines)


def _folds(conversation: Conversation) -> list[tuple[str, str]]:
    """The blocks of long files, each with what stands in for it."""
    folds: list[tuple[str, str]] = []
    for file in (part for message in conversation.messages for part in message.parts):
        if isinstance(file, File):
            lines = file.content.split("\n")
            if len(lines) > _FOLD_FROM:
                rest = len(lines) - _SHOWN_LINES
                short = "\n".join([*lines[:_SHOWN_LINES], f"… {rest} more lines (--full shows them)"])
                headers = [f"=== {file.written} ===\n", *([f"{GUIDELINES_HEADER}\n\n"] if file.guideline else [])]
                folds += [(header + file.content, header + short) for header in headers]
    return folds


def _folded(text: str, folds: list[tuple[str, str]]) -> str:
    for content, short in folds:
        text = text.replace(content, short)
    return text


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in printable(text).split("\n"))
