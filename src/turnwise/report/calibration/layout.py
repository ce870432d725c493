"""Text in columns of a terminal: wrapped, padded and set side by side by the room that letters take there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple, Protocol

__all__ = ["UNBROKEN", "Line", "Style", "middle_cut", "padded", "room", "side_by_side", "wrapped"]

_BETWEEN = " │ "
UNBROKEN = "\u00a0"
"""A space at which no line ends."""


class Style(Protocol):
    """Gives a text a colour, or does not."""

    def __call__(self, text: str, colour: str | None = None, *, bold: bool = False) -> str: ...


class Line(NamedTuple):
    """A line without its colour, which must not count as letters."""

    text: str
    colour: str | None = None
    bold: bool = False


def room(text: str) -> int:
    """The columns that a text takes: some letters take two, some none."""
    from rich.cells import cell_len

    return cell_len(text)


def padded(text: str, width: int, *, right: bool = False) -> str:
    """The text with spaces up to a width."""
    spaces = " " * (width - room(text))
    return spaces + text if right else text + spaces


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """The text in lines that fit; what continues a line of it is indented, and its own line breaks are kept.

    >>> wrapped("one two three", 9, "  ")
    ['one two', '  three']
    """
    least = max(width, len(indent) + 2)
    lines = [line for each in text.split("\n") for line in _lines(each, least, indent)]
    return [line.replace(UNBROKEN, " ") for line in lines]


def _lines(text: str, width: int, indent: str) -> Iterator[str]:
    words = text.lstrip(" ")
    line = " " * min(len(text) - len(words), width // 2)
    for word in words.split(" "):
        longer = f"{line} {word}" if line.strip() else line + word
        if room(longer) <= width:
            line = longer
            continue
        if line.strip():
            yield line.rstrip()
            line = indent
        for piece in _pieces(word, width - max(room(line), len(indent))):
            if line.strip():
                yield line
                line = indent
            line += piece
    yield line.rstrip()


def _pieces(word: str, width: int) -> Iterator[str]:
    """A word that is too long for a line, in pieces that are not."""
    piece, taken = "", 0
    for letter in word:
        needs = room(letter)
        if taken + needs > width and piece:
            yield piece
            piece, taken = "", 0
        piece, taken = piece + letter, taken + needs
    yield piece


def side_by_side(left: Sequence[Line], right: Sequence[Line], width: int, style: Style) -> list[str]:
    """Two columns of lines that are already wrapped to `width` each."""
    rows = zip_longest(left, right, fillvalue=Line(""))
    return [(_styled(one, style, width) + _BETWEEN + _styled(other, style)).rstrip() for one, other in rows]


def _styled(line: Line, style: Style, width: int = 0) -> str:
    shown = style(line.text, line.colour, bold=line.bold) if line.colour or line.bold else line.text
    return shown + " " * max(0, width - room(line.text))


def middle_cut(text: str, width: int) -> str:
    """The text in at most `width` columns, both ends kept.

    >>> middle_cut("evals/support/refunds", 11)
    'evals…funds'
    """
    if room(text) <= width:
        return text
    front, back = text[:width], text[-width:]
    while room(front) > (width - 1) // 2:
        front = front[:-1]
    while room(back) > width - 1 - room(front):
        back = back[1:]
    return f"{front}…{back}"
