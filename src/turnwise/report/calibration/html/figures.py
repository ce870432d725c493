"""Figures as people read them: percentages, coefficients without a leading zero, and true minus signs."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from ..wording import figure, of_judge
from .markup import Html, joined, tag

if TYPE_CHECKING:
    from ....graders.verdict_scale import Code
    from ....stats.statistic import Statistic

__all__ = [
    "EXACT",
    "NOTHING",
    "code_text",
    "counted",
    "figure_text",
    "in_words",
    "interval_text",
    "p_text",
    "percent",
    "statistic_cell",
    "usd_text",
]

NOTHING = "–"
_PERCENTAGES = {"agreement", "agreement_no_ties", "within_1", "self_agreement", "flip_rate"}
_IN_SCORES = {"mae", "rmse", "loa"}
_POINTS = "points"
EXACT = "exact"
"""The name of figures that are compared with a bar, and must not be rounded to it."""
_MOST_DIGITS = 9
_MINUS = re.compile(r"(?<![\w.])-(?=\.?\d)")


def counted(count: int, thing: str, things: str | None = None) -> str:
    """A number and what it counts.

    >>> counted(1, "sample"), counted(2500, "sample")
    ('1 sample', '2,500 samples')
    """
    return f"1 {thing}" if count == 1 else f"{count:,} {things or thing + 's'}"


def code_text(code: Code | None) -> str:
    """A score or a label.

    >>> code_text(3.0), code_text(-2), code_text(3.33333), code_text("Tie")
    ('3', '−2', '3.333', 'Tie')
    """
    if code is None:
        return NOTHING
    return code if isinstance(code, str) else _signed(f"{code:.4g}" if abs(code) < 1e4 else f"{code:g}")


def in_words(sentence: str) -> str:
    """A sentence of the report with minus signs as figures here have them.

    >>> in_words("κ lies between -.12 and .04")
    'κ lies between −.12 and .04'
    """
    return _MINUS.sub("−", of_judge(sentence))


def percent(share: float | None) -> str:
    """A share of one.

    >>> percent(0.684524), percent(0.99996), percent(None)
    ('68.5 %', '99.996 %', '–')
    """
    return NOTHING if share is None else f"{_signed(_honest(share * 100, 1, 100))} %"


def figure_text(name: str, value: float | None) -> str:
    """The value of a statistic in the form that its name asks for; `points` are hundredths.

    >>> figure_text("kappa", 0.887314), figure_text("agreement", 0.684524), figure_text("bias", 0.029762)
    ('.89', '68.5 %', '+0.030')
    """
    if value is None or not math.isfinite(value):
        return NOTHING
    if name in _PERCENTAGES:
        return percent(value)
    if name == _POINTS:
        return _signed(f"{value:.1f}")
    if name == "bias":
        shown = _in_scores(value)
        return f"+{shown}" if value > 0 and float(shown) else shown
    if name == EXACT:
        return _three_digits(value)
    return _in_scores(value) if name in _IN_SCORES else figure(value).replace("-", "−")


def interval_text(name: str, lo: float | None, hi: float | None) -> str:
    """Both ends of an interval, or nothing.

    >>> interval_text("kappa", 0.843496, 0.919401)
    '.84 … .92'
    """
    if lo is None or hi is None:
        return ""
    ends = f"{figure_text(name, lo)} … {figure_text(name, hi)}"
    return ends.replace(" % …", " …") if name in _PERCENTAGES else ends


def p_text(p: float | None) -> str:
    """A p value.

    >>> p_text(0.009747), p_text(0.00002), p_text(0.25)
    ('p = .010', 'p < .001', 'p = .250')
    """
    if p is None:
        return "p unknown"
    return "p < .001" if p < 0.001 else f"p = {_three_digits(p)}"


def usd_text(amount: float | None) -> str:
    """Dollars, with enough digits for small sums.

    >>> usd_text(12.5), usd_text(0.5), usd_text(0.0123), usd_text(0)
    ('$12.50', '$0.50', '$0.0123', '$0')
    """
    if amount is None:
        return NOTHING
    return "$0" if amount == 0 else f"${amount:,.2f}" if amount >= 0.1 else f"${amount:.3g}"


def statistic_cell(name: str, statistic: Statistic | None, absent: str = "not on this scale") -> Html:
    """Value above interval; what is not defined is a dash with the reason."""
    if statistic is None or statistic.value is None:
        why = absent if statistic is None else of_judge(statistic.reason or "not defined")
        return joined([tag("span", NOTHING, class_="none"), tag("small", why, class_="why")])
    interval = interval_text(name, statistic.lo, statistic.hi)
    below = tag("small", interval, class_="interval") if interval else None
    return joined([tag("span", figure_text(name, statistic.value), class_="value"), below])


def _in_scores(value: float) -> str:
    """As many decimals as scores of that size deserve."""
    return _signed(f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 10_000 else f"{value:.4g}")


def _three_digits(value: float) -> str:
    shown = _honest(value, 3, 1)
    return _signed(shown.replace("0.", ".", 1) if abs(float(shown)) < 1 else shown)


def _honest(value: float, digits: int, perfect: float) -> str:
    """Rounded, but never to a perfect figure that it is not."""
    while abs(value) < perfect and abs(float(f"{value:.{digits}f}")) >= perfect and digits < _MOST_DIGITS:
        digits += 1
    return f"{value:.{digits}f}"


def _signed(number: str) -> str:
    return number.replace("-", "−") if float(number) else number.removeprefix("-")
