"""Glob patterns over relative paths: `*`, `?`, `[…]`, `**` for any number of folders, `{a,b}` for alternatives.

No pattern can keep the machine busy: folders are matched one by one, and Python's own translation of a name never
goes back over what it has matched. A whole path in one regular expression would.
"""

from __future__ import annotations

import fnmatch
import re
from functools import lru_cache

from ..errors import PatternError

__all__ = ["Glob", "compile_glob"]

_MOST_ALTERNATIVES = 1_000

_Component = re.Pattern[str] | None  # None is `**`


@lru_cache(maxsize=256)
def compile_glob(pattern: str) -> Glob:
    """The matcher of a pattern. Raises `PatternError`."""
    return Glob(pattern)


class Glob:
    """One pattern, matched on whole paths with `/`; a leading `./` or `/` makes no difference.

    >>> glob = Glob("docs/**/*.{md,txt}")
    >>> glob.matches("docs/a.md"), glob.matches("docs/x/y/a.txt"), glob.matches("docs/a.py")
    (True, True, False)
    """

    def __init__(self, pattern: str) -> None:
        text = pattern.removeprefix("./").lstrip("/")
        if not text:
            raise PatternError("a pattern must not be empty")
        self._alternatives = [_components(alternative) for alternative in _alternatives(text, pattern)]

    def matches(self, path: str) -> bool:
        """Whether the whole path fits the pattern."""
        names = path.split("/")
        return any(_fits(components, names) for components in self._alternatives)


def _alternatives(text: str, pattern: str) -> list[str]:
    if "{" not in text:
        return [text]
    import bracex

    try:
        return bracex.expand(text, keep_escapes=True, limit=_MOST_ALTERNATIVES)
    except (bracex.ExpansionLimitException, ValueError, RecursionError) as error:
        reason = f"its braces have more than {_MOST_ALTERNATIVES:,} alternatives"
        if isinstance(error, RecursionError):
            reason = "its braces are nested too deeply"
        raise PatternError(f"the pattern {pattern!r} cannot be read: {reason}") from error


def _components(text: str) -> list[_Component]:
    parts = [part for part in text.split("/") if part]
    if parts and parts[-1] == "**":
        parts.append("*")  # what is inside a folder, not the folder
    if text.endswith("/"):
        parts.append("")  # a folder alone: no file fits
    return [None if part == "**" else _name(part) for part in parts]


def _name(part: str) -> re.Pattern[str]:
    part = part.replace("[^", "[!")  # both mean "none of these" in shells
    literal = re.sub(r"\\(.)", lambda match: f"[{match[1]}]" if match[1] in "*?[" else match[1], part)
    try:
        return re.compile(fnmatch.translate(literal))
    except re.error as error:
        raise PatternError(f"the pattern {part!r} cannot be read: {error}") from error


def _fits(components: list[_Component], names: list[str]) -> bool:
    """Each `**` takes as few folders as it can, and one more whenever what follows it does not fit."""
    component = name = retry_name = 0
    retry_component = -1
    while name < len(names):
        expected = components[component] if component < len(components) else _NOTHING
        if expected is None:
            retry_component, retry_name = component, name
            component += 1
        elif expected.match(names[name]):
            component += 1
            name += 1
        elif retry_component >= 0:
            retry_name += 1
            component, name = retry_component + 1, retry_name
        else:
            return False
    return component == len(components)


_NOTHING = re.compile(r"(?!)")
