"""The score of a case, of the grades that its answer got. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Literal

from .base import Grade

__all__ = ["DEFAULT_THRESHOLD", "CaseScore", "CaseStatus", "score_case"]

DEFAULT_THRESHOLD = 0.5
"""The score from which a case passes where neither it nor its suite says anything."""

CaseStatus = Literal["passed", "failed", "ungraded"]

# Three times 0.7 is a little less than 2.1: a mean that falls short by that much does reach the threshold.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class CaseScore:
    """How a case did. `score` is None where it is `ungraded`: unknown is not zero."""

    score: float | None
    status: CaseStatus
    reason: str


def score_case(grades: Sequence[Grade], threshold: float = DEFAULT_THRESHOLD) -> CaseScore:
    """The weighted mean of the grades, held against the threshold.

    A `required` grader that does not pass fails the case, whatever the mean. An error of any grader leaves the case
    ungraded, and so does having none.

    >>> grade = Grade(name="contains", kind="contains", score=1.0, passed=True, reason="the answer contains 'x'")
    >>> score_case([grade], 0.8)
    CaseScore(score=1.0, status='passed', reason='1 reaches the threshold of 0.8')
    """
    if not grades:
        return CaseScore(None, "ungraded", "the case has no graders")
    errors = [f"{grade.name}: {grade.error.message}" for grade in grades if grade.error is not None]
    if errors:
        return CaseScore(None, "ungraded", f"{_counted(len(errors))} could not grade: {'; '.join(errors)}")
    score = _mean(grades)
    failed = [grade.name for grade in grades if grade.required and not grade.passed]
    if failed:
        return CaseScore(score, "failed", f"required, and not passed: {', '.join(failed)}")
    if score < threshold - _ROUNDING:
        return CaseScore(score, "failed", f"{score:.4g} is below the threshold of {threshold:g}")
    return CaseScore(score, "passed", f"{score:.4g} reaches the threshold of {threshold:g}")


def _mean(grades: Sequence[Grade]) -> float:
    # Shares of the largest weight: the sum of huge weights would be infinite, that of tiny ones nothing.
    largest = max(grade.weight for grade in grades)
    shares = [grade.weight / largest for grade in grades]
    mean = fsum(share * (grade.score or 0.0) for share, grade in zip(shares, grades, strict=True)) / fsum(shares)
    return min(max(mean, 0.0), 1.0)


def _counted(graders: int) -> str:
    return "a grader" if graders == 1 else f"{graders} graders"
