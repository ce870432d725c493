"""What a judge may be used for: for gating, for trends, for nothing, or nobody knows yet; and what it takes to know."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..stats.planning import labels_for_fisher_bound, labels_for_perfect_kappa_bound, still_needed
from .report import Recommendation

if TYPE_CHECKING:
    from ..graders.verdict_scale import Code
    from ..stats.statistic import Statistic
    from .measure import Measure
    from .report import Baseline, Figures

__all__ = ["Thresholds", "no_better_than_constant", "plain", "recommend"]

_ENOUGH_TO_START = 30
_NAMES = {"kappa": "κ", "kappa_quadratic": "quadratic κ", "lin_ccc": "Lin's concordance"}


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The bounds of the decision: lower bounds of the figure for gating and trends, and of TPR and TNR for gating."""

    gating: float = 0.6
    trends: float = 0.4
    rates: float = 0.8
    least_per_class: int = 5


def no_better_than_constant(figures: Figures, baseline: Baseline | None) -> bool | None:
    """Whether the best constant answer does as well: by agreement, or by the mean error of continuous scores.

    None where one of the two is not defined.
    """
    if baseline is None:
        return None
    name = "agreement" if "agreement" in figures else "mae"
    own, constant = figures.get(name), baseline.statistics.get(name)
    if own is None or constant is None or own.value is None or constant.value is None:
        return None
    return own.value <= constant.value if name == "agreement" else own.value >= constant.value


def recommend(
    figures: Figures,
    baseline: Baseline | None,
    classes: Mapping[Code, int],
    measure: Measure,
    thresholds: Thresholds,
    chance: float | None = None,
) -> Recommendation:
    """The decision for one judge. `classes` counts the labels of each class that the judge has given a verdict on,
    `chance` is the agreement expected by chance."""
    figure = figures.get(measure.decisive)
    name = _NAMES[measure.decisive]
    if no_better_than_constant(figures, baseline):
        assert baseline is not None
        return Recommendation("none", f"it does no better than always answering {plain(baseline.answer)}")
    if figure is None or figure.value is None:
        if baseline is None:
            return Recommendation("unknown", "no sample is labelled", _ENOUGH_TO_START)
        if figure is None or not figure.n:
            return Recommendation("unknown", "there is no valid verdict on a labelled sample")
        return Recommendation("unknown", f"{name} is not known: {figure.reason}", _to_start(figure))
    rare = _rarest(classes, thresholds)
    needed = _needed(figure, thresholds, chance)
    if rare is not None:
        label, count = rare
        missing = _for_class(count, sum(classes.values()), thresholds)
        reason = (
            f"only {count} {'label is' if count == 1 else 'labels are'} {label}: too few to tell how it does on them"
        )
        return Recommendation("unknown", reason, max(missing, needed or 0))
    if figure.lo is None or figure.hi is None:
        return Recommendation("unknown", f"{name} has no interval: {figure.reason}", _to_start(figure))
    return _by_bounds(figures, figure, name, thresholds, needed)


def _by_bounds(
    figures: Figures, figure: Statistic, name: str, thresholds: Thresholds, needed: int | None
) -> Recommendation:
    assert figure.lo is not None
    assert figure.hi is not None
    if figure.hi < thresholds.trends:
        return Recommendation("none", f"{name} is low: at most {_shown(figure.hi, thresholds.trends)}")
    low_rates = [
        f"{rate.upper()} may be as low as {_shown(found.lo, thresholds.rates)}"
        if found.lo is not None
        else f"{rate.upper()} is not known"
        for rate in ("tpr", "tnr")
        if (found := figures.get(rate)) is not None and (found.lo is None or found.lo < thresholds.rates)
    ]
    if figure.lo >= thresholds.gating and not low_rates:
        return Recommendation("gating", f"{name} is at least {_shown(figure.lo)}" + _rates_text(figures))
    if figure.lo >= thresholds.trends:
        bar = f"{thresholds.gating:g}".replace("0.", ".", 1)
        short = low_rates or [f"that takes at least {bar}"]
        lowest = _shown(figure.lo, thresholds.gating)
        return Recommendation("trends", f"{name} is at least {lowest}; not for gating: {', '.join(short)}")
    reason = f"{name} lies somewhere between {_shown(figure.lo)} and {_shown(figure.hi)}"
    return Recommendation("unknown", reason, needed)


def _rates_text(figures: Figures) -> str:
    rates = [f"{name.upper()} {_shown(figures[name].lo)}" for name in ("tpr", "tnr") if name in figures]
    return f", {' and '.join(rates)}" if rates else ""


def _rarest(classes: Mapping[Code, int], thresholds: Thresholds) -> tuple[Code, int] | None:
    if not classes:
        return None
    label = min(classes, key=lambda each: classes[each])
    return (label, classes[label]) if classes[label] < thresholds.least_per_class else None


def _for_class(count: int, total: int, thresholds: Thresholds) -> int:
    """The labels it takes until a rare class has enough, at the rate at which it has come so far."""
    share = max(count, 0.5) / max(total, 1)
    return math.ceil((thresholds.least_per_class - count) / share)


def _to_start(figure: Statistic) -> int | None:
    """The labels with which a first figure should be there; None where labels are not what is missing."""
    return _ENOUGH_TO_START - figure.n if 0 < figure.n < _ENOUGH_TO_START else None


def _needed(figure: Statistic, thresholds: Thresholds, chance: float | None) -> int | None:
    """The further labels after which the decision should fall, if the figure stays as it is: its interval then lies on
    one side of the bound for trends."""
    value, bound = figure.value, thresholds.trends
    assert value is not None
    if value >= 1.0 and chance is not None:
        total = labels_for_perfect_kappa_bound(chance, bound, 0.95, max(1.0, figure.design_effect or 1.0))
    elif figure.se is None or abs(value) >= 1.0:
        return _to_start(figure)
    else:
        total = labels_for_fisher_bound(value, figure.se, figure.n, bound)
    missing = still_needed(total, figure.n)
    return None if missing is None else max(1, missing)


def plain(answer: Code) -> str:
    """An answer in words.

    >>> plain(1.0), plain("pass")
    ('1', 'pass')
    """
    return answer if isinstance(answer, str) else f"{answer:g}"


def _shown(bound: float | None, threshold: float | None = None) -> str:
    """A bound as tables show it; with a decimal more where it would look like the threshold that it misses."""
    if bound is None:
        return "unknown"
    text = f"{bound:.2f}"
    if threshold is not None and (float(text) >= threshold) != (bound >= threshold):
        text = f"{bound:.3f}"
    return text.replace("0.", ".", 1) if abs(bound) < 1 else text
