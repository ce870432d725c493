"""Cohen's κ, plain and weighted: agreement beyond what the two raters' habits alone would give.

κ is 1 - observed / expected disagreement. The disagreement of two labels is 1 for plain κ, and for weighted κ the
distance of their score values, or its square. The standard error is that of Fleiss, Cohen and Everitt (1969), which is
the root mean square of the pairs' influence values; clusters sum these first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from .classes import confusion_table
from .influence import fisher_statistic, snapped
from .normal import check_level
from .pairs import Clusters, Codes, Floats, cluster_codes, code_pairs
from .perfect import perfect_statistic, why_constant
from .statistic import NO_PAIRS, Statistic, bare, undefined

__all__ = ["Weights", "cohen_kappa", "disagreements", "kappa_of_table", "weighted_kappa"]

Weights = Literal["linear", "quadratic"]


def cohen_kappa(
    human: ArrayLike, judge: ArrayLike, classes: int, clusters: Clusters = None, level: float = 0.95
) -> Statistic:
    """Cohen's κ of two columns of label codes from 0 to `classes` - 1.

    >>> cohen_kappa([0, 0, 1, 1], [0, 0, 1, 0], 2).value
    0.5
    """
    return _kappa(*code_pairs(human, judge, classes), 1.0 - np.eye(classes), clusters, level)


def weighted_kappa(
    human: ArrayLike,
    judge: ArrayLike,
    values: Sequence[float],
    weights: Weights = "quadratic",
    clusters: Clusters = None,
    level: float = 0.95,
) -> Statistic:
    """Weighted κ of two columns of label codes; `values` holds the score that each code stands for.

    >>> round(weighted_kappa([0, 1, 2, 2], [0, 1, 2, 1], [1.0, 2.0, 3.0]).value, 6)
    0.8
    """
    return _kappa(*code_pairs(human, judge, len(values)), disagreements(values, weights), clusters, level)


def disagreements(values: Sequence[float], weights: Weights) -> Floats:
    """How far apart every two of the score values are, as shares of the largest distance.

    >>> disagreements([1.0, 2.0, 5.0], "linear")[0].tolist()
    [0.0, 0.25, 1.0]
    """
    scores = np.asarray(values, dtype=np.float64)
    distance = np.abs(scores[:, None] - scores)
    largest = distance.max(initial=0.0)
    shares: Floats = distance / largest if largest else distance
    return shares**2 if weights == "quadratic" else shares


def kappa_of_table(table: ArrayLike, disagreement: Floats) -> float | None:
    """κ of a table of counts (rows: human); None where no disagreement can be expected.

    >>> kappa_of_table([[2, 0], [1, 1]], 1.0 - np.eye(2))
    0.5
    """
    counts = np.asarray(table, dtype=np.float64)
    n = counts.sum()
    expected = float(counts.sum(axis=1) @ disagreement @ counts.sum(axis=0))
    return snapped(1.0 - float(n * (counts * disagreement).sum()) / expected) if expected > 0.0 else None


def _kappa(human: Codes, judge: Codes, disagreement: Floats, clusters: Clusters, level: float) -> Statistic:
    check_level(level)
    groups = cluster_codes(clusters, human.size)
    table = confusion_table(human, judge, len(disagreement))
    value = kappa_of_table(table, disagreement)
    if value is None:
        return undefined(human.size, "both raters gave one and the same label throughout" if human.size else NO_PAIRS)
    if value == 1.0:
        return perfect_statistic(human, judge, human == judge, groups, level)
    if (reason := why_constant(human, judge, "label")) is not None:
        return bare(value, human.size, reason)
    influence = _influence(table / human.size, disagreement)[human, judge]
    return fisher_statistic(value, influence, groups, "fleiss-cohen-everitt", level)


def _influence(shares: Floats, disagreement: Floats) -> Floats:
    """How far one pair in each cell of the table moves κ, in units of 1/n."""
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed = float((shares * disagreement).sum())
    expected = float(rows @ disagreement @ columns)
    habits = (disagreement @ columns)[:, None] + rows @ disagreement - 2.0 * expected
    result: Floats = (habits * observed / expected - (disagreement - observed)) / expected
    return result
