"""`turnwise summary`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import RunError, UsageError
from .output import format_option

if TYPE_CHECKING:
    from ..engine.bars import Bars
    from ..engine.results_file import Repeats
    from ..engine.summary_format import Summary
    from ..engine.verdict import Verdict

__all__ = ["command"]


@click.command(
    name="summary",
    epilog="Exit codes: 0 the summary could be made, 2 it could not. With --exit-code: 0 all good, 1 below the bar, "
    "3 results are errors, ungraded or missing.",
)
@click.argument("written", metavar="RUN")
@format_option()
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    metavar="RATE",
    help="The pass rate that each target must reach on each suite, instead of what the run and its suites say.",
)
@click.option("--exit-code", is_flag=True, help="End with the exit code of the verdict.")
def command(written: str, form: str, threshold: float | None, exit_code: bool) -> None:
    """Show what came of a run: scores, pass rates, times, tokens and cost of each target on each suite.

    RUN is the id of a run, its folder, or a file of JSON lines that each have case_id, target, trial and score. The
    results of a run are enough: without its run.json, nothing is known of its bars and of what is missing.

    \b
    Examples:
      turnwise summary 20261116-090507-4123fa2
      turnwise summary results.jsonl --threshold 0.9 --exit-code
      turnwise summary results.jsonl --format json | jq '.targets[].pass_rate'
    """
    from ..engine.verdict import judge

    if threshold is not None and threshold != threshold:  # NaN lies in every range
        raise UsageError("--threshold is not a number", "give a pass rate from 0 to 1, such as 0.9")
    summary, bars = _summarised(written)
    verdict = judge(
        summary,
        threshold=bars.threshold if threshold is None else threshold,
        min_pass_rates=bars.min_pass_rates,
        left=max(0, (bars.planned or 0) - summary.results),
        graded=bars.graded,
        unrecorded=bars.unrecorded,
    )
    _show(summary, verdict, form)
    click.get_current_context().exit(verdict.exit_code if exit_code else 0)


def _summarised(written: str) -> tuple[Summary, Bars]:
    """The summary of the run or file, and what it has to reach: a file on its own says nothing of that."""
    import os

    from ..engine.bars import Bars
    from ..engine.results_file import is_journal
    from ..engine.run_folder import RESULTS, RUN

    path = Path(written)
    if not os.path.isfile(path):
        path = _folder_of(written) / RESULTS
    if path.name == RESULTS and (os.path.lexists(path.parent / RUN) or is_journal(path)):
        return _of_run(path.parent)
    return _of_file(path), Bars()


def _folder_of(written: str) -> Path:
    """The folder of a run, which needs its description or its results. Raises `UsageError` if there is none."""
    import os

    from ..engine.run_folder import RESULTS, find_run
    from ..suite.project import Projects

    project, _, _ = Projects().of(Path.cwd())
    try:
        return find_run(written, project.runs_dir)
    except UsageError:
        for folder in (project.runs_dir / written, Path(written)):
            if os.path.isfile(folder / RESULTS):
                return folder
        raise


def _of_file(path: Path) -> Summary:
    from ..engine.results_file import count_results, place_of_result, read_results_file, repeated_results
    from ..engine.summary import summarise
    from .output import echo_warning

    summary = summarise(lambda: read_results_file(path), lambda count: place_of_result(path, count))
    # Looking for them takes another reading, which is seldom needed.
    repeats = repeated_results(path) if count_results(path) > summary.results else None
    if repeats is not None:
        echo_warning(_said(repeats))
    return summary


def _said(repeats: Repeats) -> str:
    same = "of the same suite, case, target, variant and trial"
    if repeats.lines == 1:
        said = f"{repeats.first} takes the place of an earlier line {same}"
    else:
        said = f"{repeats.lines:,} lines take the place of earlier ones {same}, the first is {repeats.first}"
    return f"{said}; give each a `trial` of its own if all of them are to count"


def _of_run(folder: Path) -> tuple[Summary, Bars]:
    from dataclasses import replace

    from ..engine.journal import read_journal
    from ..engine.results_file import place_of_result
    from ..engine.run_folder import RESULTS
    from ..engine.summary import summarise
    from .output import echo_warning

    journal = folder / RESULTS
    bars = _bars_of(folder, needed=not journal.is_file())
    if not journal.is_file():
        summary = summarise(lambda: iter(()), tally=bars.tally())
    else:
        # The journal is read twice, but a torn line is told once.
        told: set[str] = set()
        summary = summarise(
            lambda: read_journal(journal, told.add), lambda count: place_of_result(journal, count), bars.tally()
        )
        for notice in sorted(told):
            echo_warning(notice)
    return replace(summary, run_id=summary.run_id or folder.resolve().name), bars


def _bars_of(folder: Path, *, needed: bool) -> Bars:
    """What the run has to reach. The results can be summed up without it, so it need not be readable for that."""
    from ..conversation.files import shown_file
    from ..engine.bars import Bars
    from ..engine.run_folder import RUN, RunFolder
    from .output import echo_warning

    try:
        return Bars.of(RunFolder(folder).description())
    except RunError as error:
        if needed:
            raise
        said = str(error).removeprefix(f"{shown_file(folder / RUN)} cannot be read: ")
        reason = said if (folder / RUN).exists() else "there is none beside the results"
        echo_warning(f"{RUN} cannot be read: bars and the planned number are not known ({reason})")
        return Bars()


def _show(summary: Summary, verdict: Verdict, form: str) -> None:
    from ..report.summary import summary_text
    from .output import output_style

    if form == "json":
        import json

        click.echo(json.dumps(summary.as_dict(verdict), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        click.echo(summary_text(summary, verdict, output_style()), color=True)
