"""Small changes to a text of which every other character must stay."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["Edit", "edited", "end_of_line", "line_before", "line_end_of"]


class Edit(NamedTuple):
    """`new` takes the place of the characters from `start` to `end`."""

    start: int
    end: int
    new: str


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with all of the edits, which must not overlap.

    >>> edited("abc", [Edit(0, 1, "A"), Edit(3, 3, "!")])
    'Abc!'
    """
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.new + text[edit.end :]
    return text


def end_of_line(text: str, offset: int) -> int:
    """Where the line of that offset ends, its line break left out."""
    end = text.find("\n", offset)
    if end < 0:
        return len(text)
    return end - 1 if end > offset and text[end - 1] == "\r" else end


def line_before(text: str, offset: int) -> str:
    """What stands before the offset in its line."""
    return text[text.rfind("\n", 0, offset) + 1 : offset]


def line_end_of(text: str) -> str:
    """The line break that the text uses."""
    return "\r\n" if "\r\n" in text else "\n"
