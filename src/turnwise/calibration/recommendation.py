"""What a judge may be used for: for gating, for trends, for nothing, or nobody knows yet; and what it takes to know."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..stats.planning import (
    labels_for_fisher_bound,
    labels_for_perfect_kappa_bound,
    labels_for_proportion_bound,
    still_needed,
)
from .report import Recommendation

if TYPE_CHECKING:
    from ..graders.verdict_scale import Code
    from ..stats.statistic import Statistic
    from .measure import Measure
    from .report import Baseline, Figures

__all__ = ["Thresholds", "no_better_than_constant", "recommend"]

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
    """The decision for one judge. `classes` counts people's labels, `chance` is the agreement expected by chance."""
    figure = figures.get(measure.decisive)
    name = _NAMES[measure.decisive]
    if no_better_than_constant(figures, baseline):
        assert baseline is not None
        return Recommendation("none", f"it does no better than always answering {baseline.answer}")
    if figure is None or figure.value is None:
        reason = "there are no verdicts to compare" if figure is None else (figure.reason or "it is not defined")
        return Recommendation("unknown", f"{name} is not known: {reason}", _to_start(figure))
    rare = _rarest(classes, thresholds)
    needed = _needed(figures, figure, thresholds, chance)
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
        return Recommendation("none", f"{name} is below {thresholds.trends:g}: at most {_up(figure.hi)}")
    low_rates = [
        f"{rate.upper()} may be as low as {_down(found.lo)}" if found.lo is not None else f"{rate.upper()} is not known"
        for rate in ("tpr", "tnr")
        if (found := figures.get(rate)) is not None and (found.lo is None or found.lo < thresholds.rates)
    ]
    if figure.lo >= thresholds.gating and not low_rates:
        return Recommendation("gating", f"{name} is at least {_down(figure.lo)}" + _rates_text(figures))
    if figure.lo >= thresholds.trends:
        short = low_rates or [f"{name} may be as low as {_down(figure.lo)}, below {thresholds.gating:g}"]
        return Recommendation("trends", f"{name} is at least {_down(figure.lo)}; not for gating: {', '.join(short)}")
    reason = f"{name} lies somewhere between {_down(figure.lo)} and {_up(figure.hi)}"
    return Recommendation("unknown", reason, needed)


def _rates_text(figures: Figures) -> str:
    rates = [f"{name.upper()} {_down(figures[name].lo)}" for name in ("tpr", "tnr") if name in figures]
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


def _to_start(figure: Statistic | None) -> int:
    return max(1, _ENOUGH_TO_START - (0 if figure is None else figure.n))


def _needed(figures: Figures, figure: Statistic, thresholds: Thresholds, chance: float | None) -> int | None:
    """The further labels after which the decision should fall, if figures stay as they are."""
    value = figure.value
    assert value is not None
    rates = [found for name in ("tpr", "tnr") if (found := figures.get(name)) is not None]
    within_reach = all(rate.value is not None and rate.value > thresholds.rates for rate in rates)
    bound = thresholds.gating if value > thresholds.gating and within_reach else thresholds.trends
    if value >= 1.0:
        total = None if chance is None else labels_for_perfect_kappa_bound(chance, bound, 0.95, _effect(figure))
    elif figure.se is None or value <= -1.0:
        return _to_start(figure)
    else:
        total = labels_for_fisher_bound(value, figure.se, figure.n, bound)
    missing = [still_needed(total, figure.n)]
    if bound == thresholds.gating:
        missing += [_for_rate(rate, figure.n, thresholds) for rate in rates]
    known = [each for each in missing if each is not None]
    return max(1, *known, 1) if len(known) == len(missing) else None


def _for_rate(rate: Statistic, n: int, thresholds: Thresholds) -> int | None:
    assert rate.value is not None
    total = labels_for_proportion_bound(rate.value, thresholds.rates, 0.95, _effect(rate))
    return still_needed(total, rate.n, rate.n / n)


def _effect(figure: Statistic) -> float:
    return max(1.0, figure.design_effect or 1.0)


def _down(bound: float | None) -> str:
    """A lower bound that does not look better than it is: .799 is not .80."""
    return "unknown" if bound is None else f"{math.floor(bound * 100 + 1e-9) / 100:.2f}"


def _up(bound: float) -> str:
    return f"{math.ceil(bound * 100 - 1e-9) / 100:.2f}"
