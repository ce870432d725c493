"""The figures of a comparison, by the kind of scale."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..stats import agreement, classes, concordance, correlation, kendall, weighted_kappa
from ..stats.statistic import Statistic, undefined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .measure import Measure, Pairs

    Column = NDArray[Any]

__all__ = ["MOST_CLASSES", "TOO_MANY_CLASSES", "compare", "confusion_counts"]

MOST_CLASSES = 300
TOO_MANY_CLASSES = f"κ needs a table of labels, and there are more than {MOST_CLASSES} different ones"


def compare(pairs: Pairs, measure: Measure) -> dict[str, Statistic]:
    """Every figure that the scale has. One that the labels do not define has no value, and a reason."""
    kinds: dict[str, Callable[[Pairs, Measure], dict[str, Statistic]]] = {
        "binary": _binary,
        "ordinal": _ordinal,
        "continuous": _continuous,
        "categorical": _categorical,
    }
    return kinds[measure.scale.kind](pairs, measure)


def confusion_counts(pairs: Pairs, measure: Measure) -> tuple[tuple[int, ...], ...] | None:
    """How often each class of people met each class of the judge; None on a continuous scale."""
    if measure.scale.kind == "continuous" or len(measure.classes) > MOST_CLASSES:
        return None
    human, judge = measure.codes(pairs.human), measure.codes(pairs.judge)
    table = classes.confusion_table(
        np.array(human, dtype=np.int64), np.array(judge, dtype=np.int64), max(1, len(measure.classes))
    )
    return tuple(tuple(row) for row in table.tolist()) if measure.classes else ()


def _binary(pairs: Pairs, measure: Measure) -> dict[str, Statistic]:
    return {**_by_class(pairs, measure), **_rates(pairs, measure), "mcc": _mcc(pairs, measure)}


def _categorical(pairs: Pairs, measure: Measure) -> dict[str, Statistic]:
    found = _by_class(pairs, measure)
    tie = measure.scale.tie
    if tie is not None and tie in measure.classes:
        human, judge = _codes(pairs, measure)
        left_out = measure.classes.index(tie)
        found["agreement_no_ties"] = agreement.agreement_without(human, judge, left_out, pairs.clusters)
    return {**found, **(_rates(pairs, measure) if measure.has_rates else {})}


def _ordinal(pairs: Pairs, measure: Measure) -> dict[str, Statistic]:
    human, judge = _numbers(pairs)
    found = _by_class(pairs, measure)
    found["within_1"] = agreement.within(human, judge, 1.0, pairs.clusters)
    numeric = _numeric(pairs, measure)
    if len(measure.classes) > MOST_CLASSES:
        found["kappa_linear"] = undefined(len(pairs), TOO_MANY_CLASSES)
        found["kappa_quadratic"] = numeric["lin_ccc"]
    else:
        codes, values = _codes(pairs, measure), [float(value) for value in measure.classes]
        found["kappa_linear"] = weighted_kappa.weighted_kappa(*codes, values, "linear", pairs.clusters)
        found["kappa_quadratic"] = weighted_kappa.weighted_kappa(*codes, values, "quadratic", pairs.clusters)
    return {**found, **numeric, **(_rates(pairs, measure) if measure.has_rates else {})}


def _continuous(pairs: Pairs, measure: Measure) -> dict[str, Statistic]:
    return {**_numeric(pairs, measure), **(_rates(pairs, measure) if measure.has_rates else {})}


def _numeric(pairs: Pairs, measure: Measure) -> dict[str, Statistic]:
    human, judge = _numbers(pairs)
    clusters, drawn = pairs.clusters, {"seed": measure.seed, "draws": measure.draws}
    mae, rmse = concordance.errors(human, judge, clusters, **drawn)
    return {
        "lin_ccc": concordance.lin_ccc(human, judge, clusters),
        "pearson": correlation.pearson(human, judge, clusters),
        "spearman": correlation.spearman(human, judge, clusters),
        "kendall": kendall.kendall(human, judge, clusters),
        "mae": mae,
        "rmse": rmse,
        "bias": concordance.bias(human, judge, clusters),
        "loa": concordance.limits_of_agreement(human, judge),
    }


def _by_class(pairs: Pairs, measure: Measure) -> dict[str, Statistic]:
    human, judge = _codes(pairs, measure)
    if len(measure.classes) > MOST_CLASSES:
        kappa = undefined(len(pairs), TOO_MANY_CLASSES)
    else:
        kappa = weighted_kappa.cohen_kappa(human, judge, max(1, len(measure.classes)), pairs.clusters)
    return {"agreement": agreement.agreement(human, judge, pairs.clusters), "kappa": kappa}


def _rates(pairs: Pairs, measure: Measure) -> dict[str, Statistic]:
    human, judge = _good(pairs, measure)
    clusters, drawn = pairs.clusters, {"seed": measure.seed, "draws": measure.draws}
    return {
        "tpr": classes.true_positive_rate(human, judge, clusters),
        "tnr": classes.true_negative_rate(human, judge, clusters),
        "balanced_accuracy": classes.balanced_accuracy(human, judge, clusters, **drawn),
    }


def _mcc(pairs: Pairs, measure: Measure) -> Statistic:
    return classes.mcc(*_good(pairs, measure), pairs.clusters, seed=measure.seed, draws=measure.draws)


def _good(pairs: Pairs, measure: Measure) -> tuple[Column, Column]:
    return (
        np.array([measure.is_good(value) for value in pairs.human], dtype=np.int64),
        np.array([measure.is_good(value) for value in pairs.judge], dtype=np.int64),
    )


def _codes(pairs: Pairs, measure: Measure) -> tuple[Column, Column]:
    return (
        np.array(measure.codes(pairs.human), dtype=np.int64),
        np.array(measure.codes(pairs.judge), dtype=np.int64),
    )


def _numbers(pairs: Pairs) -> tuple[Column, Column]:
    return np.array(pairs.human, dtype=np.float64), np.array(pairs.judge, dtype=np.float64)
