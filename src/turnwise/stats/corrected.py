"""The pass rate behind a grader's reports: corrected for the errors that the grader is known to make.

Two ways, for two kinds of labels:

rogan-gladen  the labels say how often the grader passes what people pass, and fails what people fail; they may come
              from elsewhere, as long as the grader errs there as it does here (interval: Lee et al. 2025)
ppi++         the labelled answers are a random part of all answers (Angelopoulos et al. 2023)

A correction that would only amplify noise is refused: `refusal` then says why and what to do, and there is no value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from .normal import check_level, two_sided_z

__all__ = ["CorrectedRate", "Correction", "JudgeCounts", "ppi", "rogan_gladen"]

Correction = Literal["rogan-gladen", "ppi++"]

LEAST_LABELS = 10
LEAST_INFORMATION = Fraction(1, 5)
"""TPR + TNR - 1 below which a grader tells so little that the correction is mostly noise."""
_HARDLY = "hardly better than chance"


@dataclass(frozen=True, slots=True)
class CorrectedRate:
    """A corrected rate with its interval; `raw` is what the grader reported on `n` unlabelled answers.

    Without `value`, `refusal` says why. `labels` counts the labels behind the correction.
    """

    value: float | None
    lo: float | None
    hi: float | None
    raw: float | None
    n: int
    labels: int
    method: Correction
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class JudgeCounts:
    """What a grader made of labelled answers: how many of those that people failed it failed, and passed it passed."""

    fails: int
    failed: int
    passes: int
    passed: int

    def __post_init__(self) -> None:
        if not (0 <= self.failed <= self.fails and 0 <= self.passed <= self.passes):
            raise ValueError(f"a grader cannot be right more often than there are labels; found {self}")


def rogan_gladen(reported: int, n: int, judge: JudgeCounts, level: float = 0.95) -> CorrectedRate:
    """The rate of passes among `n` answers of which the grader reported so many, given its known errors.

    >>> rate = rogan_gladen(400, 1000, JudgeCounts(fails=200, failed=140, passes=200, passed=180))
    >>> round(rate.value, 6), round(rate.lo, 6), round(rate.hi, 6)
    (0.166667, 0.056351, 0.262733)
    """
    check_level(level)
    if not 0 <= reported <= n:
        raise ValueError(f"reported passes must lie between 0 and the number of answers, {n}; found {reported}")
    raw, labels = reported / n if n else None, judge.fails + judge.passes
    refusal = _refusal(n, judge)
    if raw is None or refusal is not None:
        return CorrectedRate(None, None, None, raw, n, labels, "rogan-gladen", refusal)
    tnr, tpr = Fraction(judge.failed, judge.fails), Fraction(judge.passed, judge.passes)
    value = _within((Fraction(reported, n) + tnr - 1) / (tnr + tpr - 1))
    lo, hi = _lee_interval(raw, n, judge, two_sided_z(level))
    return CorrectedRate(value, lo, hi, raw, n, labels, "rogan-gladen")


def _refusal(n: int, judge: JudgeCounts) -> str | None:
    if not n:
        return "there is no unlabelled answer with a verdict of the grader"
    if min(judge.fails, judge.passes) < LEAST_LABELS:
        return (
            f"the labels hold {judge.passes} passes and {judge.fails} fails, and the correction needs at least"
            f" {LEAST_LABELS} of each: label more of the rarer kind"
        )
    tnr, tpr = Fraction(judge.failed, judge.fails), Fraction(judge.passed, judge.passes)
    gain = tnr + tpr - 1
    if gain < LEAST_INFORMATION:
        than_chance = "worse than chance" if gain < 0 else "no better than chance" if not gain else _HARDLY
        return (
            f"the grader is {than_chance}: TPR {float(tpr):.3f} + TNR {float(tnr):.3f} - 1 is"
            f" {float(gain):.3f}, and the correction needs at least {float(LEAST_INFORMATION)}:"
            " improve the grader first"
        )
    return None


def _lee_interval(p: float, n: float, judge: JudgeCounts, z: float) -> tuple[float, float]:
    """The adjusted interval of Lee et al.: pseudo-observations in every rate, and a shift for the skewness."""
    m0, m1 = judge.fails + 2, judge.passes + 2
    q0, q1 = (judge.failed + 1) / m0, (judge.passed + 1) / m1
    p, n = (n * p + z * z / 2) / (n + z * z), n + z * z
    gain = q0 + q1 - 1
    rate = (p + q0 - 1) / gain
    noise0, noise1 = q0 * (1 - q0) / m0, q1 * (1 - q1) / m1
    error = math.sqrt(p * (1 - p) / n + (1 - rate) ** 2 * noise0 + rate**2 * noise1) / gain
    centre = rate + 2 * z * z * (rate * noise1 - (1 - rate) * noise0)
    return _within(centre - z * error), _within(centre + z * error)


def ppi(
    labels: Sequence[float], judged: Sequence[float], unlabelled: Sequence[float], level: float = 0.95
) -> CorrectedRate:
    """The mean label of all answers, from a random part with labels and the grader's scores of both parts (PPI++).

    `judged` are the grader's scores of the labelled answers, in their order. Variances have n-1 in the denominator. The
    grader's scores weigh as much as they help: those that tell nothing leave the plain mean of the labels.
    """
    check_level(level)
    n, big = len(labels), len(unlabelled)
    if len(judged) != n:
        raise ValueError(f"every labelled answer needs the grader's score; found {n} labels and {len(judged)} scores")
    raw = _mean(unlabelled) if big else None
    if n < LEAST_LABELS or big < 2:
        refusal = (
            f"there are {n} labelled and {big} unlabelled answers, and PPI++ needs at least {LEAST_LABELS} and 2:"
            " add answers, or label more of them"
        )
        return CorrectedRate(None, None, None, raw, big, n, "ppi++", refusal)
    value, error = _ppi_estimate(labels, judged, unlabelled)
    half = two_sided_z(level) * error
    ends = (value - half, value, value + half)
    if all(score in (0, 1) for part in (labels, judged, unlabelled) for score in part):
        ends = (_within(ends[0]), _within(ends[1]), _within(ends[2]))
    # Where nothing varies, an interval of no width would promise what nobody knows.
    lo, hi = (ends[0], ends[2]) if error > 0 else (None, None)
    return CorrectedRate(ends[1], lo, hi, raw, big, n, "ppi++")


def _ppi_estimate(y: Sequence[float], f: Sequence[float], more: Sequence[float]) -> tuple[float, float]:
    """The estimate and its standard error."""
    n, big = len(y), len(more)
    spread = _covariance(f, f)
    weight = _covariance(y, f) / ((1 + n / big) * spread) if spread > 0 else 0.0
    rest = [label - weight * score for label, score in zip(y, f, strict=True)]
    variance = _covariance(rest, rest) / n + weight**2 * _covariance(more, more) / big
    return _mean(rest) + weight * _mean(more), math.sqrt(variance)


def _covariance(x: Sequence[float], y: Sequence[float]) -> float:
    mean_x, mean_y = _mean(x), _mean(y)
    return math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / (len(x) - 1)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _within(rate: float | Fraction) -> float:
    return float(min(max(rate, 0), 1))
