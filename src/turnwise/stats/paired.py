"""Two graders on the same samples: is one of them reliably better?

The interval of a difference and its p value come from one bootstrap standard error, so that they never contradict each
other. For right-or-wrong answers on independent samples, McNemar's exact test gives the p value instead. Holm's
adjustment keeps the chance of one false "reliable" among all comparisons below 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from .bootstrap import DRAWS, Clusters, Floats, Resamples, SumStatistic, resample
from .normal import check_level
from .resampled import why_no_interval
from .statistic import NO_PAIRS
from .student import two_sided_t, two_sided_tail

__all__ = [
    "Difference",
    "JudgedDifference",
    "PMethod",
    "PairedMethod",
    "agreement_difference",
    "both_valid",
    "difference",
    "holm",
    "judge_all",
    "mcnemar_exact",
]

PairedMethod = Literal["paired-bootstrap", "paired-bootstrap-clustered", "none"]
PMethod = Literal["paired-bootstrap", "paired-bootstrap-clustered", "mcnemar-exact", "identical", "none"]
"""How a p value was made; `identical`: the rows of both graders are the same, and p is 1."""

SAME = "as far as this figure can tell, the two are the same on every sample"
NOT_DEFINED = "the figure is not defined for both of them"


@dataclass(frozen=True, slots=True)
class Difference:
    """A statistic of the first grader less that of the second on `n` common samples; None where not defined.

    `method` says how the interval was made, `p_method` how the p value was, and `reason` why anything is None.
    """

    value: float | None
    n: int
    lo: float | None
    hi: float | None
    p: float | None
    method: PairedMethod
    p_method: PMethod = "none"
    reason: str | None = None

    def mirrored(self) -> Difference:
        """The same comparison as seen from the second grader."""
        value, lo, hi = (None if end is None else -end for end in (self.value, self.hi, self.lo))
        return replace(self, value=value, lo=lo, hi=hi)


@dataclass(frozen=True, slots=True)
class JudgedDifference:
    """A difference among several: its p value adjusted for their number, and whether it can be relied on."""

    difference: Difference
    p_holm: float | None
    reliable: bool


def both_valid(first: Sequence[object], second: Sequence[object]) -> list[int]:
    """The places where both graders gave a valid answer, that is, one that is not None.

    >>> both_valid([1, None, 0], [1, 1, 0])
    [0, 2]
    """
    pairs = enumerate(zip(first, second, strict=True))
    return [place for place, (one, other) in pairs if one is not None and other is not None]


def mcnemar_exact(b: int, c: int) -> float:
    """The two-sided p value of McNemar's exact test: `b` samples only the first got right, `c` only the second.

    >>> round(mcnemar_exact(154, 111), 6)
    0.009747
    """
    if min(b, c) < 0:
        raise ValueError(f"counts cannot be negative; found {b} and {c}")
    n, fewer = b + c, min(b, c)
    # The largest term exactly, the smaller ones as ratios: no rounding adds up, however many samples there are.
    term = math.comb(n, fewer) / (1 << n)
    terms = [term]
    for k in range(fewer, 0, -1):
        term *= k / (n - k + 1)
        terms.append(term)
        if term < terms[0] * 1e-20:
            break
    return min(1.0, 2.0 * math.fsum(terms))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p values, in the order of the given ones.

    >>> holm([0.01, 0.04, 0.03, 0.005])
    [0.03, 0.06, 0.06, 0.02]
    """
    if not all(0.0 <= p <= 1.0 for p in p_values):
        raise ValueError(f"p values lie between 0 and 1; found {list(p_values)}")
    adjusted = [0.0] * len(p_values)
    reached = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        reached = max(reached, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = reached
    return adjusted


def difference(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    statistic: SumStatistic,
    clusters: Clusters = None,
    *,
    seed: int,
    draws: int = DRAWS,
    level: float = 0.95,
) -> Difference:
    """The difference of a statistic between two graders, whose rows describe the same samples in the same order."""
    check_level(level)
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != other.shape or one.ndim != 2:
        raise ValueError(f"both graders need a row for every common sample; found {one.shape} and {other.shape}")
    width = one.shape[1]
    drawn = resample(np.hstack([one, other]), clusters, seed=seed, draws=draws)

    def gap(sums: Floats) -> Floats:
        return statistic(sums[:, :width]) - statistic(sums[:, width:])

    value, values = drawn.value(gap), drawn.values(gap, _size(drawn.sums, statistic, width))
    if value is None or values is None:
        return _without_interval(value, drawn, gap, np.array_equal(one, other))
    # Resamples of G clusters vary by (G-1)/G too little.
    error = float(values.std(ddof=1)) * math.sqrt(drawn.clusters / (drawn.clusters - 1))
    half = two_sided_t(level, drawn.clusters - 1) * error
    p = two_sided_tail(value / error, drawn.clusters - 1)
    method: PairedMethod = "paired-bootstrap" if drawn.clusters == drawn.n else "paired-bootstrap-clustered"
    return Difference(value, drawn.n, value - half, value + half, p, method, method)


def _size(sums: Floats, statistic: SumStatistic, width: int) -> float:
    """How large the two statistics are, of which a difference that is rounding is a very small part."""
    both = np.abs(np.concatenate([statistic(sums[:, :width]), statistic(sums[:, width:])]))
    return float(both[np.isfinite(both)].max(initial=0.0))


def _without_interval(value: float | None, drawn: Resamples, gap: SumStatistic, same: bool) -> Difference:
    if not drawn.n:
        return Difference(None, 0, None, None, None, "none", reason=NO_PAIRS)
    # Graders that never differ are the one case without spread of which the test result is known.
    p_method: PMethod = "identical" if same else "none"
    reason = NOT_DEFINED if value is None else SAME if same else why_no_interval(drawn, gap)
    return Difference(value, drawn.n, None, None, 1.0 if same else None, "none", p_method, reason)


def agreement_difference(
    first: Sequence[bool],
    second: Sequence[bool],
    clusters: Clusters = None,
    *,
    seed: int,
    draws: int = DRAWS,
    level: float = 0.95,
) -> Difference:
    """The difference between the shares of samples on which each grader agrees with people.

    The p value is McNemar's unless samples come in clusters, whose dependence that test does not know.
    """
    rows = [np.column_stack([np.ones(len(right)), np.asarray(right, dtype=np.float64)]) for right in (first, second)]
    found = difference(rows[0], rows[1], _share, clusters, seed=seed, draws=draws, level=level)
    if not found.n or _dependent(clusters):
        return found
    pairs = list(zip(first, second, strict=True))
    p = mcnemar_exact(sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs))
    return replace(found, p=p, p_method="mcnemar-exact")


def judge_all(differences: Sequence[Difference], level: float = 0.95) -> list[JudgedDifference]:
    """Adjust the p values of all differences by Holm's method and say which can be relied on."""
    check_level(level)
    adjusted = iter(holm([each.p for each in differences if each.p is not None]))
    return [_judged(each, next(adjusted) if each.p is not None else None, level) for each in differences]


def _judged(found: Difference, p_holm: float | None, level: float) -> JudgedDifference:
    return JudgedDifference(found, p_holm, p_holm is not None and p_holm <= 1.0 - level)


def _dependent(clusters: Clusters) -> bool:
    named = [name for name in clusters or () if name is not None]
    return len(set(named)) < len(named)


def _share(sums: Floats) -> Floats:
    return np.asarray(sums[:, 1] / sums[:, 0], dtype=np.float64)
