"""Here-documents in a text for a shell: where they begin and end. Pure."""

from __future__ import annotations

import re

__all__ = ["OPENING", "HereDocuments"]

OPENING = re.compile(
    r"<<(?P<dash>-?)[ \t]*(?:'(?P<single>[^'\n]+)'|\"(?P<double>[^\"\n\\$`]+)\"|"
    r"\\(?P<escaped>[\w.-]+)|(?P<bare>[\w.-]+))"
    r"(?=[ \t\n;&|<>)]|\Z)"
)
"""`<<` and a word that nobody can misread."""

# What a shell fills in, and reads across lines, where the word is not quoted.
_ONE_LINE = re.compile(r"\$\([^()'\"`\\#\n]*\)|\$\{[^'\"`\\{}$\n]*\}")
_ACROSS_LINES = re.compile(r"\$\(|\$\{|`|\\\n")


class HereDocuments:
    """Those that a line has begun, and that the next lines hold."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[tuple[re.Match[str], int]] = []

    @property
    def are_open(self) -> bool:
        """Whether lines of the text must follow."""
        return bool(self._open)

    def open(self, opening: re.Match[str], depth: int) -> None:
        """Note one that a line begins, within so many parentheses and quotes."""
        self._open.append((opening, depth))

    def end(self, start: int, depth: int) -> int | None:
        """Where the lines end that begin at `start`; None if a shell might see another end."""
        for opening, opened in self._open:
            found = self._end_of(opening, start) if opened == depth else None
            if found is None:
                return None
            start = found
        self._open.clear()
        return start

    def _end_of(self, opening: re.Match[str], start: int) -> int | None:
        word = re.escape(next(text for text in opening.groups()[1:] if text))
        tabs = r"\t*" if opening["dash"] else ""
        last = re.compile(rf"^{tabs}{word}(?:\n|\Z)", re.MULTILINE).search(self._text, start)
        if last is None:
            return None
        body = self._text[start : last.start()]
        unsure = opening["bare"] and _ACROSS_LINES.search(_ONE_LINE.sub("", body))
        return None if unsure else last.end()
