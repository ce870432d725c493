"""The summary of a run for a terminal: a table, what stands out, and the verdict last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..conversation.files import shown_file
from ..engine.budget import shown_usd
from .summary_columns import count_columns, estimate_columns, figure_columns, footnotes, name_columns
from .summary_judges import judge_lines
from .summary_left_out import left_out_lines
from .summary_table import WIDTH, Column, duration, share, table, table_width
from .terminal import Style, one_line, plain
from .words import OncePerHint, failure_text, shown

if TYPE_CHECKING:
    from ..engine.summary_format import FailedResult, GroupSummary, RankedResult, Summary
    from ..engine.verdict import Verdict

__all__ = ["summary_text"]

_MOST_REASONS = 10
_MOST_FAILURES = 10
_LONGEST_FAILURE = 240
_VERDICT_COLOURS = {0: "green", 1: "red"}


def summary_text(summary: Summary, verdict: Verdict, style: Style = plain) -> str:
    """The summary as text: parts with an empty line between them. The verdict is the last line."""
    groups = summary.targets
    run = [f"run {one_line(summary.run_id)}"] if summary.run_id else []
    parts = [
        run if groups else [*run, "no results"],
        *_tables(groups, style),
        footnotes(groups),
        left_out_lines(summary.left_out),
        judge_lines(summary.judges),
        _repeats(groups, style),
        _ranked("slowest", summary.slowest, [duration(each.value) for each in summary.slowest], style),
        _ranked(
            "most expensive", summary.most_expensive, [shown_usd(each.value) for each in summary.most_expensive], style
        ),
        _counted("errors", "kind", summary.errors_by_kind, style),
        _counted("ungraded", "why", summary.ungraded_by_reason, style),
        _failures(summary.failures, summary.failures_in_all, style),
        [style(one_line(verdict.text), _VERDICT_COLOURS.get(verdict.exit_code, "yellow"), bold=True)],
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _tables(groups: Sequence[GroupSummary], style: Style) -> list[list[str]]:
    """As few tables as are not too wide, all with the same rows."""
    if not groups:
        return []
    names = name_columns(groups)
    tables: list[list[Column]] = []
    for block in (count_columns(groups), estimate_columns(groups), figure_columns(groups)):
        if tables and table_width([*tables[-1], *block]) <= WIDTH:
            tables[-1] += block
        elif block:
            tables.append([*names, *block])
    return [table(columns, style) for columns in tables]


def _repeats(groups: Sequence[GroupSummary], style: Style) -> list[str]:
    """pass@k and pass^k of the groups whose cases were tried more than once."""
    repeated = [group for group in groups if len(group.pass_at_k) > 1]
    if not repeated:
        return []
    shown = _powers(max(len(group.pass_at_k) for group in repeated))
    names = [Column(each.heading, _twice(each.cells), False, True) for each in name_columns(repeated)]
    kinds = Column("", ("pass@k", "pass^k") * len(repeated), right=False)
    chances = [chance for group in repeated for chance in (group.pass_at_k, group.pass_hat_k)]
    columns = [Column(f"k={k}", tuple(share(each[k]) if k in each else "" for each in chances)) for k in shown]
    return [
        "of k trials of a case, at least one passes (pass@k), or all do (pass^k)",
        *table([*names, kinds, *columns], style),
    ]


def _powers(highest: int) -> list[int]:
    """1, 2, 4, … and the highest.

    >>> _powers(5)
    [1, 2, 4, 5]
    """
    return sorted({1 << power for power in range(highest.bit_length())} | {highest})


def _twice(cells: Sequence[str]) -> tuple[str, ...]:
    return tuple(cell for cell in cells for _ in range(2))


def _ranked(title: str, results: Sequence[RankedResult], values: Sequence[str], style: Style) -> list[str]:
    if not results:
        return []
    columns = [
        Column(title, tuple(values)),
        Column("case", tuple(each.case_id for each in results), right=False, name=True),
        *name_columns(results),
    ]
    if any(each.trial > 1 for each in results):
        columns.append(Column("trial", tuple(str(each.trial) for each in results)))
    return table(columns, style)


def _counted(heading: str, of_what: str, counts: Mapping[str, int], style: Style) -> list[str]:
    """How often each kind of thing went wrong, the most common first."""
    if not counts:
        return []
    shown = list(counts.items())[:_MOST_REASONS]
    names = Column(of_what, tuple(one_line(name) for name, _ in shown), right=False)
    return table([Column(heading, tuple(f"{count:,}" for _, count in shown)), names], style)


def _failures(failures: Sequence[FailedResult], in_all: int, style: Style) -> list[str]:
    """The first results that did not pass, each with its reason, in as many lines as that takes."""
    if not failures:
        return []
    listed = failures[:_MOST_FAILURES]
    with_suite = len({each.suite for each in failures}) > 1
    hints = OncePerHint()
    lines = [line for each in listed for line in (*_failure(each, with_suite), *_traces(each, hints))]
    more = in_all - len(listed)
    rest = [f"and {more:,} more; `results.jsonl` has them all"] if more > 0 else []
    return [style("not passed", None, bold=True), *lines, *rest]


def _failure(result: FailedResult, with_suite: bool) -> list[str]:
    from textwrap import wrap

    case = f"{result.suite}: {result.case_id}" if with_suite and result.suite else result.case_id
    text = failure_text(result.status, case, result.target, result.variant, result.trial, result.why)
    return wrap(shown(text, _LONGEST_FAILURE), WIDTH, subsequent_indent="    ", break_on_hyphens=False)


def _traces(result: FailedResult, hints: OncePerHint) -> list[str]:
    """What can be done about it, and where to look at what an agent did: whole, so that it can be copied."""
    kept = (("log", result.log), ("workspace", result.workspace))
    places = [f"  {name}: {one_line(shown_file(Path(path)))}" for name, path in kept if path]
    return [*hints.line(result.hint), *places]
