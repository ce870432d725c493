"""Two raters on one scale of numbers: Lin's concordance, and how large the differences are, judge less human."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .bootstrap import DRAWS, resample
from .column_sums import ColumnSums
from .influence import NO_SPREAD, fisher_statistic, snapped
from .intervals import clustered_mean
from .normal import check_level, two_sided_z
from .pairs import Clusters, Floats, cluster_codes, score_pairs
from .perfect import perfect_statistic, why_constant
from .resampled import resampled
from .statistic import NO_PAIRS, Statistic, bare, from_estimate, undefined

__all__ = ["bias", "errors", "limits_of_agreement", "lin_ccc", "mae", "rmse"]


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
    value = snapped(float(together.mean()) / whole)
    if value == 1.0:
        return perfect_statistic(x, y, np.abs(x - y) <= NO_SPREAD, groups, level)
    if (reason := why_constant(x, y, "score")) is not None:
        return bare(value, x.size, reason)
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
    sums = ColumnSums(difference, cluster_codes(clusters, difference.size))
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


def mae(
    human: ArrayLike,
    judge: ArrayLike,
    clusters: Clusters = None,
    level: float = 0.95,
    *,
    seed: int,
    draws: int = DRAWS,
) -> Statistic:
    """The mean size of the differences.

    >>> mae([1, 2, 3, 4], [2, 2, 2, 4], seed=1).value
    0.5
    """
    return errors(human, judge, clusters, level, seed=seed, draws=draws)[0]


def rmse(
    human: ArrayLike,
    judge: ArrayLike,
    clusters: Clusters = None,
    level: float = 0.95,
    *,
    seed: int,
    draws: int = DRAWS,
) -> Statistic:
    """The root of the mean squared difference.

    >>> rmse([1, 2], [8, 3], seed=1).value
    5.0
    """
    return errors(human, judge, clusters, level, seed=seed, draws=draws)[1]


def errors(
    human: ArrayLike,
    judge: ArrayLike,
    clusters: Clusters = None,
    level: float = 0.95,
    *,
    seed: int,
    draws: int = DRAWS,
) -> tuple[Statistic, Statistic]:
    """`mae` and `rmse`, from the same resamples: both for the price of one."""
    check_level(level)
    sizes = np.abs(_differences(human, judge))
    groups = cluster_codes(clusters, sizes.size)
    if not sizes.size:
        return undefined(0, NO_PAIRS), undefined(0, NO_PAIRS)
    # Shares of the largest size: no square overflows or vanishes.
    largest = float(sizes.max()) or 1.0
    shares = sizes / largest
    rows = np.column_stack([np.ones_like(shares), shares, shares**2])
    drawn = resample(rows, None if groups is None else groups.tolist(), seed=seed, draws=draws)
    mean, root = _mean_and_root(sizes, largest)
    return (
        resampled(mean, drawn, lambda sums: sums[:, 1] / sums[:, 0], level, largest),
        resampled(root, drawn, lambda sums: np.sqrt(sums[:, 2] / sums[:, 0]), level, largest),
    )


def _mean_and_root(sizes: Floats, largest: float) -> tuple[float, float]:
    """The mean size and the root of the mean square. Where all sizes are the same, both are that size."""
    if sizes.min() == sizes.max():
        return float(sizes[0]), float(sizes[0])
    # Exact sums, so that the order of pairs never changes a digit.
    mean = math.fsum(sizes) / sizes.size
    if sizes.max() - sizes.min() <= NO_SPREAD * largest:
        return mean, mean
    return mean, largest * math.sqrt(math.fsum((sizes / largest) ** 2) / sizes.size)


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
