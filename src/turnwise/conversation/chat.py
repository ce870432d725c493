"""The chat prompt: a conversation as a list of role and content, the way that model APIs take it.

Pure functions of the messages. Nothing here reads the transcript, and the transcript reads nothing from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any, TypedDict

from .values import File, Image, Message, Part, Text, is_blank

__all__ = [
    "DEFAULT_SYSTEM_PROMPT",
    "ChatContent",
    "ChatMessage",
    "ChatPrompt",
    "chat_prompt",
    "guideline_files",
    "part_text",
    "with_system",
]

DEFAULT_SYSTEM_PROMPT = "You are a careful assistant."
GUIDELINES_HEADER = "[[ ## Guidelines ## ]]"

ChatContent = str | list[dict[str, Any]] | None


class _ChatMessageRequired(TypedDict):
    role: str
    content: ChatContent


class ChatMessage(_ChatMessageRequired, total=False):
    """One message as an API takes it; `content` is a list when it holds images, None beside tool calls alone."""

    name: str
    tool_calls: list[dict[str, Any]]
    tool_call_id: str


ChatPrompt = list[ChatMessage]


def chat_prompt(
    messages: Sequence[Message],
    system_prompt: str | None = None,
    default_system_prompt: str | None = None,
) -> ChatPrompt:
    """Convert messages: one system message first (if there is any text for it), then every turn in its place.

    Explicit system messages replace `system_prompt`. `default_system_prompt` is used only where guidelines
    would else stand alone; `with_system` puts it before a prompt that has no system message at all.
    """
    turns: ChatPrompt = []
    system: list[Message] = []
    anything_visible = has_files = False
    for message in messages:
        parts = message.parts
        visible = (parts and isinstance(parts[0], Text)) or message.is_visible
        anything_visible = anything_visible or bool(visible)
        if len(parts) != 1 or not isinstance(parts[0], Text):
            has_files = True
        if message.role == "system":
            system.append(message)
        elif visible:
            turns.append(_turn(message))
    if not anything_visible:
        turns = [_turn(message) for message in messages if message.role != "system" and message.parts]
    guidelines = guideline_files(messages) if has_files else []
    content = _system_content(system, guidelines, system_prompt, default_system_prompt)
    if content:
        turns.insert(0, {"role": "system", "content": content})
    return turns


def with_system(prompt: ChatPrompt, default_system_prompt: str | None) -> ChatPrompt:
    """The prompt as an LLM adapter receives it: with the default system prompt first, unless it has one."""
    if default_system_prompt is None or is_blank(default_system_prompt):
        return prompt
    if any(message["role"] == "system" for message in prompt):
        return prompt
    return [{"role": "system", "content": default_system_prompt}, *prompt]


def guideline_files(messages: Iterable[Message]) -> list[File]:
    """Guidelines in order of first appearance, each file once."""
    found: dict[str, File] = {}
    for message in messages:
        for part in message.parts:
            if isinstance(part, File) and part.guideline:
                found.setdefault(part.path, part)
    return list(found.values())


def part_text(part: Part) -> str:
    """How one part reads inside a message: text as written, a file under its header, a guideline as a marker."""
    if isinstance(part, Text):
        return part.value
    if isinstance(part, File):
        return f"<Attached: {part.written}>" if part.guideline else f"=== {part.written} ===\n{part.content}"
    return f"<Image: {part.label}>"


def _turn(message: Message) -> ChatMessage:
    parts = message.parts
    if len(parts) == 1 and isinstance(parts[0], Text):
        turn: ChatMessage = {"role": message.role, "content": parts[0].value}
    else:
        turn = {"role": message.role, "content": _turn_content(message)}
    if message.name is not None:
        turn["name"] = message.name
    if message.tool_calls:
        turn["tool_calls"] = deepcopy(list(message.tool_calls))
    if message.tool_call_id is not None:
        turn["tool_call_id"] = message.tool_call_id
    return turn


def _turn_content(message: Message) -> ChatContent:
    parts = message.parts
    if not parts:
        return None if message.tool_calls else ""
    return _content([(part, "\n") for part in parts])


def _system_content(
    system: Sequence[Message],
    guidelines: list[File],
    system_prompt: str | None,
    default_system_prompt: str | None,
) -> ChatContent:
    pieces: list[tuple[Part, str]] = []
    for message in system:
        separator = "\n\n"
        for part in message.parts:
            if not (isinstance(part, File) and part.guideline):
                pieces.append((part, separator))
                separator = "\n"
    if not pieces and system_prompt is not None and not is_blank(system_prompt):
        pieces.append((Text(system_prompt), ""))
    if guidelines:
        if not pieces and default_system_prompt is not None and not is_blank(default_system_prompt):
            pieces.append((Text(default_system_prompt), ""))
        pieces.append((Text(f"{GUIDELINES_HEADER}\n\n{_guideline_text(guidelines)}"), "\n\n"))
    return _content(pieces)


def _guideline_text(files: list[File]) -> str:
    if len(files) == 1:
        return files[0].content
    return "\n\n".join(f"=== {file.written} ===\n{file.content}" for file in files)


def _content(pieces: list[tuple[Part, str]]) -> ChatContent:
    """Join parts, each with the separator that stands before it; a list as soon as there is an image."""
    content: list[dict[str, Any]] = []
    text: str | None = None
    for part, separator in pieces:
        if isinstance(part, Image):
            if text is not None:
                content.append({"type": "text", "text": text})
                text = None
            content.append(_image(part))
        else:
            text = part_text(part) if text is None else text + separator + part_text(part)
    if not content:
        return text or ""
    if text is not None:
        content.append({"type": "text", "text": text})
    return content


def _image(image: Image) -> dict[str, Any]:
    return {"type": "image", "value": image.label, "media_type": image.media_type, "data": image.data}
