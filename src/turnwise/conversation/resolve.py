"""From authored messages to a conversation: files are read here, once, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import FileReferenceError, Problem, ResolutionError
from .authored import FileSegment, MessageDict, Segment, TextSegment
from .conversation import Conversation
from .files import ProjectFiles
from .guidelines import GuidelinePatterns
from .images import read_image
from .values import File, Message, Part, Text, is_blank

__all__ = ["resolve", "resolve_messages"]


def resolve(
    messages: Sequence[MessageDict],
    *,
    files: ProjectFiles,
    guidelines: GuidelinePatterns,
    folder: Path,
    system_prompt: str | None = None,
) -> Conversation:
    """Read every file that the messages refer to; raises one `ResolutionError` with all that cannot be read."""
    return Conversation(
        resolve_messages(messages, "input_messages", files=files, guidelines=guidelines, folder=folder),
        system_prompt,
    )


def resolve_messages(
    messages: Sequence[MessageDict],
    field: str,
    *,
    files: ProjectFiles,
    guidelines: GuidelinePatterns,
    folder: Path,
) -> tuple[Message, ...]:
    """The same for one list of messages; `field` is its name in the case, for the problems' paths."""
    resolved: list[Message] = []
    problems: list[Problem] = []
    for index, message in enumerate(messages):
        content = message.get("content")
        parts: tuple[Part, ...]
        if isinstance(content, str):
            parts = (Text(content),) if content and not content.isspace() else ()
        else:
            parts = tuple(_parts(content or (), (field, index, "content"), problems, files, guidelines, folder))
        if len(message) == 2 and "content" in message:  # a role and a content, as nearly always
            resolved.append(Message(message["role"], parts))
        else:
            calls = tuple(message.get("tool_calls") or ())
            resolved.append(Message(message["role"], parts, message.get("name"), calls, message.get("tool_call_id")))
    if problems:
        raise ResolutionError(problems)
    return tuple(resolved)


def _parts(
    segments: Sequence[Segment],
    path: tuple[str | int, ...],
    problems: list[Problem],
    files: ProjectFiles,
    guidelines: GuidelinePatterns,
    folder: Path,
) -> Iterator[Part]:
    """The parts of a message; what cannot be read is added to `problems`."""
    for position, segment in enumerate(segments):
        try:
            part = _part(segment, files, guidelines, folder)
        except FileReferenceError as error:
            problems.append(Problem((*path, position, "value"), f"file-{error.kind}", str(error), error.hint))
            continue
        if part is not None:
            yield part


def _part(segment: Segment, files: ProjectFiles, guidelines: GuidelinePatterns, folder: Path) -> Part | None:
    """One part of a message, or None for a blank text."""
    if isinstance(segment, str):
        return None if is_blank(segment) else Text(segment)
    if isinstance(segment, TextSegment):
        text = segment.value if segment.value is not None else segment.text or ""
        return None if is_blank(text) else Text(text)
    if isinstance(segment, FileSegment):
        path, content = files.read_text(segment.value, folder)
        return File(segment.value, path, content, guidelines.matches(path))
    return read_image(segment.value, files, folder)
