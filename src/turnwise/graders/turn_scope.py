"""Graders that look at every reply of a live conversation, and make one grade of what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, Literal

from .base import Grade, GradeError, Grader, GraderSettings, Submission, grade_record
from .guarded import guarded
from .thresholds import reaches

__all__ = ["Aggregate", "TurnScoped", "aggregated"]

Aggregate = Literal["min", "mean"]

_NAMED = 3


@dataclass(frozen=True, slots=True)
class TurnScoped:
    """A grader with `scope: turn`. A submission without replies is one reply itself."""

    grader: Grader
    aggregate: Aggregate
    settings: GraderSettings

    async def grade(self, submission: Submission) -> Grade:
        """Judge every reply."""
        grades = [await guarded(self.grader, each) for each in submission.replies or (submission,)]
        evidence = {
            "scope": "turn",
            "aggregate": self.aggregate,
            "turns": [_shown(*each) for each in _numbered(grades)],
        }
        lacking = [f"turn {number}: {grade.error.message}" for number, grade in _numbered(grades) if grade.error]
        if lacking:
            return self.settings.ungraded(
                GradeError("turn", f"not every turn was graded: {'; '.join(lacking)}"), evidence
            )
        score = aggregated([grade.score for grade in grades if grade.score is not None], self.aggregate)
        return self.settings.graded(
            score, _reason(grades, self.aggregate), evidence, passed=self._passed(grades, score)
        )

    def _passed(self, grades: Sequence[Grade], score: float) -> bool:
        """A mean is held against the threshold; without one, and by the least score, every reply must pass."""
        if self.aggregate == "mean" and self.settings.threshold is not None:
            return reaches(score, self.settings.threshold)
        return all(grade.passed for grade in grades)


def aggregated(scores: Sequence[float], aggregate: Aggregate) -> float:
    """One score of several.

    >>> aggregated([1.0, 0.5], "min"), aggregated([1.0, 0.5], "mean")
    (0.5, 0.75)
    """
    return min(scores) if aggregate == "min" else min(fsum(scores) / len(scores), 1.0)


def _numbered(grades: Sequence[Grade]) -> list[tuple[int, Grade]]:
    return list(enumerate(grades, start=1))


def _shown(number: int, grade: Grade) -> dict[str, Any]:
    return {"turn": number, **grade_record(grade)}


def _reason(grades: Sequence[Grade], aggregate: Aggregate) -> str:
    failed = [(number, grade) for number, grade in _numbered(grades) if not grade.passed]
    said = f"{aggregate} of {len(grades)} turns: {len(grades) - len(failed)} passed"
    more = len(failed) - _NAMED
    rest = f"; and {more} more" if more > 0 else ""
    return said + "".join(f"; turn {number}: {grade.reason}" for number, grade in failed[:_NAMED]) + rest
