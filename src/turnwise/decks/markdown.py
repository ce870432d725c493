"""The little of Markdown that decks need: front matter, and references outside of code."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

__all__ = ["Body", "Reference", "references", "split_front_matter"]

_FENCE = re.compile(r"[ \t]*(?:>[ \t]*|[-*+][ \t]+|\d{1,9}[.)][ \t]+)*(`{3,}(?=[^`]*$)|~{3,})")
_CLOSING_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*$")
# Escapes and code spans come first, so that what looks like a reference inside them is not one.
_TOKEN = re.compile(
    r"\\.|(?P<ticks>`+)"
    r"|!\[[^\[\]\n]{0,500}\]\((?P<target>[^()\n]{0,1000}(?:\([^()\n]{0,200}\)[^()\n]{0,200}){0,3})\)"
)
_TICKS = re.compile("`+")
_TITLE = re.compile(r"""\s+(?:"[^"]*"|'[^']*')$""")
_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:")


class Reference(NamedTuple):
    """`![…](target)` in a text: where it is, and the path without fragment, as a file system knows it."""

    start: int
    end: int
    target: str

    @property
    def is_url(self) -> bool:
        """Whether it leads out of the file system."""
        return bool(_URL.match(self.target)) or self.target.startswith("//")

    @property
    def ending(self) -> str:
        """The lower-case ending of the file's name, with its dot."""
        name = self.target.rsplit("/", 1)[-1]
        return "." + name.rsplit(".", 1)[1].lower() if "." in name else ""


class Body(NamedTuple):
    """A Markdown text in two: the front matter (None without), and the rest with the number of its first line."""

    front_matter: str | None
    text: str
    first_line: int


def split_front_matter(text: str) -> Body | None:
    """Take the TOML between two `+++` lines off the top. None if the second line is missing.

    >>> split_front_matter("+++\\na = 1\\n+++\\nHello")
    Body(front_matter='a = 1', text='Hello', first_line=4)
    """
    lines = text.split("\n")
    if lines[0].rstrip() != "+++":
        return Body(None, text, 1)
    for index in range(1, len(lines)):
        if lines[index].rstrip() == "+++":
            return Body("\n".join(lines[1:index]), "\n".join(lines[index + 1 :]), index + 2)
    return None


def references(text: str) -> Iterator[Reference]:
    """Every `![…](target)` outside of code, in order.

    >>> [found.target for found in references("![a](b.md#top) `![c](d.md)`")]
    ['b.md']
    """
    offset = 0
    fence: str | None = None
    for line in text.split("\n"):
        if fence is not None:
            closing = _CLOSING_FENCE.match(line)
            if closing and closing[1].startswith(fence):
                fence = None
        elif opening := _FENCE.match(line):
            fence = opening[1]
        elif "![" in line:
            yield from _in_line(line, offset)
        offset += len(line) + 1


def _in_line(line: str, offset: int) -> Iterator[Reference]:
    # A code span ends at the next run of as many backticks; all runs are found once, for lines full of them.
    runs: dict[int, list[int]] = {}
    for run in _TICKS.finditer(line):
        runs.setdefault(len(run[0]), []).append(run.start())
    position = 0
    while (match := _TOKEN.search(line, position)) is not None:
        position = match.end()
        if match["ticks"] is not None:
            length = len(match["ticks"])
            starts = runs.get(length, [])
            index = bisect_left(starts, position)
            if index < len(starts):
                position = starts[index] + length
        elif match["target"] is not None:
            yield Reference(offset + match.start(), offset + match.end(), _path(match["target"]))


def _path(written: str) -> str:
    path = _TITLE.sub("", written.strip())
    if path.startswith("<") and path.endswith(">"):
        path = path[1:-1]
    return unquote(path.split("#", 1)[0]).strip()
