"""How often two raters agree: proportions of pairs, with Wilson's interval."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .column_sums import ColumnSums
from .intervals import robust_proportion, wilson
from .pairs import Clusters, cluster_codes, code_pairs, score_pairs
from .statistic import NO_PAIRS, Statistic, from_estimate, undefined

__all__ = ["agreement", "agreement_without", "proportion", "within"]


def proportion(hits: ArrayLike, clusters: Clusters = None, level: float = 0.95) -> Statistic:
    """The share of pairs that are hits; pairs in clusters count as the independent pairs that would tell as much.

    >>> proportion([True] * 17 + [False] * 3).k
    17
    """
    marks = np.asarray(hits, dtype=np.bool_)
    groups = cluster_codes(clusters, marks.size)
    k = int(marks.sum())
    if groups is None:
        return from_estimate(wilson(k, marks.size, level), k=k)
    sums = ColumnSums(marks.astype(np.float64), groups)
    return from_estimate(robust_proportion(sums, level), sums.standard_error, k, sums.design_effect)


def agreement(human: ArrayLike, judge: ArrayLike, clusters: Clusters = None, level: float = 0.95) -> Statistic:
    """The share of pairs with the same label code."""
    first, second = code_pairs(human, judge)
    return proportion(first == second, clusters, level)


def agreement_without(
    human: ArrayLike, judge: ArrayLike, left_out: int, clusters: Clusters = None, level: float = 0.95
) -> Statistic:
    """The agreement on the pairs where neither rater gave the label `left_out`, such as a tie.

    >>> agreement_without([0, 1, 2, 2], [0, 0, 2, 1], left_out=2).value
    0.5
    """
    first, second = code_pairs(human, judge)
    kept: NDArray[np.bool_] = (first != left_out) & (second != left_out)
    if not kept.any():
        return undefined(0, "every pair holds the label that is left out" if first.size else NO_PAIRS)
    groups = cluster_codes(clusters, first.size)
    return proportion((first == second)[kept], None if groups is None else groups[kept], level)


def within(
    human: ArrayLike, judge: ArrayLike, distance: float = 1.0, clusters: Clusters = None, level: float = 0.95
) -> Statistic:
    """The share of pairs whose scores are at most `distance` apart.

    >>> within([1, 2, 3], [2, 2, 5]).k
    2
    """
    first, second = score_pairs(human, judge)
    # Scores such as 3.4 and 4.4 are 1 apart for people, and a little more for floats.
    return proportion(np.abs(first - second) <= distance * (1.0 + 1e-9), clusters, level)
