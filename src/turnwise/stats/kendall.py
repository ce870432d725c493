"""Kendall's τ-b: how many more pairs of samples two raters order alike than unlike, ties accounted for.

Independent pairs: the variance of Fisher's z is .437/(n-4) (Fieller, Hartley and Pearson 1957). Clusters: the standard
error comes from influence values.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .correlation import formula_interval, without_spread
from .influence import fisher_statistic, inside
from .normal import check_level
from .pairs import Clusters, Codes, Floats, cluster_codes, score_pairs
from .statistic import Statistic

__all__ = ["kendall", "order_balance"]


def kendall(human: ArrayLike, judge: ArrayLike, clusters: Clusters = None, level: float = 0.95) -> Statistic:
    """Kendall's τ-b.

    >>> round(kendall([1, 2, 3], [1, 3, 2]).value, 6)
    0.333333
    """
    check_level(level)
    x, y = score_pairs(human, judge)
    groups = cluster_codes(clusters, x.size)
    if (problem := without_spread(x, y)) is not None:
        return problem
    order, unlike_x, unlike_y = order_balance(x, y) / x.size, _unlike(x), _unlike(y)
    tx, ty = float(unlike_x.mean()), float(unlike_y.mean())
    tau = inside(float(order.mean()) / math.sqrt(tx * ty))
    if groups is None:
        return formula_interval(tau, x.size, 0.437, 4, "fieller", level)
    # A sample stands on either side of a comparison: hence the factor 2.
    own = (unlike_x - tx) / tx + (unlike_y - ty) / ty
    influence = 2.0 * ((order - order.mean()) / math.sqrt(tx * ty) - tau * own / 2.0)
    return fisher_statistic(tau, influence, groups, "fieller", level)


def order_balance(x: Floats, y: Floats) -> Codes:
    """For each sample how many samples both raters place on the same side of it, less how many on unlike sides.

    Ranks of x that differ do so first, from above, in exactly one binary digit. For each digit, samples whose ranks are
    the same above it are sorted by y, and running counts of ones and zeros tell who stands where: n · log² n steps.

    >>> order_balance(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])).tolist()
    [2, 0, 0]
    """
    ranks, others = (np.unique(column, return_inverse=True)[1].reshape(-1) for column in (x, y))
    balance = np.zeros(x.size, dtype=np.int64)
    for digit in range(int(ranks.max(initial=0)).bit_length()):
        balance += _balance_at(ranks, others, digit)
    return balance


def _balance_at(ranks: Codes, others: Codes, digit: int) -> Codes:
    """The part of the balance that comes from pairs of samples whose ranks differ first in this digit."""
    groups = ranks >> (digit + 1)
    keys = groups * (others.max() + 1) + others
    order = np.argsort(keys, kind="stable")
    ones = (ranks >> digit & 1)[order]
    below, above = _sides(groups[order], keys[order], ones)
    zeros_below, zeros_above = _sides(groups[order], keys[order], 1 - ones)
    result = np.empty_like(ranks)
    result[order] = np.where(ones == 1, zeros_below - zeros_above, above - below)
    return result


def _sides(groups: Codes, keys: Codes, marks: Codes) -> tuple[Codes, Codes]:
    """For each place the marks of its group with a smaller key, and those with a larger one; all sorted by key."""
    running = np.concatenate([[0], np.cumsum(marks)])
    below = running[np.searchsorted(keys, keys, "left")] - running[np.searchsorted(groups, groups, "left")]
    above = running[np.searchsorted(groups, groups, "right")] - running[np.searchsorted(keys, keys, "right")]
    return below, above


def _unlike(column: Floats) -> Floats:
    """For each value the share of values that differ from it."""
    _, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
    result: Floats = (1.0 - counts / column.size)[codes]
    return result
