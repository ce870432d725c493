"""The score of a case, of the grades that its answer got. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Literal

from .base import Grade

__all__ = ["DEFAULT_THRESHOLD", "CaseScore", "CaseStatus", "left_out_text", "mean_score", "reaches", "score_case"]

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
    ungraded, and so does having none. Graders that are left out do not count; the reason names them.

    >>> grade = Grade(name="contains", kind="contains", score=1.0, passed=True, reason="the answer contains 'x'")
    >>> score_case([grade], 0.8)
    CaseScore(score=1.0, status='passed', reason='1 reaches the threshold of 0.8')
    """
    if not grades:
        return CaseScore(None, "ungraded", "the case has no graders")
    errors = [f"{grade.name}: {grade.error.message}" for grade in grades if grade.error and not grade.left_out]
    if errors:
        return CaseScore(None, "ungraded", f"{_counted(len(errors))} could not grade: {'; '.join(errors)}")
    counted, left_out = [grade for grade in grades if not grade.left_out], left_out_text(grades)
    if not counted:
        return CaseScore(None, "ungraded", left_out)
    result = _held_against(counted, threshold)
    return replace(result, reason=f"{result.reason}; {left_out}") if left_out else result


def left_out_text(grades: Sequence[Grade]) -> str:
    """How many graders count, and why the others do not; empty if all count.

    >>> from .base import GradeError, GraderSettings
    >>> polite = GraderSettings(name="polite", kind="regex", on_error="skip")
    >>> left_out_text([polite.ungraded(GradeError("timeout", "too slow"))])
    '0 of 1 graders graded; polite: timeout, left out by its rule'
    """
    out = [
        f"{grade.name}: {grade.error.kind}, left out by its rule" for grade in grades if grade.left_out and grade.error
    ]
    return "; ".join([f"{len(grades) - len(out)} of {len(grades)} graders graded", *out]) if out else ""


def mean_score(grades: Sequence[Grade], unknown: float = 0.0) -> float:
    """The mean of the grades' scores by weight; `unknown` stands in where there is no score."""
    # Shares of the largest weight: the sum of huge weights would be infinite, that of tiny ones nothing.
    largest = max(grade.weight for grade in grades)
    shares = [grade.weight / largest for grade in grades]
    scores = [unknown if grade.score is None else grade.score for grade in grades]
    mean = fsum(share * score for share, score in zip(shares, scores, strict=True)) / fsum(shares)
    return min(max(mean, 0.0), 1.0)


def reaches(score: float, threshold: float) -> bool:
    """Whether a mean is enough, with what rounding may have taken from it."""
    return score >= threshold - _ROUNDING


def _held_against(grades: Sequence[Grade], threshold: float) -> CaseScore:
    score = mean_score(grades)
    failed = [grade.name for grade in grades if grade.required and not grade.passed]
    if failed:
        return CaseScore(score, "failed", f"required, and not passed: {', '.join(failed)}")
    if not reaches(score, threshold):
        return CaseScore(score, "failed", f"{score:.4g} is below the threshold of {threshold:g}")
    return CaseScore(score, "passed", f"{score:.4g} reaches the threshold of {threshold:g}")


def _counted(graders: int) -> str:
    return "a grader" if graders == 1 else f"{graders} graders"
