"""Every figure of two raters, on every small set of labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product

import pytest

from turnwise.stats.agreement import agreement, agreement_without, within
from turnwise.stats.classes import balanced_accuracy, mcc, true_negative_rate, true_positive_rate
from turnwise.stats.concordance import bias, limits_of_agreement, lin_ccc, mae, rmse
from turnwise.stats.correlation import pearson, spearman
from turnwise.stats.kendall import kendall
from turnwise.stats.statistic import Statistic
from turnwise.stats.weighted_kappa import cohen_kappa, weighted_kappa

Labels = tuple[int, ...]
Clustered = Callable[[Labels, Labels, list[int] | None], Statistic]

CLUSTERED: dict[str, Clustered] = {
    "agreement": agreement,
    "agreement_no_ties": lambda human, judge, clusters: agreement_without(human, judge, 2, clusters),
    "within_1": lambda human, judge, clusters: within(human, judge, 1.0, clusters),
    "kappa": lambda human, judge, clusters: cohen_kappa(human, judge, 3, clusters),
    "kappa_linear": lambda human, judge, clusters: weighted_kappa(human, judge, [1, 2, 4], "linear", clusters),
    "kappa_quadratic": lambda human, judge, clusters: weighted_kappa(human, judge, [1, 2, 4], "quadratic", clusters),
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
    "lin_ccc": lin_ccc,
    "bias": bias,
}
ALONE: dict[str, Callable[[Labels, Labels], Statistic]] = {
    "loa": limits_of_agreement,
    "tnr": true_negative_rate,
    "tpr": true_positive_rate,
}
RESAMPLED = {"balanced_accuracy": balanced_accuracy, "mae": mae, "mcc": mcc, "rmse": rmse}


def small_sets(labels: int, largest: int) -> Iterator[tuple[Labels, Labels]]:
    """All pairs of columns of up to `largest` labels."""
    for n in range(largest + 1):
        columns = list(product(range(labels), repeat=n))
        yield from product(columns, columns)


def check(figure: Statistic) -> None:
    """What holds for any figure: finite numbers, a reason for what is missing, ends around the value."""
    numbers = (figure.value, figure.lo, figure.hi, figure.se, figure.design_effect)
    assert all(number is None or math.isfinite(number) for number in numbers)
    assert (figure.lo is None) == (figure.hi is None) == (figure.reason is not None)
    if figure.value is not None and figure.lo is not None and figure.hi is not None:
        assert figure.lo <= figure.value <= figure.hi


@pytest.mark.parametrize("name", CLUSTERED)
def test_small_sets_with_clusters(name: str) -> None:
    """Up to three samples, alone, in one cluster or two: no warning, no NaN, nothing missing without a reason."""
    for human, judge in small_sets(3, 3):
        n = len(human)
        for clusters in (None, [0] * n, [index // 2 for index in range(n)]):
            figure = CLUSTERED[name](human, judge, clusters)
            check(figure)
            assert figure.n <= n


@pytest.mark.parametrize("name", ALONE)
def test_small_sets_of_two_classes(name: str) -> None:
    """Up to four samples of two classes: no warning, no NaN, and nothing missing without a reason."""
    for human, judge in small_sets(2, 4):
        check(ALONE[name](human, judge))


@pytest.mark.parametrize("name", RESAMPLED)
def test_small_sets_drawn_again(name: str) -> None:
    """Up to three samples of two classes, alone, in one cluster or two: the same holds for what is resampled."""
    for human, judge in small_sets(2, 3):
        n = len(human)
        for clusters in (None, [0] * n, [index // 2 for index in range(n)]):
            check(RESAMPLED[name](human, judge, clusters, seed=1, draws=40))
