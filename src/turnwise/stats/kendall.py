"""Kendall's τ-b: how many more pairs of samples two raters order alike than unlike, ties accounted for.

Independent pairs: the variance of Fisher's z is .437/(n-4) (Fieller, Hartley and Pearson 1957). Clusters: the standard
error comes from influence values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from .correlation import formula_interval, without_spread
from .influence import fisher_statistic, inside
from .normal import check_level
from .pairs import Clusters, Codes, Floats, cluster_codes, score_pairs
from .statistic import Statistic

__all__ = ["kendall"]

FEW_CELLS = 2_000
"""Up to this many different pairs of scores, comparing each with each is quicker than loading scipy."""

BLOCK = 2_000_000
"""How many comparisons are held in memory at once."""


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
    if groups is None:
        return formula_interval(_tau(x, y), x.size, 0.437, 4, "fieller", level)
    order = _order(x, y)
    unlike_x, unlike_y = _unlike(x), _unlike(y)
    tau = _ratio(order, unlike_x, unlike_y)
    tx, ty = float(unlike_x.mean()), float(unlike_y.mean())
    # A sample stands on either side of a comparison: hence the factor 2.
    own = (unlike_x - tx) / tx + (unlike_y - ty) / ty
    influence = 2.0 * ((order - order.mean()) / math.sqrt(tx * ty) - tau * own / 2.0)
    return fisher_statistic(tau, influence, groups, "fieller", level)


def _tau(x: Floats, y: Floats) -> float:
    if _cells(x, y)[0].shape[1] > FEW_CELLS:
        from scipy.stats import kendalltau

        return inside(float(kendalltau(x, y, method="asymptotic").statistic))
    return _ratio(_order(x, y), _unlike(x), _unlike(y))


def _ratio(order: Floats, unlike_x: Floats, unlike_y: Floats) -> float:
    return inside(float(order.mean()) / math.sqrt(float(unlike_x.mean()) * float(unlike_y.mean())))


def _cells(x: Floats, y: Floats) -> tuple[Floats, Codes, Codes]:
    """The different pairs of scores (a column each), which of them each pair is, and how often each occurs."""
    cells, codes, counts = np.unique(np.stack([x, y]), axis=1, return_inverse=True, return_counts=True)
    return cells, codes.reshape(-1), counts


def _order(x: Floats, y: Floats) -> Floats:
    """For each sample the share of samples that both raters place on the same side of it, less that on unlike sides."""
    (cx, cy), codes, counts = _cells(x, y)
    alike = [
        (np.sign(cx[rows, None] - cx) * np.sign(cy[rows, None] - cy)) @ counts.astype(np.float64)
        for rows in _blocks(cx.size)
    ]
    result: Floats = np.concatenate(alike)[codes] / x.size
    return result


def _blocks(cells: int) -> Iterator[slice]:
    step = max(1, BLOCK // cells)
    return (slice(start, start + step) for start in range(0, cells, step))


def _unlike(column: Floats) -> Floats:
    """For each value the share of values that differ from it."""
    _, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
    result: Floats = (1.0 - counts / column.size)[codes]
    return result
