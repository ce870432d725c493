"""Whether a run did well enough, and the exit code that says so. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .events import StopReason
    from .summary_format import GroupSummary, Summary

__all__ = ["Verdict", "judge"]

_ROUNDING = 1e-9
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """0: all good; 1: below the bar; 3: results are errors, ungraded or missing; 130: interrupted.

    `text` says it in one line, with the counts.
    """

    exit_code: int
    text: str


def judge(
    summary: Summary,
    *,
    threshold: float | None = None,
    min_pass_rates: Mapping[str, float] | None = None,
    left: int = 0,
    stopped: StopReason | None = None,
    graded: bool = True,
    unrecorded: str = "",
) -> Verdict:
    """The verdict on a run.

    Each group must reach a pass rate: `threshold` if given, else that of its suite in `min_pass_rates`; without
    either, every graded result must pass. `left` results were not run. Without `graded`, the run was asked not to
    grade: ungraded results are fine. `unrecorded` says what the run that is graded again lacks.
    """
    below = [
        reason
        for group in summary.targets
        if (reason := _shortfall(group, _bar(group, threshold, min_pass_rates or {})))
    ]
    missing = _missing(summary, left, stopped, graded) + ([unrecorded] if unrecorded else [])
    also = f"; {_listed(below)}" if below else ""
    if stopped == "interrupted":
        done = "; ".join([f"{summary.results} done", *missing])
        return Verdict(130, f"INTERRUPTED: {done}{also} (exit 130)")
    if missing:
        return Verdict(3, f"INCOMPLETE: {'; '.join(missing)}{also} (exit 3)")
    if below:
        return Verdict(1, f"FAILED: {_listed(below)} (exit 1)")
    return Verdict(0, f"{_praise(summary)} (exit 0)")


def _bar(group: GroupSummary, threshold: float | None, min_pass_rates: Mapping[str, float]) -> float | None:
    if threshold is not None or group.suite is None:
        return threshold
    return min_pass_rates.get(group.suite)


def _shortfall(group: GroupSummary, bar: float | None) -> str | None:
    """Why the group is below its bar; None if it is not, or has nothing that could be."""
    rate = group.pass_rate.value
    if rate is None or rate >= (1.0 if bar is None else bar) - _ROUNDING:
        return None
    if bar is None:
        return f"{_name(group)}: {group.failed} of {group.graded} failed"
    return f"{_name(group)}: pass rate {_told_apart(rate, bar)} is below {bar:g}"


def _missing(summary: Summary, left: int, stopped: StopReason | None, graded: bool) -> list[str]:
    found = []
    if stopped == "fault":
        found.append("a fault ended the run early")
    if stopped == "budget" and left:
        found.append("the budget is used up")
    if not summary.results and stopped != "interrupted":
        found.append("there are no results")
    if bad := _bad_results(summary, graded):
        found.append(bad)
    if left:
        found.append(f"{left} not run")
    return found


def _bad_results(summary: Summary, graded: bool) -> str:
    errors = sum(group.errors for group in summary.targets)
    ungraded = sum(group.ungraded for group in summary.targets) if graded else 0
    counts = [_counted(errors, "error")] if errors else []
    return ", ".join([*counts, f"{ungraded} ungraded"] if ungraded else counts)


def _praise(summary: Summary) -> str:
    graded = sum(group.graded for group in summary.targets)
    passed = sum(group.passed for group in summary.targets)
    if not graded:
        return f"DONE: {_counted(summary.results, 'answer')}, not graded"
    rest = summary.results - graded
    return f"PASSED: {passed} of {graded}" + (f", {rest} not graded" if rest else "")


def _name(group: GroupSummary) -> str:
    whom = group.target if group.variant is None else f"{group.target} ({group.variant})"
    return whom if group.suite is None else f"{group.suite} on {whom}"


def _listed(reasons: Sequence[str]) -> str:
    more = len(reasons) - _NAMED
    return "; ".join(reasons[:_NAMED]) + (f"; and {more} more below the bar" if more > 0 else "")


def _told_apart(rate: float, bar: float) -> str:
    """The rate with as many digits as it takes to be another number than the bar.

    >>> _told_apart(0.75, 0.9), _told_apart(0.8999, 0.9)
    ('0.75', '0.8999')
    """
    for digits in range(2, 17):
        shown = f"{rate:.{digits}f}"
        if float(shown) < bar:
            return shown
    return repr(rate)


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
