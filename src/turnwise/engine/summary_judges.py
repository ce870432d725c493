"""What judges said, counted as results come. Every sum is exact, so that order never matters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple

from ..stats.exact import ExactSum, dyadic
from .counted_grades import counted_grades
from .deck_grades import VOTED, agreements, judge_calls
from .summary_format import JudgeSummary

__all__ = ["JudgeTally", "JudgedGrade", "judged_grades"]

_LARGEST = 1e250
_DECK = "deck"
_NO_CALIBRATION = "uncalibrated: only decks can be calibrated"


class JudgedGrade(NamedTuple):
    """A grade that models gave; `score` is None if they gave no verdict, `cost_usd` if nobody knows. They need not have
    `answered`: then it took nothing that anybody knows of. Without a deck, the kind of grader stands in its place. Of a
    panel, `agreement` is how far its judges agree, and `silent` are those that gave no verdict."""

    grader: str
    deck: str
    judge: str
    calibration: str
    score: float | None
    cost_usd: float | None
    answered: bool
    agreement: float | None = None
    silent: tuple[str, ...] = ()


def judged_grades(grades: Any) -> tuple[JudgedGrade, ...]:
    """Those of the grades of a line that a model gave; what is not written as we do is no such grade.

    >>> evidence = {"deck": "tone.deck.md", "judge": "gpt", "calibration": "uncalibrated", "cost_usd": 0.01}
    >>> judged_grades([{"name": "tone", "kind": "deck", "score": 0.5, "evidence": evidence}])[0].score
    0.5
    """
    judged = (grade for grade in counted_grades(grades) if grade["kind"] == _DECK or grade["kind"] in VOTED)
    return tuple(found for grade in judged if (found := _judged(grade)) is not None)


def _judged(grade: Mapping[str, Any]) -> JudgedGrade | None:
    """The calls of all judges and turns as one: they are of one grader."""
    calls = list(judge_calls([grade]))
    if not calls or not isinstance(grade.get("name"), str):
        return None
    deck, judge, calibration = _source(grade["kind"], calls)
    if not (isinstance(deck, str) and isinstance(judge, str) and isinstance(calibration, str)):
        return None
    answered, agreed = [call for call in calls if call.get("usage")], agreements([grade])
    return JudgedGrade(
        grade["name"],
        deck,
        judge,
        calibration,
        score=_number(grade.get("score"), 1.0),
        cost_usd=_cost(answered),
        answered=bool(answered),
        agreement=fsum(agreed) / len(agreed) if agreed else None,
        silent=_silent(calls),
    )


def _source(kind: str, calls: Sequence[Mapping[str, Any]]) -> tuple[Any, Any, Any]:
    """The deck, the judge and its calibration."""
    if kind != _DECK:
        return kind, _judges(calls), _NO_CALIBRATION
    return calls[0].get("deck"), calls[0]["judge"], calls[0].get("calibration")


def _judges(calls: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(dict.fromkeys(str(call["judge"]) for call in calls))


def _cost(answered: Sequence[Mapping[str, Any]]) -> float | None:
    costs = [_number(call.get("cost_usd"), _LARGEST) for call in answered]
    known = [cost for cost in costs if cost is not None]
    return fsum(known) if known and len(known) == len(costs) else None


def _silent(calls: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The judges of a panel without a verdict; one that is alone leaves the grade without a score instead."""
    if len({str(call["judge"]) for call in calls}) == 1:
        return ()
    return tuple(dict.fromkeys(str(call["judge"]) for call in calls if "status" in call))


def _number(value: Any, largest: float) -> float | None:
    return float(value) if type(value) in (int, float) and 0 <= value <= largest else None


class JudgeTally:
    """Takes the grades of results one by one."""

    def __init__(self) -> None:
        self._scores: dict[tuple[str, str, str, str], dict[str, ExactSum]] = {}
        self._costs: dict[tuple[str, str, str, str], ExactSum] = {}
        self._grades: Counter[tuple[str, str, str, str]] = Counter()
        self._answers: Counter[tuple[str, str, str, str]] = Counter()
        self._agreements: dict[tuple[str, str, str, str], ExactSum] = {}
        self._silent: dict[tuple[str, str, str, str], Counter[str]] = {}

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
            self._silent.setdefault(key, Counter()).update(grade.silent)
            agreements = self._agreements.setdefault(key, ExactSum())
            if grade.agreement is not None:
                agreements.add(*dyadic(grade.agreement))
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
            agreement=_mean(self._agreements[key]),
            agreement_n=self._agreements[key].count,
            without_verdict=dict(sorted(self._silent[key].items())),
        )


def _total(total: ExactSum) -> float:
    return total.numerator / (1 << total.exponent)


def _mean(total: ExactSum) -> float | None:
    return _total(total) / total.count if total.count else None
