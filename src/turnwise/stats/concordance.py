"""Two raters on one scale of numbers: Lin's concordance, and how large the differences are, judge less human."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .influence import fisher_statistic, inside
from .intervals import clustered_mean
from .normal import check_level, two_sided_z
from .pairs import Clusters, Floats, cluster_codes, score_pairs
from .statistic import RESAMPLE, Statistic, bare, from_estimate, undefined
from .sums import ClusterSums

__all__ = ["bias", "limits_of_agreement", "lin_ccc", "mae", "rmse"]

NO_PAIRS = "there are no pairs"


def lin_ccc(human: ArrayLike, judge: ArrayLike, clusters: Clusters = None, level: float = 0.95) -> Statistic:
    """Lin's concordance, with n as denominator of variances: quadratic κ, for any numbers.

    >>> round(lin_ccc([1, 2, 3, 3], [1, 2, 3, 2]).value, 6)
    0.8
    """
    check_level(level)
    x, y = _one_scale(*score_pairs(human, judge))
    groups = cluster_codes(clusters, x.size)
    if not x.size:
        return undefined(0, NO_PAIRS)
    shift = float(x.mean() - y.mean())
    dx, dy = x - x.mean(), y - y.mean()
    together, apart = 2.0 * dx * dy, dx**2 + dy**2
    whole = float(apart.mean()) + shift**2
    if not whole:
        return undefined(x.size, "both raters gave one and the same score throughout")
    value = inside(float(together.mean()) / whole)
    upper = together - together.mean()
    lower = apart - apart.mean() + 2.0 * shift * (dx - dy)
    return fisher_statistic(value, (upper - value * lower) / whole, groups, "influence", level)


def bias(human: ArrayLike, judge: ArrayLike, clusters: Clusters = None, level: float = 0.95) -> Statistic:
    """The mean difference, judge less human, with a t interval: above 0 the judge is the more generous one.

    >>> bias([1, 2, 3], [2, 2, 5]).value
    1.0
    """
    check_level(level)
    difference = _differences(human, judge)
    groups = cluster_codes(clusters, difference.size)
    sums = ClusterSums()
    for index, each in enumerate(difference.tolist()):
        sums.add(None if groups is None else str(groups[index]), each)
    if sums.mean is not None and sums.standard_error == 0.0:
        return bare(sums.mean, sums.n, "the differences do not vary")
    return from_estimate(clustered_mean(sums, level), sums.standard_error)


def limits_of_agreement(human: ArrayLike, judge: ArrayLike, level: float = 0.95) -> Statistic:
    """Bland and Altman's limits, which hold 95 % of the differences if these are normal; the value is the bias."""
    check_level(level)
    difference = _differences(human, judge)
    if difference.size < 2:
        return undefined(difference.size, "the spread of differences needs at least two pairs")
    mean, half = float(difference.mean()), two_sided_z(level) * float(difference.std(ddof=1))
    return Statistic(mean, difference.size, mean - half, mean + half, "limits-of-agreement")


def mae(human: ArrayLike, judge: ArrayLike) -> Statistic:
    """The mean size of the differences; without an interval.

    >>> mae([1, 2, 3, 4], [2, 2, 2, 4]).value
    0.5
    """
    difference = _differences(human, judge)
    if not difference.size:
        return undefined(0, NO_PAIRS)
    return bare(float(np.abs(difference).mean()), difference.size, RESAMPLE)


def rmse(human: ArrayLike, judge: ArrayLike) -> Statistic:
    """The root of the mean squared difference; without an interval.

    >>> rmse([1, 2], [8, 3]).value
    5.0
    """
    difference = _differences(human, judge)
    if not difference.size:
        return undefined(0, NO_PAIRS)
    size = float(np.abs(difference).max())
    mean = float(np.square(difference / size).mean()) if size else 0.0
    return bare(size * math.sqrt(mean), difference.size, RESAMPLE)


def _differences(human: ArrayLike, judge: ArrayLike) -> Floats:
    first, second = score_pairs(human, judge)
    return second - first


def _one_scale(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Both columns moved and scaled alike, which concordance does not feel, so that no square overflows or vanishes."""
    both = np.concatenate([x, y])
    if not both.size:
        return x, y
    origin = both.min()
    spread = both.max() - origin
    return ((x - origin) / spread, (y - origin) / spread) if spread else (x - origin, y - origin)
