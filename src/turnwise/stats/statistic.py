"""One figure of a comparison between two raters: its value, its interval, and how that was made.

`method` says how the interval was made:

wilson                      a proportion of independent pairs
wilson-clustered            a proportion, on the number of independent pairs that would tell as much
t, t-clustered              a mean, as in `intervals`
fleiss-cohen-everitt        κ: its large-sample standard error, on Fisher's z
wilson-agreement            κ or Lin's concordance of 1: the lower bound of the agreement, corrected for chance
wilson-agreement-clustered  the same, by the agreement's bound on the effective number of pairs
influence                   Lin's concordance: the standard error from influence values, on Fisher's z
fisher-z                    Pearson's correlation
bonett-wright               Spearman's correlation
fieller                     Kendall's correlation
fisher-z-clustered          κ or a correlation: the standard error is robust against clusters
bootstrap-bca(-clustered)   balanced accuracy, Matthews' correlation, mean errors, Krippendorff's α: resampling
limits-of-agreement         not an interval of the mean, but where 95 % of the differences lie
none                        no interval
"""

from __future__ import annotations

from dataclasses import dataclass

from .intervals import Estimate

__all__ = [
    "NO_PAIRS",
    "NO_VARIATION",
    "ONE_CLUSTER",
    "ONE_PAIR",
    "Statistic",
    "bare",
    "from_estimate",
    "undefined",
]

NO_PAIRS = "there are no pairs"
ONE_PAIR = "the interval needs at least two pairs"
ONE_CLUSTER = "all pairs belong to one cluster"
NO_VARIATION = "the pairs show no spread from which an interval could be made"


@dataclass(frozen=True, slots=True)
class Statistic:
    """A figure from `n` pairs and the interval around it; None where the data do not define it, and `reason` why.

    `se` is the standard error of the value itself, `k` the number of successes of a proportion, and `design_effect` how
    many times larger clusters make the variance; each is None where there is none.
    """

    value: float | None
    n: int
    lo: float | None
    hi: float | None
    method: str
    se: float | None = None
    k: int | None = None
    design_effect: float | None = None
    reason: str | None = None


def undefined(n: int, reason: str) -> Statistic:
    """A figure that the data do not define.

    >>> undefined(0, "no pairs").value is None
    True
    """
    return Statistic(None, n, None, None, "none", reason=reason)


def bare(value: float, n: int, reason: str) -> Statistic:
    """A figure without an interval, and why it has none."""
    return Statistic(value, n, None, None, "none", reason=reason)


def from_estimate(
    estimate: Estimate,
    se: float | None = None,
    k: int | None = None,
    design_effect: float | None = None,
) -> Statistic:
    """The same figure, with what an estimate has no place for. One without an interval says so in `reason`."""
    return Statistic(
        estimate.value,
        estimate.n,
        estimate.lo,
        estimate.hi,
        estimate.method,
        se,
        k,
        design_effect,
        _why_none(estimate, se),
    )


def _why_none(estimate: Estimate, se: float | None) -> str | None:
    if estimate.value is None:
        return NO_PAIRS
    if estimate.lo is not None:
        return None
    if se is not None:
        return NO_VARIATION
    return ONE_PAIR if estimate.n < 2 else ONE_CLUSTER
