"""Which files are guidelines: an ordered list of glob patterns, matched on paths relative to the project root."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .globs import compile_glob

__all__ = ["DEFAULT_GUIDELINE_PATTERNS", "GuidelinePatterns"]

DEFAULT_GUIDELINE_PATTERNS = ("**/*.instructions.md",)
_MAX_DECIDED = 10_000


class GuidelinePatterns:
    """An ordered list of patterns; `!pattern` excludes, and the last pattern that matches a path wins.

    `used` collects the positions of the patterns that matched something, so that the others can be reported.

    >>> patterns = GuidelinePatterns(["**/*.md", "!**/draft.*"])
    >>> patterns.matches("rules/style.md"), patterns.matches("draft.md"), patterns.matches("code.py")
    (True, False, False)
    """

    def __init__(self, patterns: Sequence[str] = DEFAULT_GUIDELINE_PATTERNS) -> None:
        self.patterns = tuple(patterns)
        self.used: set[int] = set()
        self._decided: dict[str, bool] = {}

    def matches(self, path: str) -> bool:
        """Whether the file at this path (relative to the project root, with `/`) is a guideline."""
        decided = self._decided.get(path)
        if decided is None:
            if len(self._decided) >= _MAX_DECIDED:
                self._decided.clear()
            decided = self._decided[path] = self._decide(path)
        return decided

    def _decide(self, path: str) -> bool:
        decided = False
        outside = path.startswith("../")
        if outside:
            # An allowed folder outside the root: a pattern speaks of the folders inside it.
            path = _without_parents(path)
        for index, pattern in enumerate(self.patterns):
            exclude = pattern.startswith("!")
            text = pattern[1:] if exclude else pattern
            if compile_glob(_without_parents(text) if outside else text).matches(path):
                self.used.add(index)
                decided = not exclude
        return decided


def _without_parents(path: str) -> str:
    return re.sub(r"^(\.\./)+", "", path)
