"""Which files are guidelines: an ordered list of glob patterns, matched on paths relative to the project root."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

__all__ = ["DEFAULT_GUIDELINE_PATTERNS", "GuidelinePatterns", "PatternError", "translate_pattern"]

DEFAULT_GUIDELINE_PATTERNS = ("**/*.instructions.md",)
_MAX_DECIDED = 10_000

# Patterns of words, `*`, `?` and `**/` alone are translated here: loading wcmatch takes 10 ms.
_PLAIN_NAME = re.compile(r"(?!\.{1,2}$)(?!.*\*\*)[\w .*?-]+")


class PatternError(ValueError):
    """A pattern that cannot be read; the message says why."""


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
        if path.startswith("../"):
            # An allowed folder outside the root: a pattern speaks of the folders inside it.
            path = re.sub(r"^(\.\./)+", "", path)
        decided = self._decided.get(path)
        if decided is None:
            if len(self._decided) >= _MAX_DECIDED:
                self._decided.clear()
            decided = self._decided[path] = self._decide(path)
        return decided

    def _decide(self, path: str) -> bool:
        decided = False
        for index, pattern in enumerate(self.patterns):
            exclude = pattern.startswith("!")
            if translate_pattern(pattern[1:] if exclude else pattern).fullmatch(path):
                self.used.add(index)
                decided = not exclude
        return decided


@lru_cache(maxsize=256)
def translate_pattern(pattern: str) -> re.Pattern[str]:
    """Compile one pattern (without its `!`) to a regular expression over relative paths with `/`."""
    glob_text = pattern.removeprefix("./").lstrip("/")
    if not glob_text:
        raise PatternError("a guideline pattern must not be empty")
    *folders, name = glob_text.split("/")
    if _PLAIN_NAME.fullmatch(name) and all(part == "**" or _PLAIN_NAME.fullmatch(part) for part in folders):
        return re.compile(_plain_expression(folders, name), re.DOTALL)
    from wcmatch import glob

    flags = glob.GLOBSTAR | glob.DOTGLOB | glob.BRACE | glob.FORCEUNIX | glob.CASE
    try:
        included, _ = glob.translate(glob_text, flags=flags)
        return re.compile("|".join(f"(?:{expression})" for expression in included))
    except Exception as error:
        raise PatternError(f"the pattern {pattern!r} cannot be read: {error}") from error


def _plain_expression(folders: Sequence[str], name: str) -> str:
    expression = ""
    for before, part in zip(("", *folders), folders, strict=False):
        if part != "**":
            expression += f"{_name_expression(part)}/"
        elif before != "**":
            expression += "(?:[^/]+/)*"
    return expression + _name_expression(name)


def _name_expression(name: str) -> str:
    wildcards = {"*": "[^/]*", "?": "[^/]"}
    return "(?=[^/])" + "".join(wildcards.get(character) or re.escape(character) for character in name)
