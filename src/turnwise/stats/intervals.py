"""Estimates with confidence intervals: rates by Wilson's interval, means by Student's t, both aware of clusters.

An interval that the data do not define is None, never a guess. `method` says how the interval was made:

wilson            rate, independent values
wilson-clustered  rate, on the number of independent values that would tell as much
t                 mean, independent values
t-clustered       mean, with a standard error that is robust against clusters
none              no interval
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from .normal import check_level, two_sided_z
from .student import two_sided_t
from .sums import ClusterSums

__all__ = [
    "Estimate",
    "Method",
    "clustered_mean",
    "clustered_proportion",
    "mean_interval",
    "robust_proportion",
    "wilson",
]

Method = Literal["wilson", "wilson-clustered", "t", "t-clustered", "none"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number from `n` values, and the interval from `lo` to `hi` around it; None where not defined."""

    value: float | None
    n: int
    lo: float | None
    hi: float | None
    method: Method


def wilson(successes: int, n: int, level: float = 0.95) -> Estimate:
    """The rate of successes among `n` independent tries, with Wilson's score interval.

    >>> rate = wilson(8, 10)
    >>> rate.value, round(rate.lo, 7), round(rate.hi, 7)
    (0.8, 0.4901625, 0.9433178)
    """
    if not 0 <= successes <= n:
        raise ValueError(f"successes must lie between 0 and the number of tries, {n}; found {successes}")
    check_level(level)
    return _wilson(successes / n, n, n, level, "wilson") if n else _bare(None, 0)


def mean_interval(values: Iterable[float], level: float = 0.95) -> Estimate:
    """The mean of independent values, with Student's t interval; no interval for a single value.

    >>> mean_interval([1.0, 3.0]).value
    2.0
    """
    sums = ClusterSums()
    for value in values:
        sums.add(None, value)
    return clustered_mean(sums, level)


def clustered_mean(sums: ClusterSums, level: float = 0.95) -> Estimate:
    """The mean, with a t interval on the cluster-robust standard error and one degree of freedom per cluster, less one.

    With one value per cluster this is the ordinary t interval. With fewer than two clusters there is no interval. Where
    nothing varies, t would have an interval of no width, which nobody believes: the mean of nothing but zeros, or of
    nothing but ones, has Wilson's, and that of any other value none.
    """
    check_level(level)
    mean, error = sums.mean, sums.standard_error
    if mean is None or error is None:
        return _bare(mean, sums.n)
    if error == 0.0:
        return clustered_proportion(sums, level) if mean in (0.0, 1.0) and sums.zero_or_one else _bare(mean, sums.n)
    half = two_sided_t(level, sums.clusters - 1) * error
    return Estimate(mean, sums.n, mean - half, mean + half, "t" if sums.clusters == sums.n else "t-clustered")


def clustered_proportion(sums: ClusterSums, level: float = 0.95) -> Estimate:
    """The share of ones among values of 0 and 1, with Wilson's interval on the effective number of values.

    That number is n divided by the design effect, and never more than n; with one value per cluster this is the plain
    Wilson interval. Where all values are the same, nothing tells how clusters vary, and each counts as one value: six
    failures of one case say no more than one. A design effect that is known from few clusters is itself uncertain: Korn
    and Graubard's factor, the square of t with n-1 by t with G-1 degrees of freedom, makes up for it. Without it, 5
    clusters of 5 values would cover the truth in 89 % of cases instead of 95 %. A single cluster with both values has
    no interval.
    """
    check_level(level)
    if not sums.zero_or_one:
        raise ValueError("a proportion needs values of 0 and 1 only; use clustered_mean for other values")
    rate = sums.mean
    if rate is None:
        return _bare(None, 0)
    if rate in (0.0, 1.0):
        method: Method = "wilson" if sums.clusters == sums.n else "wilson-clustered"
        return _wilson(rate, sums.n, sums.clusters, level, method)
    effect = sums.design_effect
    if effect is None:
        return _bare(rate, sums.n)
    if sums.clusters == sums.n:
        return _wilson(rate, sums.n, sums.n, level, "wilson")
    few = (two_sided_t(level, sums.n - 1) / two_sided_t(level, sums.clusters - 1)) ** 2
    effective = min(sums.n, sums.n * few / effect) if effect > 0 else sums.n
    return _wilson(rate, sums.n, effective, level, "wilson-clustered")


def robust_proportion(sums: ClusterSums, level: float = 0.95) -> Estimate:
    """The share of ones among values of 0 and 1, with Wilson's interval on p(1-p) / SE² values, and nothing else.

    SE is the cluster-robust standard error. Where it is 0, as it is where all values are the same, nothing tells how
    clusters vary, and each counts as one value. A single cluster with both values has no interval.
    """
    check_level(level)
    if not sums.zero_or_one:
        raise ValueError("a proportion needs values of 0 and 1 only; use clustered_mean for other values")
    rate, error = sums.mean, sums.standard_error
    if rate is None:
        return _bare(None, 0)
    method: Method = "wilson" if sums.clusters == sums.n else "wilson-clustered"
    if rate in (0.0, 1.0) or error == 0.0:
        return _wilson(rate, sums.n, sums.clusters, level, method)
    if error is None:
        return _bare(rate, sums.n)
    effective = sums.n if sums.clusters == sums.n else rate * (1.0 - rate) / error**2
    return _wilson(rate, sums.n, effective, level, method)


def _bare(value: float | None, n: int) -> Estimate:
    return Estimate(value, n, None, None, "none")


def _wilson(rate: float, n: int, effective: float, level: float, method: Method) -> Estimate:
    weight = two_sided_z(level) ** 2 / effective
    centre = (rate + weight / 2.0) / (1.0 + weight)
    half = math.sqrt(weight * (rate * (1.0 - rate) + weight / 4.0)) / (1.0 + weight)
    # Rounding must not push an end past the rate itself or out of the possible rates: at 0 and 1 both coincide.
    lo = 0.0 if rate == 0.0 else min(max(centre - half, 0.0), rate)
    hi = 1.0 if rate == 1.0 else max(min(centre + half, 1.0), rate)
    return Estimate(rate, n, lo, hi, method)
