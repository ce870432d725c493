"""Labels as classes: the table of who said what, and, for two classes, how well the judge finds each of them.

Of two classes the caller says which is positive: columns hold 1 or True for it, and 0 or False for the other.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .agreement import proportion
from .pairs import Clusters, Codes, cluster_codes, code_pairs
from .statistic import RESAMPLE, Statistic, bare, undefined

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


def balanced_accuracy(human: ArrayLike, judge: ArrayLike) -> Statistic:
    """The mean of the true positive and the true negative rate; without an interval."""
    first, second = code_pairs(human, judge, 2)
    rates = [true_positive_rate(first, second), true_negative_rate(first, second)]
    values = [rate.value for rate in rates if rate.value is not None]
    missing = next((rate.reason for rate in rates if rate.value is None), None)
    return undefined(first.size, missing) if missing else bare(sum(values) / 2.0, first.size, RESAMPLE)


def mcc(human: ArrayLike, judge: ArrayLike) -> Statistic:
    """Matthews' correlation of two classes, which counts all four cells of the table alike; without an interval.

    >>> mcc([1, 1, 0, 0], [1, 1, 0, 0]).value
    1.0
    """
    table = confusion_table(human, judge, 2)
    (tn, fp), (fn, tp) = table.tolist()
    n = tn + fp + fn + tp
    margins = (tp + fn) * (tn + fp) * (tp + fp) * (tn + fn)
    if not margins:
        return undefined(n, "a rater gave only one of the two classes" if n else "there are no pairs")
    return bare(max(-1.0, min(1.0, (tp * tn - fp * fn) / math.sqrt(margins))), n, RESAMPLE)


def _found(human: ArrayLike, judge: ArrayLike, label: int, clusters: Clusters, level: float) -> Statistic:
    first, second = code_pairs(human, judge, 2)
    groups = cluster_codes(clusters, first.size)
    kept = first == label
    if not kept.any():
        return undefined(0, f"the human labels hold no {'positive' if label else 'negative'}")
    return proportion(second[kept] == label, None if groups is None else groups[kept], level)
