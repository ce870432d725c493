"""Paired differences between models, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..comparing import not_comparable, p_remark, possible_interval
from .figures import figure_text, interval_text, p_text
from .markup import Html, joined, tag
from .words import METHODS, words_of

if TYPE_CHECKING:
    from ....calibration.report import ModelReport, PairedDifference

__all__ = ["compared", "difference_text"]

_MOST = 200
_LESS_IS_BETTER = {"mae", "rmse"}


def compared(models: Sequence[ModelReport]) -> Html:
    """Every pair of models once, those with a reliable difference first."""
    places = {model.model: place for place, model in enumerate(models)}
    found = [
        (model.model, each)
        for place, model in enumerate(models)
        for each in model.differences
        if places.get(each.against, place) > place
    ]
    if not found:
        return Html("")
    found.sort(key=lambda pair: not pair[1].reliable)
    rows = [_row(name, each) for name, each in found[:_MOST]]
    left_out = len(found) - len(rows)
    more = tag("p", f"{left_out:,} more pairs are in the JSON report.", class_="note") if left_out > 0 else None
    return joined([tag("h3", "Which one is better?"), tag("ul", *rows, class_="differences"), more])


def difference_text(model: str, difference: PairedDifference) -> str:
    """One comparison as a sentence; the better one of a reliable difference comes first.

    >>> from ....calibration.report import PairedDifference
    >>> found = PairedDifference("B", "agreement", 0.041, 0.012, 0.07, 0.005, 0.01, True, 300, "mcnemar-exact")
    >>> difference_text("A", found)
    'A agrees more often than B by 4.1 points (1.2 … 7.0), p = .010 after Holm.'
    """
    name, other = difference.statistic, difference.against
    reason = not_comparable(difference)
    if reason is not None or difference.value is None:
        return f"{model} and {other}: not comparable in {_named(name)}: {reason}."
    if difference.reliable:
        return _reliable(model, difference, difference.value)
    ends = _ends(name, 1, difference)
    within = f"; {ends}" if ends else ""
    found = f"{_size(name, difference.value)}{within}, {_p(difference)}"
    return f"{model} and {other}: no reliable difference in {_named(name)} ({found})."


def _reliable(model: str, difference: PairedDifference, value: float) -> str:
    """How much better the better one is, as a positive size."""
    name, other = difference.statistic, difference.against
    is_better = value < 0 if name in _LESS_IS_BETTER else value > 0
    first, second = (model, other) if is_better else (other, model)
    ends = _ends(name, 1 if value > 0 else -1, difference)
    interval = f" ({ends})" if ends else ""
    size = f"{_size(name, abs(value))}{interval}"
    return f"{first} {_verb(name)} than {second} by {size}, {_p(difference)}."


def _p(difference: PairedDifference) -> str:
    is_exact = p_remark(difference) == "exact test"
    return f"{p_text(difference.p_holm)} {'by the exact test, ' if is_exact else ''}after Holm"


def _verb(name: str) -> str:
    verbs = {"agreement": "agrees more often", "mae": "is closer to people"}
    return verbs.get(name, f"has a higher {_named(name)}")


def _ends(name: str, sign: int, difference: PairedDifference) -> str:
    """The interval of the difference, or of its opposite, as far as it says the same as the p value."""
    interval = possible_interval(difference)
    if interval is None:
        return ""
    lo, hi = sorted(sign * end for end in interval)
    return interval_text("points", lo * 100, hi * 100) if name == "agreement" else interval_text(name, lo, hi)


def _row(model: str, difference: PairedDifference) -> Html:
    sign = "≠" if difference.reliable else "?" if not_comparable(difference) else "≈"
    mark = tag("span", sign, class_="sign", aria_hidden="true")
    method = METHODS.get(difference.method, difference.method)
    basis = tag("small", f"{difference.n:,} pairs that both judged; {method}", class_="note")
    kind = "reliable" if difference.reliable else None
    return tag("li", mark, tag("span", difference_text(model, difference), " ", basis), class_=kind)


def _named(name: str) -> str:
    inside = {"agreement": "agreement", "mae": "mean absolute error", "kappa_quadratic": "quadratic κ"}
    return inside.get(name, words_of(name).name)


def _size(name: str, value: float) -> str:
    return f"{figure_text('points', value * 100)} points" if name == "agreement" else figure_text(name, value)
