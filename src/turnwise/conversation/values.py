"""What was said, as plain values: the parts of a message, with files already read.

Nothing changes a value once it is made. `Text` and `Message` are not frozen all the same: there is one for every
turn of every case, and a frozen one takes five times as long to make.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["File", "Image", "Message", "Part", "Text", "is_blank"]


@dataclass(slots=True)
class Text:
    """Words as the author wrote them: nothing trimmed, nothing filled in later."""

    value: str


@dataclass(frozen=True, slots=True)
class File:
    """A text file that was read.

    Two files are the same file when their `path` is the same; `written` is only how a message spelled it,
    and it is what people and models see.
    """

    written: str
    path: str
    content: str
    guideline: bool = False


@dataclass(frozen=True, slots=True)
class Image:
    """An image that was read: `data` is base64. `path` is None for a data URL."""

    written: str
    path: str | None
    media_type: str
    data: str

    @property
    def label(self) -> str:
        """What people see in its place: the written path, or the type of a data URL."""
        return self.written if self.path is not None else f"data:{self.media_type}"


Part = Text | File | Image


@dataclass(slots=True)
class Message:
    """One turn. `parts` holds no blank text: white space alone is no part of what was said."""

    role: str
    parts: tuple[Part, ...] = ()
    name: str | None = None
    tool_calls: tuple[dict[str, Any], ...] = ()
    tool_call_id: str | None = None

    @property
    def is_visible(self) -> bool:
        """Whether it says anything besides referring to guidelines."""
        if self.tool_calls or (self.role == "tool" and self.tool_call_id is not None):
            return True
        for part in self.parts:  # noqa: SIM110  (a generator would double the time)
            if not (isinstance(part, File) and part.guideline):
                return True
        return False


def is_blank(text: str) -> bool:
    """Whether a text is empty or white space only.

    >>> is_blank(" \\n"), is_blank("a")
    (True, False)
    """
    return not text or text.isspace()
