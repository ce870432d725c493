"""`turnwise grade`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

if TYPE_CHECKING:
    from ..engine.regrading import RegradeOptions
    from ..engine.session import Session

__all__ = ["command"]

_FIXED = ("written", "graders", "suites", "targets", "cases", "exclude", "tags", "threshold", "dry_run")
_EXECUTION = ("workers", "timeout", "budget_usd", "max_tokens_total", "cache", "durable")


@click.command(
    name="grade",
    epilog="Exit codes: 0 all good, 1 below the bar, 2 bad files or usage, 3 results are errors, ungraded or missing, "
    "130 interrupted.",
)
@click.argument("written", metavar="[RUN]", required=False)
@click.option("--graders", metavar="FILE", help="Grade every answer by the `graders` of this YAML file alone.")
@click.option("--suite", "suites", multiple=True, metavar="SUITE", help="Only answers to these suites.")
@click.option("--target", "-t", "targets", multiple=True, metavar="NAME", help="Only answers of these targets.")
@click.option("--case", "cases", multiple=True, metavar="GLOB", help="Only cases of such an id.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="No cases of such an id.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only cases with one of these tags.")
@click.option(
    "--threshold", type=float, metavar="RATE", help="The pass rate that each target must reach on each suite."
)
@click.option("--workers", "-w", type=int, metavar="N", help="How many answers at once.  [default: 16]")
@click.option("--timeout", type=float, metavar="SECONDS", help="For one result, with its judges.")
@click.option("--budget-usd", type=float, metavar="USD", help="Stop before judges have spent more.")
@click.option("--max-tokens-total", type=int, metavar="N", help="Stop before judges have used more tokens.")
@click.option("--cache/--no-cache", default=None, help="Use verdicts of before.  [default: off, or the config]")
@click.option("--durable", is_flag=True, default=None, help="Wait for the disk after each result.")
@click.option("--resume", metavar="RUN", help="Go on with a grading that was stopped.")
@click.option("--dry-run", is_flag=True, help="Show what would be graded; ask nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print events as JSON lines, the summary last.")
@click.option("--quiet", "-q", is_flag=True, help="Print the verdict alone.")
def command(**given: Any) -> None:
    """Grade the answers of a recorded run again, without asking for them, as a new run.

    RUN is the id of a run, its folder, or its results.jsonl; it is not changed. Cases and graders are those of its
    suites as they are now. Models that judge are asked. The last line says how many results have another status.

    \b
    Examples:
      turnwise grade 20261116-090507-4123fa2
      turnwise grade 20261116-090507-4123fa2 --graders stricter.yaml
      turnwise grade runs/old/results.jsonl --case 'refund-*' --dry-run
      turnwise grade --resume 20261116-101500-2277abc
    """
    import signal

    # Until it is under way, a request to end ends at once, like Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if given["as_json"] and given["quiet"]:
        raise click.UsageError("--json and --quiet exclude each other")
    kind: Literal["auto", "json", "quiet"] = "json" if given["as_json"] else "quiet" if given["quiet"] else "auto"
    if given["dry_run"] and given["resume"] is None:
        _show_plan(_options(given), as_json=given["as_json"])
        return
    from .running import carry_out

    with _session(given) as session:
        code = carry_out(session, kind)
    click.get_current_context().exit(code)


def _session(given: dict[str, Any]) -> Session:
    """The new run, planned or found, and locked."""
    from ..engine.options import Execution

    execution = {name: given[name] for name in _EXECUTION if given[name] is not None}
    if given["resume"] is not None:
        from ..engine.resuming import go_on

        _refuse_fixed(given)
        return go_on(given["resume"], execution)
    from ..engine.regrading import begin_grading

    return begin_grading(_options(given), Execution(**execution))


def _options(given: dict[str, Any]) -> RegradeOptions:
    from ..engine.regrading import RegradeOptions
    from ..engine.selection import Selection

    if given["written"] is None:
        raise click.UsageError("name the run to grade, or one to --resume")
    selection = Selection(cases=given["cases"], exclude=given["exclude"], tags=given["tags"])
    return RegradeOptions(
        run=given["written"],
        suites=given["suites"],
        graders=given["graders"],
        targets=given["targets"],
        selection=selection,
        threshold=given["threshold"],
    )


def _refuse_fixed(given: dict[str, Any]) -> None:
    for name in _FIXED:
        value = given[name]
        if value is not None and value is not False and value != ():
            option = next(each for each in command.params if each.name == name)
            shown = "RUN" if name == "written" else option.opts[0]
            raise click.UsageError(f"{shown} does not go with --resume: the run keeps its plan")


def _show_plan(options: RegradeOptions, *, as_json: bool) -> None:
    """What would be graded, and by whom; nothing is asked, and no key is needed."""
    from ..engine.dry_run import plan_record
    from ..engine.planned_targets import resolve_planned
    from ..engine.regrading import plan_regrading
    from ..report.plan import plan_text
    from .output import echo_diagnostics, output_style

    plan = plan_regrading(options)
    resolve_planned([*plan.targets, *plan.judges.targets], allow_missing_secrets=True)
    echo_diagnostics(plan.warnings)
    if as_json:
        import json

        click.echo(json.dumps({**plan_record(plan), "regrades": plan.regrades}, ensure_ascii=False, indent=2))
        return
    click.echo(plan_text(plan, output_style()), color=True)
