"""Pearson's and Spearman's correlation, with intervals on Fisher's z.

Independent pairs: the variance of z is 1/(n-3) for Pearson, and (1 + ρ²/2)/(n-3) for Spearman (Bonett and Wright 2000).
Clusters: the standard error comes from influence values. Those of Spearman know that ranks depend on all pairs.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .influence import fisher_interval, fisher_statistic, inside
from .normal import check_level
from .pairs import Clusters, Floats, cluster_codes, score_pairs
from .statistic import Statistic, bare, undefined

__all__ = ["formula_interval", "pearson", "spearman", "without_spread"]


def pearson(human: ArrayLike, judge: ArrayLike, clusters: Clusters = None, level: float = 0.95) -> Statistic:
    """Pearson's correlation: how nearly the scores lie on one rising line.

    >>> round(pearson([1, 2, 3], [1, 3, 2]).value, 6)
    0.5
    """
    check_level(level)
    x, y = score_pairs(human, judge)
    groups = cluster_codes(clusters, x.size)
    if (problem := without_spread(x, y)) is not None:
        return problem
    zx, zy = _standardised(x), _standardised(y)
    value = inside(float((zx * zy).mean()))
    if groups is None:
        return formula_interval(value, x.size, 1.0, 3, "fisher-z", level)
    return fisher_statistic(value, zx * zy - value * (zx**2 + zy**2) / 2.0, groups, "fisher-z", level)


def spearman(human: ArrayLike, judge: ArrayLike, clusters: Clusters = None, level: float = 0.95) -> Statistic:
    """Spearman's correlation: Pearson's of the ranks, where equal scores share the mean of theirs.

    >>> round(spearman([1, 2, 30], [1, 3, 2]).value, 6)
    0.5
    """
    check_level(level)
    x, y = score_pairs(human, judge)
    groups = cluster_codes(clusters, x.size)
    if (problem := without_spread(x, y)) is not None:
        return problem
    fx, fy = _shares_below(x), _shares_below(y)
    value = inside(float((_standardised(fx) * _standardised(fy)).mean()))
    if groups is None:
        return formula_interval(value, x.size, 1.0 + value * value / 2.0, 3, "bonett-wright", level)
    return fisher_statistic(value, _rank_influence(x, y, fx, fy, value), groups, "bonett-wright", level)


def without_spread(x: Floats, y: Floats) -> Statistic | None:
    """Why the columns have no correlation at all; None if they have one."""
    if x.size < 2:
        return undefined(x.size, "a correlation needs at least two pairs")
    for who, column in (("human", x), ("judge", y)):
        if column.min() == column.max():
            return undefined(x.size, f"all {who} scores are the same")
    return None


def formula_interval(value: float, n: int, factor: float, less: int, method: str, level: float) -> Statistic:
    """A correlation of independent pairs, where the variance of Fisher's z is `factor` / (n - `less`)."""
    if abs(value) == 1.0:
        return bare(value, n, "a perfect correlation leaves no spread from which an interval could be made")
    if n <= less:
        return bare(value, n, f"the interval needs more than {less} pairs")
    lo, hi = fisher_interval(value, math.sqrt(factor / (n - less)), level)
    return Statistic(value, n, lo, hi, method)


def _standardised(column: Floats) -> Floats:
    """The column with mean 0 and variance 1."""
    # Scaled first, so that no square overflows or vanishes.
    centred = column - column.mean()
    centred = centred / np.abs(centred).max()
    scaled: Floats = centred / math.sqrt(float((centred**2).mean()))
    return scaled


def _shares_below(column: Floats) -> Floats:
    """The share of values below each value, its equals counted half: the rank, between 0 and 1."""
    _, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
    result: Floats = ((np.cumsum(counts) - counts / 2.0) / column.size)[codes]
    return result


def _mean_above(column: Floats, other: Floats) -> Floats:
    """For each value the sum of `other` over the pairs with a larger value, equals counted half, by n."""
    _, codes = np.unique(column, return_inverse=True)
    sums = np.bincount(codes, weights=other)
    result: Floats = ((sums.sum() - np.cumsum(sums) + sums / 2.0) / column.size)[codes]
    return result


def _rank_influence(x: Floats, y: Floats, fx: Floats, fy: Floats, value: float) -> Floats:
    """How far each pair moves Spearman's ρ: through its own ranks, and through those of all pairs above it."""

    def moment(a: Floats, fa: Floats, b: Floats, fb: Floats) -> Floats:
        return fa * fb + _mean_above(a, fb) + _mean_above(b, fa) - 3.0 * float((fa * fb).mean())

    vx, vy = float(fx.var()), float(fy.var())
    own = moment(x, fx, x, fx) / vx + moment(y, fy, y, fy) / vy
    return moment(x, fx, y, fy) / math.sqrt(vx * vy) - value * own / 2.0
