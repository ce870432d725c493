"""The grades that models gave, among the grades of a result: a composite keeps those of its graders as evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..graders.registry import DECK, KINDS, MOST_LEVELS

__all__ = ["HOLDERS", "VOTED", "agreements", "deck_grades", "judge_calls"]

HOLDERS = frozenset(name for name, kind in KINDS.items() if kind.holds_graders)
"""Kinds whose evidence has the grades of others."""
_ONE_CALL = frozenset(name for name, kind in KINDS.items() if kind.one_call)
VOTED = frozenset(name for name, kind in KINDS.items() if kind.asks_model and not kind.one_call)
"""Kinds whose evidence has a vote for every call of a model."""


def deck_grades(grades: Any, levels: int = MOST_LEVELS) -> Iterator[Mapping[str, Any]]:
    """Those of the lines of grades that are of decks, inside of composites as well. What is not written as we do is no
    grade; evidence of any other kind is the grader's own, and never looked into.

    >>> inner = {"name": "tone", "kind": "deck", "evidence": {}}
    >>> [each["name"] for each in deck_grades([{"kind": "composite", "evidence": {"grades": [inner]}}])]
    ['tone']
    """
    return (grade for grade in _all(grades, levels) if grade["kind"] == DECK)


def judge_calls(grades: Any) -> Iterator[Mapping[str, Any]]:
    """What each call of a model took, as the evidence of the grades has it.

    >>> votes = [{"judge": "gpt", "usage": None}, {"judge": "claude", "usage": None}]
    >>> [each["judge"] for each in judge_calls([{"kind": "llm_judge", "evidence": {"votes": votes}}])]
    ['gpt', 'claude']
    """
    for grade in _all(grades, MOST_LEVELS):
        evidence = grade.get("evidence")
        if not isinstance(evidence, Mapping):
            continue
        votes = evidence.get("votes") if grade["kind"] in VOTED else None
        calls = [evidence] if grade["kind"] in _ONE_CALL else votes
        yield from (call for call in calls or () if isinstance(call, Mapping) and "judge" in call)


def agreements(grades: Any) -> list[float]:
    """How far the judges of each panel agree, as the evidence of the grades has it."""
    kept = [grade.get("evidence") for grade in _all(grades, MOST_LEVELS) if grade["kind"] in VOTED]
    found: list[Any] = [evidence.get("agreement") for evidence in kept if isinstance(evidence, Mapping)]
    return [float(share) for share in found if type(share) in (int, float) and 0 <= share <= 1]


def _all(grades: Any, levels: int) -> Iterator[Mapping[str, Any]]:
    """Every grade. Only graders inside of graders are levels: the turns of one grader stand in its own place."""
    for line in _lines(grades):
        turns = _of_turns(line["kind"], line.get("evidence"))
        for grade in [line] if turns is None else _lines(turns):
            yield grade
            evidence = grade.get("evidence")
            if levels > 1 and grade["kind"] in HOLDERS and isinstance(evidence, Mapping):
                yield from _all(evidence.get("grades"), levels - 1)


def _lines(grades: Any) -> Iterator[Mapping[str, Any]]:
    listed = (each for each in grades if isinstance(each, Mapping)) if isinstance(grades, list) else ()
    return (each for each in listed if isinstance(each.get("kind"), str))


def _of_turns(kind: str, evidence: Any) -> Any:
    """The grades of the turns of a conversation, which one with `scope: turn` keeps as evidence; None for any other."""
    is_ours = kind in _ONE_CALL or kind in VOTED or kind in HOLDERS
    if is_ours and isinstance(evidence, Mapping) and evidence.get("scope") == "turn":
        return evidence.get("turns")
    return None
