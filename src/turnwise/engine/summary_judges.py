"""What judges said, counted as results come. Every sum is exact, so that order never matters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple

from ..stats.exact import ExactSum, dyadic
from .deck_grades import VOTED, judge_calls, judge_grades
from .summary_format import JudgeSummary

__all__ = ["JudgeTally", "JudgedGrade", "judged_grades"]

_LARGEST = 1e250
_DECK = "deck"
_NO_CALIBRATION = "uncalibrated: only decks can be calibrated"


class JudgedGrade(NamedTuple):
    """A grade that a model gave; `score` is None if it gave no verdict, `cost_usd` if nobody knows. It need not have
    `answered`: then it took nothing that anybody knows of. Without a deck, the kind of grader stands in its place."""

    grader: str
    deck: str
    judge: str
    calibration: str
    score: float | None
    cost_usd: float | None
    answered: bool


def judged_grades(grades: Any) -> tuple[JudgedGrade, ...]:
    """Those of the grades of a line that a model gave; what is not written as we do is no such grade.

    >>> evidence = {"deck": "tone.deck.md", "judge": "gpt", "calibration": "uncalibrated", "cost_usd": 0.01}
    >>> judged_grades([{"name": "tone", "kind": "deck", "score": 0.5, "evidence": evidence}])[0].score
    0.5
    """
    return tuple(found for grade in judge_grades(grades) if (found := _judged(grade)) is not None)


def _judged(grade: Mapping[str, Any]) -> JudgedGrade | None:
    evidence = grade.get("evidence")
    if not isinstance(evidence, dict):
        return None
    if grade["kind"] in VOTED:
        return _voted(grade)
    name, deck, judge, calibration = (grade.get("name"), *map(evidence.get, ("deck", "judge", "calibration")))
    if not all(isinstance(each, str) for each in (name, deck, judge, calibration)):
        return None
    score, cost = _number(grade.get("score"), 1.0), _number(evidence.get("cost_usd"), _LARGEST)
    return JudgedGrade(str(name), str(deck), str(judge), str(calibration), score, cost, bool(evidence.get("usage")))


def _voted(grade: Mapping[str, Any]) -> JudgedGrade | None:
    """Several calls as one: they are of one grader."""
    calls = list(judge_calls([grade]))
    if not calls or not isinstance(grade.get("name"), str):
        return None
    judges = ", ".join(dict.fromkeys(str(call["judge"]) for call in calls))
    answered = [call for call in calls if call.get("usage")]
    costs = [_number(call.get("cost_usd"), _LARGEST) for call in answered]
    known = [cost for cost in costs if cost is not None]
    cost = fsum(known) if known and len(known) == len(costs) else None
    score = _number(grade.get("score"), 1.0)
    return JudgedGrade(grade["name"], grade["kind"], judges, _NO_CALIBRATION, score, cost, bool(answered))


def _number(value: Any, largest: float) -> float | None:
    return float(value) if type(value) in (int, float) and 0 <= value <= largest else None


class JudgeTally:
    """Takes the grades of results one by one."""

    def __init__(self) -> None:
        self._scores: dict[tuple[str, str, str, str], dict[str, ExactSum]] = {}
        self._costs: dict[tuple[str, str, str, str], ExactSum] = {}
        self._grades: Counter[tuple[str, str, str, str]] = Counter()
        self._answers: Counter[tuple[str, str, str, str]] = Counter()

    def add(self, target: str, grades: Sequence[JudgedGrade]) -> None:
        """Count in what judges said of an answer of the target."""
        for grade in grades:
            key = grade[:4]
            scores = self._scores.setdefault(key, {}).setdefault(target, ExactSum())
            costs = self._costs.setdefault(key, ExactSum())
            self._grades[key] += 1
            self._answers[key] += grade.answered
            if grade.score is not None:
                scores.add(*dyadic(grade.score))
            if grade.answered and grade.cost_usd is not None:
                costs.add(*dyadic(grade.cost_usd))

    def summaries(self) -> tuple[JudgeSummary, ...]:
        """What it comes to, sorted by grader, deck and judge."""
        return tuple(self._summary(key) for key in sorted(self._scores))

    def _summary(self, key: tuple[str, str, str, str]) -> JudgeSummary:
        grader, deck, judge, calibration = key
        scores, costs = self._scores[key], self._costs[key]
        graded = sum(each.count for each in scores.values())
        return JudgeSummary(
            grader=grader,
            deck=deck,
            judge=judge,
            calibration=calibration,
            graded=graded,
            ungraded=self._grades[key] - graded,
            means={target: _mean(scores[target]) for target in sorted(scores)},
            cost_usd=_total(costs) if 0 < costs.count == self._answers[key] else None,
            kind=deck if deck in VOTED else _DECK,
        )


def _total(total: ExactSum) -> float:
    return total.numerator / (1 << total.exponent)


def _mean(total: ExactSum) -> float | None:
    return _total(total) / total.count if total.count else None
