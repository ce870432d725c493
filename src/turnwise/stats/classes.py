"""Labels as classes: the table of who said what, and, for two classes, how well the judge finds each of them.

Of two classes the caller says which is positive: columns hold 1 or True for it, and 0 or False for the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .agreement import proportion
from .bootstrap import DRAWS, SumStatistic, cell_rows, resample
from .normal import check_level
from .pairs import Clusters, Codes, Floats, cluster_codes, code_pairs
from .resampled import resampled
from .statistic import NO_PAIRS, Statistic, undefined

__all__ = ["balanced_accuracy", "confusion_table", "mcc", "true_negative_rate", "true_positive_rate"]


def confusion_table(human: ArrayLike, judge: ArrayLike, classes: int) -> Codes:
    """How often each pair of label codes from 0 to `classes` - 1 occurs; rows are the human's labels.

    >>> confusion_table([0, 0, 1], [0, 1, 1], 2).tolist()
    [[1, 1], [0, 1]]
    """
    first, second = code_pairs(human, judge, classes)
    return np.bincount(first * classes + second, minlength=classes * classes).reshape(classes, classes)


def true_positive_rate(human: ArrayLike, judge: ArrayLike, clusters: Clusters = None, level: float = 0.95) -> Statistic:
    """The share of the human's positives that the judge calls positive too.

    >>> true_positive_rate([1, 1, 1, 1, 0], [1, 1, 1, 0, 1]).value
    0.75
    """
    return _found(human, judge, 1, clusters, level)


def true_negative_rate(human: ArrayLike, judge: ArrayLike, clusters: Clusters = None, level: float = 0.95) -> Statistic:
    """The share of the human's negatives that the judge calls negative too."""
    return _found(human, judge, 0, clusters, level)


def balanced_accuracy(
    human: ArrayLike,
    judge: ArrayLike,
    clusters: Clusters = None,
    level: float = 0.95,
    *,
    seed: int,
    draws: int = DRAWS,
) -> Statistic:
    """The mean of the true positive and the true negative rate.

    >>> balanced_accuracy([1, 1, 1, 1, 0], [1, 1, 1, 0, 0], seed=1).value
    0.875
    """
    check_level(level)
    first, second = code_pairs(human, judge, 2)
    for label in (0, 1):
        if not (first == label).any():
            return undefined(first.size, _why_missing(first, label))
    return _resampled(first, second, _mean_rates, clusters, level, seed, draws)


def mcc(
    human: ArrayLike,
    judge: ArrayLike,
    clusters: Clusters = None,
    level: float = 0.95,
    *,
    seed: int,
    draws: int = DRAWS,
) -> Statistic:
    """Matthews' correlation of two classes, which counts all four cells of the table alike.

    >>> mcc([1, 1, 0, 0], [1, 1, 0, 0], seed=1).value
    1.0
    """
    check_level(level)
    first, second = code_pairs(human, judge, 2)
    if not first.size:
        return undefined(0, NO_PAIRS)
    constant = [column.min() == column.max() for column in (first, second)]
    if any(constant):
        who = "both raters" if all(constant) else "one of the raters"
        return undefined(first.size, f"{who} gave only one of the two classes")
    return _resampled(first, second, _correlations, clusters, level, seed, draws)


def _resampled(
    human: Codes, judge: Codes, figure: SumStatistic, clusters: Clusters, level: float, seed: int, draws: int
) -> Statistic:
    groups = cluster_codes(clusters, human.size)
    rows = cell_rows(human.tolist(), judge.tolist(), 2)
    drawn = resample(rows, None if groups is None else groups.tolist(), seed=seed, draws=draws)
    value = drawn.value(figure)
    assert value is not None, "both classes occur wherever the figure asks for them"
    return resampled(value, drawn, figure, level)


def _mean_rates(sums: Floats) -> Floats:
    tn, fp, fn, tp = sums.T
    return (_share(tp, tp + fn) + _share(tn, tn + fp)) / 2.0


def _correlations(sums: Floats) -> Floats:
    tn, fp, fn, tp = sums.T
    margins = (tp + fn) * (tn + fp) * (tp + fp) * (tn + fn)
    return np.clip(_share(tp * tn - fp * fn, np.sqrt(margins)), -1.0, 1.0)


def _share(part: Floats, whole: Floats) -> Floats:
    """The part of the whole; NaN where there is no whole."""
    result: Floats = np.divide(part, whole, out=np.full_like(whole, np.nan), where=whole > 0)
    return result


def _found(human: ArrayLike, judge: ArrayLike, label: int, clusters: Clusters, level: float) -> Statistic:
    first, second = code_pairs(human, judge, 2)
    groups = cluster_codes(clusters, first.size)
    kept = first == label
    if not kept.any():
        return undefined(0, _why_missing(first, label))
    return proportion(second[kept] == label, None if groups is None else groups[kept], level)


def _why_missing(human: Codes, label: int) -> str:
    return f"the human labels hold no {'positive' if label else 'negative'}" if human.size else NO_PAIRS
