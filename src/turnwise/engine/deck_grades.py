"""The grades that decks gave, among the grades of a result: a composite keeps those of its graders as evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..graders.composite import MOST_LEVELS
from ..graders.registry import DECK, KINDS

__all__ = ["deck_grades"]

_HOLDERS = frozenset(name for name, kind in KINDS.items() if kind.holds_graders)


def deck_grades(grades: Any, levels: int = MOST_LEVELS) -> Iterator[Mapping[str, Any]]:
    """Those of the lines of grades that are of decks, inside of composites as well. What is not written as we do is no
    grade; evidence of any other kind is the grader's own, and never looked into.

    >>> inner = {"name": "tone", "kind": "deck", "evidence": {}}
    >>> [each["name"] for each in deck_grades([{"kind": "composite", "evidence": {"grades": [inner]}}])]
    ['tone']
    """
    for grade in grades if isinstance(grades, list) else ():
        kind = grade.get("kind") if isinstance(grade, Mapping) else None
        if kind == DECK:
            yield grade
        elif levels > 1 and isinstance(kind, str) and kind in _HOLDERS:
            evidence = grade.get("evidence")
            if isinstance(evidence, Mapping):
                yield from deck_grades(evidence.get("grades"), levels - 1)
