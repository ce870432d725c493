"""The score of a case, of the grades that its answer got. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Literal

from .base import NOT_APPLICABLE, Grade, GradeError
from .said_once import said_once
from .thresholds import reaches

__all__ = ["DEFAULT_THRESHOLD", "CaseScore", "CaseStatus", "left_out_text", "mean_score", "score_case", "weighted_mean"]

DEFAULT_THRESHOLD = 0.5
"""The score from which a case passes where neither it nor its suite says anything."""

CaseStatus = Literal["passed", "failed", "ungraded"]


@dataclass(frozen=True, slots=True)
class CaseScore:
    """How a case did. `score` is None where a grader that counts could not grade: unknown is not zero."""

    score: float | None
    status: CaseStatus
    reason: str


def score_case(grades: Sequence[Grade], threshold: float = DEFAULT_THRESHOLD) -> CaseScore:
    """The weighted mean of the grades, held against the threshold.

    A `required` grader that does not pass fails the case, whatever the others say. Any other case is ungraded if one of
    its graders has an error, or if it has none. Graders that are left out do not count; the reason names them.

    >>> grade = Grade(name="contains", kind="contains", score=1.0, passed=True, reason="the answer contains 'x'")
    >>> score_case([grade], 0.8)
    CaseScore(score=1.0, status='passed', reason='1 reaches the threshold of 0.8')
    """
    if not grades:
        return CaseScore(None, "ungraded", "the case has no graders")
    counted, left_out = [grade for grade in grades if not grade.left_out], left_out_text(grades)
    if not counted:
        return CaseScore(None, "ungraded", left_out)
    result = _without_mean(counted) or _held_against(counted, threshold)
    return replace(result, reason=f"{result.reason}; {left_out}") if left_out else result


def left_out_text(grades: Sequence[Grade]) -> str:
    """How many graders graded, and why those that do not count did not; empty if all count.

    >>> from .base import GradeError, GraderSettings
    >>> polite = GraderSettings(name="polite", kind="regex", on_error="skip")
    >>> left_out_text([polite.ungraded(GradeError("timeout", "too slow"))])
    '0 of 1 graders graded; polite: timeout, left out by its rule'
    """
    out = [f"{grade.name}: {_why_left_out(grade.error)}" for grade in grades if grade.left_out and grade.error]
    graded = sum(grade.error is None for grade in grades)
    return "; ".join([f"{graded} of {len(grades)} graders graded", *out]) if out else ""


def mean_score(grades: Sequence[Grade], unknown: float = 0.0) -> float:
    """The mean of the grades' scores by weight; `unknown` stands in where there is no score."""
    scores = [unknown if grade.score is None else grade.score for grade in grades]
    return weighted_mean(scores, [grade.weight for grade in grades])


def weighted_mean(scores: Sequence[float], weights: Sequence[float]) -> float:
    """The mean of scores from 0 to 1, each by its weight.

    >>> weighted_mean([1.0, 0.0], [1e308, 1e308])
    0.5
    """
    # Shares of the largest weight: the sum of huge weights would be infinite, that of tiny ones nothing.
    largest = max(weights)
    shares = [weight / largest for weight in weights]
    mean = fsum(share * score for share, score in zip(shares, scores, strict=True)) / fsum(shares)
    return min(max(mean, 0.0), 1.0)


def _without_mean(grades: Sequence[Grade]) -> CaseScore | None:
    """The outcome where a grader could not grade; None if all did. No other grade can save a case that lacks what it
    requires, so that is known; the mean is not."""
    errors = [(grade.name, grade.error.message) for grade in grades if grade.error]
    if not errors:
        return None
    said = f"{_counted(len(errors))} could not grade: {said_once(errors)}"
    failed = _failed_required(grades)
    return CaseScore(None, "failed", f"{failed}; {said}") if failed else CaseScore(None, "ungraded", said)


def _held_against(grades: Sequence[Grade], threshold: float) -> CaseScore:
    score = mean_score(grades)
    if failed := _failed_required(grades):
        return CaseScore(score, "failed", failed)
    if not reaches(score, threshold):
        return CaseScore(score, "failed", f"{score:.4g} is below the threshold of {threshold:g}")
    return CaseScore(score, "passed", f"{score:.4g} reaches the threshold of {threshold:g}")


def _why_left_out(error: GradeError) -> str:
    return "not meant for this answer" if error.kind == NOT_APPLICABLE else f"{error.kind}, left out by its rule"


def _failed_required(grades: Sequence[Grade]) -> str:
    failed = [grade.name for grade in grades if grade.required and grade.passed is False]
    return f"required, and not passed: {', '.join(failed)}" if failed else ""


def _counted(graders: int) -> str:
    return "a grader" if graders == 1 else f"{graders} graders"
