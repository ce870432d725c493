"""The work that figures.py measures: what a calibration computes for each judge, and for each pair of judges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from turnwise.stats.agreement import agreement, within
from turnwise.stats.bootstrap import SumStatistic, cell_rows, concordance_of_moments, kappa_statistic, moment_rows
from turnwise.stats.classes import balanced_accuracy, confusion_table, mcc, true_negative_rate, true_positive_rate
from turnwise.stats.concordance import bias, errors, limits_of_agreement, lin_ccc, mae
from turnwise.stats.correlation import pearson, spearman
from turnwise.stats.kendall import kendall
from turnwise.stats.paired import Difference, agreement_difference, difference
from turnwise.stats.statistic import Statistic
from turnwise.stats.weighted_kappa import cohen_kappa, weighted_kappa

__all__ = ["columns", "differences", "figures"]

Column = NDArray[np.float64] | NDArray[np.int64]
Names = list[str] | None

_VALUES = {"binary": 2, "ordinal": 11}


def columns(kind: str, samples: int, models: int, clusters: int | None) -> tuple[Column, list[Column], Names]:
    """The human's column, one for each judge, and the cluster of every sample."""
    rng = np.random.default_rng(3)
    names = None if clusters is None else [f"conversation-{each}" for each in rng.integers(0, clusters, samples)]
    if kind == "continuous":
        human = rng.normal(size=samples)
        return human, [human + rng.normal(scale=0.3 + 0.1 * model, size=samples) for model in range(models)], names
    labels = rng.integers(0, _VALUES[kind], samples)
    judges: list[Column] = []
    for model in range(models):
        moved = np.where(rng.random(samples) < 0.3 + 0.1 * model, rng.integers(-3, 4, samples), 0)
        judges.append(np.clip(labels + moved, 0, _VALUES[kind] - 1))
    return labels, judges, names


def figures(kind: str, human: Column, judge: Column, names: Names, seed: int) -> list[Statistic]:
    """Every figure that a report shows for this kind of scale."""
    if kind == "binary":
        confusion_table(human, judge, 2)
        rates = [each(human, judge, names) for each in (agreement, true_positive_rate, true_negative_rate)]
        resampled = [each(human, judge, names, seed=seed) for each in (balanced_accuracy, mcc)]
        return [cohen_kappa(human, judge, 2, names), *rates, *resampled]
    if kind == "ordinal":
        return _ordinal(human, judge, names, seed)
    plain = [each(human, judge, names) for each in (lin_ccc, bias, pearson, spearman, kendall)]
    return [*plain, limits_of_agreement(human, judge), *errors(human, judge, names, seed=seed)]


def _ordinal(human: Column, judge: Column, names: Names, seed: int) -> list[Statistic]:
    confusion_table(human, judge, 11)
    scores = [float(value) for value in range(11)]
    return [
        weighted_kappa(human, judge, scores, "quadratic", names),
        weighted_kappa(human, judge, scores, "linear", names),
        cohen_kappa(human, judge, 11, names),
        within(human, judge, 1.0, names),
        mae(human, judge, names, seed=seed),
        *(each(human, judge, names) for each in (agreement, bias, spearman, kendall)),
    ]


def differences(
    kind: str, human: Column, first: Column, second: Column, names: Names, *, seed: int
) -> tuple[Difference, Difference]:
    """The difference of the headline, and that of the agreement."""
    headline: SumStatistic
    if kind == "continuous":
        rows, headline = [moment_rows(human, each) for each in (first, second)], concordance_of_moments
        right = [(np.abs(each - human) < 0.5).tolist() for each in (first, second)]
    else:
        labels = _VALUES[kind]
        rows = [cell_rows(human.tolist(), each.tolist(), labels) for each in (first, second)]
        headline = kappa_statistic(range(labels), 0 if kind == "binary" else 2)
        right = [(each == human).tolist() for each in (first, second)]
    return (
        difference(rows[0], rows[1], headline, names, seed=seed),
        agreement_difference(right[0], right[1], names, seed=seed),
    )
