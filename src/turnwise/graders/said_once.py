"""What several graders say, in few words."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["said_once"]


def said_once(said: Iterable[tuple[str, str]]) -> str:
    """Names, each with what it says; those that say the same share the words.

    >>> said_once([("a", "too slow"), ("b", "no JSON"), ("c", "too slow")])
    'a, c: too slow; b: no JSON'
    """
    names: dict[str, list[str]] = {}
    for name, words in said:
        names.setdefault(words, []).append(name)
    return "; ".join(f"{', '.join(who)}: {words}" for words, who in names.items())
