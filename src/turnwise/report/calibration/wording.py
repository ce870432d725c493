"""How figures, labels and verdicts of a calibration read, wherever people see them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...calibration.report import Use
    from ...graders.verdict_scale import Code, Scale
    from ...stats.statistic import Statistic

__all__ = [
    "DECISIVE",
    "LEADS",
    "LEGENDS",
    "NONE",
    "USES",
    "code_text",
    "counted",
    "cut",
    "figure",
    "interval_text",
    "name_of",
    "of_judge",
    "p_text",
    "percent",
    "scale_text",
    "signed",
    "statistic_text",
    "time_text",
]

NONE = "–"
"""Stands for a figure that is not defined."""
DECISIVE = {"binary": "kappa", "ordinal": "kappa_quadratic", "continuous": "lin_ccc", "categorical": "kappa"}
"""The figure that decides what a judge may be used for, by the kind of scale."""
USES: dict[Use, str] = {"gating": "USE FOR GATING", "trends": "trends", "none": "do not use", "unknown": "unknown"}
LEADS: dict[Use, str] = {
    "gating": "Use it to gate: single verdicts can be trusted",
    "trends": "Use it for trends over many answers, not for single verdicts",
    "none": "Do not use it",
    "unknown": "Not known yet",
}
LEGENDS = {
    "kappa": "κ is agreement beyond chance: 0 is guessing, 1 is perfect.",
    "kappa_quadratic": "κ quadratic is agreement beyond chance, near misses costing less: 0 is guessing, 1 is perfect.",
    "lin_ccc": "Lin's concordance: 1 is the same score every time, 0 is no relation.",
}
_NAMES = {
    "agreement_no_ties": "agreement without ties",
    "within_1": "within 1",
    "kappa": "κ",
    "kappa_linear": "κ linear",
    "kappa_quadratic": "κ quadratic",
    "tpr": "TPR",
    "tnr": "TNR",
    "balanced_accuracy": "balanced accuracy",
    "mcc": "MCC",
    "lin_ccc": "Lin's concordance",
    "mae": "mean error",
    "rmse": "RMSE",
    "loa": "limits of agreement",
    "self_agreement": "agreement with itself",
    "flip_rate": "flip rate",
}
_OF_JUDGE = (
    ("both raters gave", "judge and people gave"),
    ("one of the raters gave", "judge or people gave"),
    ("a rater gave", "judge or people gave"),
    ("there are no pairs", "no labelled sample has a verdict"),
)
_ALMOST_NOTHING = 5e-7
_MOST_DIGITS = 6


def name_of(statistic: str) -> str:
    """What people call a statistic.

    >>> name_of("kappa_quadratic"), name_of("bias")
    ('κ quadratic', 'bias')
    """
    return _NAMES.get(statistic, statistic.replace("_", " "))


def figure(value: float | None) -> str:
    """A figure in two decimals without a leading zero; more where two would make it a 0 or 1 that it is not.

    >>> figure(0.7149), figure(-0.05), figure(0.9996), figure(0.0043), figure(12.34), figure(1), figure(None)
    ('.71', '-.05', '.9996', '.0043', '12.3', '1.00', '–')
    """
    if value is None or not math.isfinite(value):
        return NONE
    size = abs(value)
    if size < _ALMOST_NOTHING:
        return ".00"
    digits = 2 if size < 9.995 else 1 if size < 99.95 else 0
    if size < 0.01:
        digits = 1 - math.floor(math.log10(size))
    while 0.9 < size < 1 - _ALMOST_NOTHING and digits < _MOST_DIGITS and float(f"{size:.{digits}f}") == 1:
        digits += 1
    shown = f"{value:,.{digits}f}"
    return shown.replace("0.", ".", 1) if size < 1 and shown.lstrip("-").startswith("0.") else shown


def signed(value: float | None) -> str:
    """A figure with its sign.

    >>> signed(0.03), signed(-1.2), signed(0)
    ('+.03', '-1.20', '.00')
    """
    shown = figure(value)
    return f"+{shown}" if value is not None and value >= _ALMOST_NOTHING and shown != NONE else shown


def interval_text(value: float | None, lo: float | None, hi: float | None, *, sign: bool = False) -> str:
    """A figure and its interval, if it has one.

    >>> interval_text(0.71, 0.62, 0.79), interval_text(0.02, -0.05, 0.09, sign=True), interval_text(0.5, None, None)
    ('.71 [.62, .79]', '+.02 [-.05, +.09]', '.50')
    """
    show = signed if sign else figure
    return show(value) if value is None or lo is None or hi is None else f"{show(value)} [{show(lo)}, {show(hi)}]"


def statistic_text(name: str, statistic: Statistic) -> str:
    """A statistic in one cell; a bias has a sign."""
    return interval_text(statistic.value, statistic.lo, statistic.hi, sign=name == "bias")


def percent(share: float) -> str:
    """A share in percent, whole unless that would make it a 0 or 100 that it is not.

    >>> percent(0.714), percent(0.9996), percent(1.0)
    ('71 %', '99.96 %', '100 %')
    """
    for digits in range(4):
        shown = f"{100 * share:.{digits}f}"
        if float(shown) not in (0.0, 100.0) or share in (0.0, 1.0):
            return f"{shown} %"
    return f"{100 * share:.0f} %"


def p_text(p: float | None) -> str:
    """A p value as it is written.

    >>> p_text(0.0002), p_text(0.0381), p_text(0.55), p_text(None)
    ('p < .001', 'p = .038', 'p = .55', 'p not defined')
    """
    if p is None:
        return "p not defined"
    if p < 0.001:
        return "p < .001"
    return f"p = {figure(p)}" if p >= 0.1 else f"p = {p:.3f}".replace("0.", ".", 1)


def code_text(code: Code) -> str:
    """A score or label as people write it.

    >>> code_text(2.0), code_text(3.5), code_text(-0.0), code_text("pass")
    ('2', '3.5', '0', 'pass')
    """
    return code if isinstance(code, str) else f"{code + 0.0:.6g}"  # adding 0 takes the sign from -0


def of_judge(reason: str) -> str:
    """A reason that speaks of raters and pairs, where these are a judge and people.

    >>> of_judge("both raters gave one and the same label throughout")
    'judge and people gave one and the same label throughout'
    """
    for of_raters, here in _OF_JUDGE:
        reason = reason.replace(of_raters, here)
    return reason


def time_text(milliseconds: float) -> str:
    """A short time.

    >>> time_text(57.4), time_text(1234.0)
    ('57 ms', '1.2 s')
    """
    return f"{milliseconds:,.0f} ms" if milliseconds < 999.5 else f"{milliseconds / 1000:,.1f} s"


def scale_text(scale: Scale) -> str:
    """The scale in a few words.

    >>> from ...graders.verdict_scale import Scale
    >>> scale_text(Scale("ordinal", min=1, max=5, pass_=4))
    'ordinal 1 to 5 (good from 4)'
    """
    steps: tuple[Code, ...] = scale.labels or scale.values
    named = ", ".join(code_text(step) for step in steps[:11]) + (", …" if len(steps) > 11 else "")
    if not named and scale.min is not None and scale.max is not None:
        named = f"{code_text(scale.min)} to {code_text(scale.max)}"
    good = ""
    if scale.pass_ is not None:
        good = f" (good{':' if isinstance(scale.pass_, str) else ' from'} {code_text(scale.pass_)})"
    inferred = "" if scale.declared else " (inferred from the labels)"
    return f"{scale.kind} {named}".rstrip() + good + inferred


def counted(count: int, thing: str, things: str | None = None) -> str:
    """A number and what it counts.

    >>> counted(1, "sample"), counted(1200, "sample")
    ('1 sample', '1,200 samples')
    """
    return f"1 {thing}" if count == 1 else f"{count:,} {things or thing + 's'}"


def cut(text: str, longest: int) -> str:
    """The beginning of a long text, and how much there is more of it.

    >>> cut("abcdef", 4)
    'abcd… (2 more characters)'
    """
    left = len(text) - longest
    return text if left <= 0 else f"{text[:longest]}… ({counted(left, 'more character')})"
