"""Paired differences in words: which judge is really better, which are a tie, and which cannot be compared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .layout import UNBROKEN
from .wording import counted, interval_text, name_of, p_text

if TYPE_CHECKING:
    from ...calibration.report import Calibration, PairedDifference

__all__ = ["difference_lines", "not_comparable", "p_remark", "possible_interval"]

_LOWER_IS_BETTER = ("mae", "rmse", "flip_rate")
_MOST_DIFFERENCES = 12
_SHARES = {"agreement", "agreement_no_ties", "within_1", "tpr", "tnr", "balanced_accuracy"}
_FROM_MINUS_ONE = {"kappa", "kappa_linear", "kappa_quadratic", "lin_ccc", "mcc"}
_EXACT = "mcnemar-exact"
_UNRELIABLE = 0.05


def not_comparable(difference: PairedDifference) -> str | None:
    """Why nothing can be said of a difference; None if something can."""
    told: str | None = getattr(difference, "reason", None)
    if not difference.n:
        return "no sample has a verdict of both"
    if difference.value is None:
        return told or "the figure of one of them is not defined"
    if difference.p is None and (difference.lo is None or difference.hi is None):
        return told or "their verdicts do not vary enough"
    return None


def possible_interval(difference: PairedDifference) -> tuple[float, float] | None:
    """The interval within what is possible at all; None without one, and where the p value says something else."""
    lo, hi = difference.lo, difference.hi
    if lo is None or hi is None or (lo > 0 or hi < 0) != difference.reliable:
        return None
    most = 1.0 if difference.statistic in _SHARES else 2.0 if difference.statistic in _FROM_MINUS_ONE else None
    return (lo, hi) if most is None else (max(lo, -most), min(hi, most))


def p_remark(difference: PairedDifference) -> str:
    """Where the interval is left out because the p value says something else: what makes the p value; else nothing."""
    if difference.lo is None or difference.hi is None or possible_interval(difference) is not None:
        return ""
    is_exact = _EXACT in (difference.method, getattr(difference, "p_method", None))
    # What Holm's adjustment alone makes unreliable is not the exact test's doing.
    by_holm = difference.p is not None and difference.p <= _UNRELIABLE and not difference.reliable
    return "exact test" if is_exact and not by_holm else "adjusted for the number of comparisons" if by_holm else ""


def difference_lines(calibration: Calibration) -> list[str]:
    """Which judge is really better than which other: what is reliable first, ties never as a ranking."""
    pairs: dict[tuple[str, str], list[PairedDifference]] = {}
    for model in calibration.models:
        for each in model.differences:
            if (each.against, model.model) not in pairs:
                pairs.setdefault((model.model, each.against), []).append(each)
    ordered = sorted(pairs.items(), key=lambda item: _rank(item[1]))
    lines = [_line(one, other, found) for (one, other), found in ordered[:_MOST_DIFFERENCES]]
    left = len(ordered) - len(lines)
    return [*lines, f"… and {counted(left, 'more pair')}"] if left else lines


def _rank(found: list[PairedDifference]) -> int:
    if any(each.reliable for each in found):
        return 0
    return 2 if all(map(not_comparable, found)) else 1


def _line(one: str, other: str, found: list[PairedDifference]) -> str:
    reasons = list(map(not_comparable, found))
    if all(reasons):
        return f"{one} and {other}: not comparable: {'; '.join(dict.fromkeys(map(str, reasons)))}"
    reliable = [each for each in found if each.reliable and each.value]
    winners = {one if _is_better(each) else other for each in reliable}
    if len(winners) != 1:
        # None is reliable, or they contradict each other.
        return f"{one} and {other}: no reliable difference ({one} − {other}: {'; '.join(map(_figure, found))})"
    if winners == {other}:
        return _line(other, one, [_mirrored(each) for each in found])
    by = " and ".join(name_of(each.statistic) for each in reliable)
    return f"{one} is better than {other} by {by} ({'; '.join(map(_figure, found))})"


def _mirrored(each: PairedDifference) -> PairedDifference:
    value, lo, hi = (None if bound is None else -bound for bound in (each.value, each.hi, each.lo))
    return replace(each, value=value, lo=lo, hi=hi)


def _is_better(difference: PairedDifference) -> bool:
    assert difference.value is not None
    return (difference.value < 0) == (difference.statistic in _LOWER_IS_BETTER)


def _figure(each: PairedDifference) -> str:
    name, reason = name_of(each.statistic), not_comparable(each)
    if reason is not None:
        return f"{name} not comparable: {reason}"
    p = p_text(each.p if each.p_holm is None else each.p_holm)
    remark = p_remark(each)
    lo, hi = possible_interval(each) or (None, None)
    parts = (interval_text(each.value, lo, hi, sign=True), p + (f" ({remark})" if remark else ""), f"n = {each.n:,}")
    return f"{name} " + ", ".join(part.replace(" ", UNBROKEN) for part in parts)
