"""The grades of a result that count: one for each grader, however many turns or inner grades it was made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..graders.registry import MOST_LEVELS
from ..graders.turn_scope import aggregated
from .deck_grades import HOLDERS

__all__ = ["counted_grades"]


def counted_grades(grades: Any, levels: int = MOST_LEVELS) -> Iterator[Mapping[str, Any]]:
    """The grades, and those inside of composites. One with `scope: turn` is the grade that its turns come to. What is
    not written as we do is no grade; evidence of other kinds is the grader's own, and never looked into.

    >>> turn = {"name": "tone", "kind": "deck", "score": 1.0, "evidence": {}}
    >>> scoped = {**turn, "score": 0.5, "evidence": {"scope": "turn", "turns": [turn, {**turn, "score": 0.5}]}}
    >>> [each["score"] for each in counted_grades([scoped])]
    [0.5]
    """
    for grade in grades if isinstance(grades, list) else ():
        if not isinstance(grade, Mapping) or not isinstance(grade.get("kind"), str):
            continue
        yield grade
        if grade["kind"] in HOLDERS and levels > 1:
            yield from _inside(grade.get("evidence"), levels - 1)


def _inside(evidence: Any, levels: int) -> Iterator[Mapping[str, Any]]:
    if not isinstance(evidence, Mapping):
        return
    if evidence.get("scope") == "turn":
        yield from _of_turns(evidence, levels)
    else:
        yield from counted_grades(evidence.get("grades"), levels)


def _of_turns(evidence: Mapping[str, Any], levels: int) -> Iterator[Mapping[str, Any]]:
    """A composite for each turn: the grades of an inner grader become one, by the rule of the composite."""
    turns = evidence.get("turns")
    turns = [each for each in turns if isinstance(each, Mapping)] if isinstance(turns, list) else []
    found: dict[tuple[Any, ...], list[Mapping[str, Any]]] = defaultdict(list)
    for turn in turns:
        for place, grade in enumerate(_inside(turn.get("evidence"), levels)):
            found[place, str(grade.get("name")), grade["kind"]].append(grade)
    yield from (_one(each, len(turns), evidence.get("aggregate")) for each in found.values())


def _one(grades: Sequence[Mapping[str, Any]], turns: int, rule: Any) -> Mapping[str, Any]:
    scores: list[Any] = [grade.get("score") for grade in grades]
    known = [float(score) for score in scores if type(score) in (int, float)]
    score = aggregated(known, "mean" if rule == "mean" else "min") if len(known) == turns else None
    return {**grades[0], "score": score, "evidence": {"scope": "turn", "turns": list(grades)}}
