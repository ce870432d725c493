"""The columns of a summary's table, and the notes that explain what is not there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..engine.budget import shown_usd
from .summary_table import NONE, Column, duration, number, share
from .words import counted

if TYPE_CHECKING:
    from ..engine.summary_format import GroupSummary, RankedResult
    from ..stats.intervals import Estimate

__all__ = ["count_columns", "estimate_columns", "figure_columns", "footnotes", "name_columns"]


def name_columns(rows: Sequence[GroupSummary] | Sequence[RankedResult]) -> list[Column]:
    """Target, and variant and suite where there are any."""
    columns = [Column("target", tuple(row.target for row in rows), right=False, name=True)]
    for heading, names in (("variant", [row.variant for row in rows]), ("suite", [row.suite for row in rows])):
        if any(name is not None for name in names):
            columns.append(Column(heading, tuple(name or NONE for name in names), right=False, name=True))
    return columns


def count_columns(groups: Sequence[GroupSummary]) -> list[Column]:
    """How many passed, and what became of the others."""
    columns = []
    if any(group.trials > group.cases for group in groups):
        columns += [_counts("cases", [group.cases for group in groups])]
        columns += [_counts("trials", [group.trials for group in groups])]
    columns += [_counts("passed", [group.passed for group in groups])]
    columns += [_counts("failed", [group.failed for group in groups])]
    for heading, counts in (
        ("ungraded", [group.ungraded for group in groups]),
        ("errors", [group.errors for group in groups]),
        ("not run", [group.not_run or 0 for group in groups]),
    ):
        if any(counts):
            columns.append(_counts(heading, counts))
    return columns


def estimate_columns(groups: Sequence[GroupSummary]) -> list[Column]:
    """The mean score and the pass rate of the graded results, if there are any."""
    if not any(group.graded for group in groups):
        return []
    return [
        _counts("n", [group.graded for group in groups]),
        Column("mean score", tuple(_estimate(group.mean_score) for group in groups), right=False),
        Column("pass rate", tuple(_estimate(group.pass_rate) for group in groups), right=False),
    ]


def figure_columns(groups: Sequence[GroupSummary]) -> list[Column]:
    """Times, tokens and cost, each only if any group has some."""
    columns = []
    if any(group.latency_ms.n for group in groups):
        columns.append(Column("p50", tuple(_time(group.latency_ms.p50) for group in groups)))
        columns.append(Column("p95", tuple(_time(group.latency_ms.p95) for group in groups)))
    if any(_has_tokens(group) for group in groups):
        columns.append(Column("tokens in/out", tuple(map(_tokens, groups))))
    if any(_has_cost(group) for group in groups):
        columns.append(Column("cost", tuple(map(_cost, groups))))
    return columns


def footnotes(groups: Sequence[GroupSummary]) -> list[str]:
    """Why something in the table is missing or not whole; a line for each reason that applies."""
    return [*_gaps(groups), *_shares(groups)]


def _gaps(groups: Sequence[GroupSummary]) -> list[str]:
    """What the signs of the table mean."""
    notes = []
    if any(group.graded for group in groups):
        notes.append("n: graded results; in brackets: 95 % confidence interval")
    if any(group.graded == 0 for group in groups):
        notes.append(f"score {NONE}: nothing was graded" if notes else "no score: nothing was graded")
    notes += dict.fromkeys(why for group in groups if (why := _why_no_interval(group)))
    if _some(groups, lambda group: group.latency_ms.n > 0):
        notes.append(f"p50, p95 {NONE}: no answer was asked for, or its time is not known")
    if _some(groups, _has_tokens):
        notes.append(f"tokens {NONE}: not counted, or nothing was asked for")
    if _some(groups, _has_cost):
        notes.append(f"cost {NONE}: a target without prices, or without answers")
    return notes


def _shares(groups: Sequence[GroupSummary]) -> list[str]:
    """How many results a figure is not of."""
    notes = []
    if unknown := sum(group.scores_unknown for group in groups):
        notes.append(f"mean score: without {counted(unknown, 'failed result')} whose score is not known")
    if cached := sum(group.from_cache for group in groups):
        notes.append(
            f"cache: {counted(cached, 'answer')} came from it, and took no time; tokens are those of the others"
        )
    if unknown := sum(group.costs_unknown for group in groups):
        # Prices are of no help where no tokens are counted.
        is_uncounted = all(group.usage_unknown >= group.costs_unknown for group in groups)
        why = "no tokens were counted" if is_uncounted else "give the target `prices`, if it counts tokens"
        notes.append(f"cost: not known of {counted(unknown, 'answer')}; {why}")
    if uncounted := sum(group.usage_unknown for group in groups if _has_tokens(group)):
        notes.append(f"tokens: not counted for {counted(uncounted, 'answer')}")
    return notes


def _some(groups: Sequence[GroupSummary], holds: Callable[[GroupSummary], bool]) -> bool:
    """Whether it holds for some groups, but not for all: for none, there is no column."""
    return len({holds(group) for group in groups}) == 2


def _why_no_interval(group: GroupSummary) -> str:
    """What the results lack for an interval; empty if they lack nothing. A mean may be of fewer results than a rate."""
    mean, rate = (each.value is not None and each.lo is None for each in (group.mean_score, group.pass_rate))
    if rate or (mean and group.cases == 1):
        return "no interval: all graded results are of one conversation or case"
    return "mean score without interval: its scores are of one conversation or case, or all the same" if mean else ""


def _counts(heading: str, counts: Sequence[int]) -> Column:
    return Column(heading, tuple(f"{count:,}" for count in counts))


def _estimate(estimate: Estimate) -> str:
    """`0.82 [0.71, 0.90]`. The interval of a mean may reach beyond possible scores; that part says nothing.

    >>> from ..stats.intervals import wilson
    >>> _estimate(wilson(8, 10))
    '0.80 [0.49, 0.94]'
    """
    if estimate.value is None:
        return NONE
    if estimate.lo is None or estimate.hi is None:
        return share(estimate.value)
    return f"{share(estimate.value)} [{max(estimate.lo, 0.0):.2f}, {min(estimate.hi, 1.0):.2f}]"


def _time(milliseconds: float | None) -> str:
    return NONE if milliseconds is None else duration(milliseconds)


def _has_tokens(group: GroupSummary) -> bool:
    return group.usage.input_tokens is not None or group.usage.output_tokens is not None


def _tokens(group: GroupSummary) -> str:
    if not _has_tokens(group):
        return NONE
    counts = (group.usage.input_tokens, group.usage.output_tokens)
    shown = "/".join(NONE if count is None else number(count) for count in counts)
    return f"≥ {shown}" if group.usage_unknown else shown


def _has_cost(group: GroupSummary) -> bool:
    return group.cost_usd_known is not None or group.costs_unknown > 0


def _cost(group: GroupSummary) -> str:
    """Never 0 where it is not known."""
    if group.cost_usd_known is None:
        return "unknown" if group.costs_unknown else NONE
    known = shown_usd(group.cost_usd_known)
    return f"≥ {known}" if group.costs_unknown else known
