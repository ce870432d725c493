"""What `turnwise run` does: carries a run out before the eyes of a person or a program, and ends it on a signal."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from ..conversation.files import shown_file
from ..errors import NotAwaitedError, RunError, SuiteError
from ..plugins import plugins_are_loaded
from ..providers.opening import OVER_HTTP
from ..providers.quick_aiohttp import import_aiohttp
from ..suite.project import find_project_root, load_project
from .output import echo_diagnostics, echo_warning, error_style, output_style
from .signals import until_signalled

if TYPE_CHECKING:
    from ..engine.events import Ended
    from ..engine.grade_changes import GradeChanges
    from ..engine.options import PlanOptions
    from ..engine.session import Session
    from ..engine.summary_format import Summary
    from ..engine.verdict import Verdict
    from ..report.progress import Watcher

__all__ = ["carry_out", "show_plan"]


def carry_out(session: Session, kind: Literal["auto", "json", "quiet"]) -> int:
    """Do the run and show what came of it; the exit code that its verdict has."""
    from ..report.lines import watcher

    with suppress(OSError):
        _warn(session, quiet=kind == "quiet")
    if any(target.spec.provider in OVER_HTTP for target in session.plan.targets) and not plugins_are_loaded():
        import_aiohttp()
    watching = watcher(kind, out=sys.stdout, err=sys.stderr)
    ending = _Ending(watching)
    # A reader that has had enough (`| head`), and an error stream that takes no more, change nothing of how it went.
    with suppress(BrokenPipeError) if kind == "json" else suppress(OSError):
        _watched(session, ending, watching)
    if ending.ended is None:
        raise ending.fault or AssertionError("a run ends, or says why not")
    summary = session.summary(ending.ended)
    verdict = session.verdict(summary, ending.ended)
    changes = None if session.plan.regrades is None else _regrade_changes(session)
    with suppress(OSError):
        if ending.fault is not None:
            _tell(ending.fault)
    with suppress(BrokenPipeError):
        _show(summary, verdict, kind, watching, changes)
    with suppress(OSError):
        if kind == "auto" and session.folder.path.is_dir():
            click.echo(error_style()(f"results: {shown_file(session.folder.path)}", "grey"), err=True, color=True)
            _name_logs(session)
        _tell_what_to_do(session, summary, ending.ended)
    return verdict.exit_code


def _regrade_changes(session: Session) -> GradeChanges | None:
    from ..engine.grade_changes import regrade_changes  # late: most runs grade nothing again

    return regrade_changes(session)


def _watched(session: Session, ending: _Ending, watching: Watcher) -> None:
    # What a function under test prints is none of ours.
    with redirect_stdout(sys.stderr), watching:
        try:
            asyncio.run(_run(session, ending))
        except (RunError, SuiteError) as error:
            ending.fault = error
        except OSError as error:  # not of a watcher: those keep theirs until they are left
            ending.fault = RunError(f"the run cannot go on: {error}", "mend it, and go on with --resume")


def show_plan(options: PlanOptions, *, as_json: bool) -> None:
    """What a run would do, and about what it would cost; nothing is asked, and no key is needed."""
    import json

    from ..engine.dry_run import estimate_plan, plan_record
    from ..engine.plan import make_plan
    from ..engine.planned_targets import resolve_planned
    from ..report.estimate import estimate_text
    from ..report.plan import plan_text

    plan = make_plan(options)
    resolve_planned([*plan.targets, *plan.judges.targets], allow_missing_secrets=True)
    echo_diagnostics(plan.warnings)
    estimate = estimate_plan(plan)
    if as_json:
        click.echo(json.dumps({**plan_record(plan), "estimate": estimate.as_dict()}, ensure_ascii=False, indent=2))
        return
    click.echo(plan_text(plan, output_style()), color=True)
    click.echo()
    click.echo(estimate_text(estimate, output_style()), color=True)


class _Ending:
    """Passes events on, and remembers how the run ended."""

    def __init__(self, watching: Watcher) -> None:
        from ..engine.events import Ended  # here, and not for each of thousands of events

        self._watching = watching
        self._last = Ended
        self.ended: Ended | None = None
        self.fault: RunError | SuiteError | None = None

    def __call__(self, event: Any) -> None:
        if isinstance(event, self._last):
            self.ended = event
        self._watching(event)


async def _run(session: Session, observe: _Ending) -> None:
    runner = session.runner(observe)
    with until_signalled(runner):
        await runner.run()


def _warn(session: Session, *, quiet: bool) -> None:
    if not quiet:
        echo_diagnostics(session.plan.warnings)
    for target in (*session.plan.targets, *session.plan.judges.targets):
        for warning in dict.fromkeys(each for found in target.resolved.values() for each in found.warnings):
            echo_warning(warning)


def _tell(fault: RunError | SuiteError) -> None:
    """What ended the run early: it is over, but what it has brought is kept."""
    from ..report.terminal import one_line

    if isinstance(fault, SuiteError):
        echo_diagnostics(list(fault.diagnostics))
        return
    click.echo(f"{error_style()('error:', 'red', bold=True)} {one_line(str(fault))}", err=True, color=True)
    if fault.hint:
        click.echo(f"{error_style()('hint:', 'cyan')} {one_line(fault.hint)}", err=True, color=True)


def _show(
    summary: Summary, verdict: Verdict, kind: str, watching: Watcher, changes: GradeChanges | None = None
) -> None:
    from ..report.event_json import JsonWatcher
    from ..report.summary import summary_text

    if isinstance(watching, JsonWatcher):
        compared = {} if changes is None else {"regraded": changes.as_dict()}
        watching.summary({**summary.as_dict(verdict), **compared})
    elif kind == "quiet":
        click.echo(verdict.text)
    else:
        click.echo(summary_text(summary, verdict, output_style()), color=True)
        if changes is not None:
            click.echo(changes.text)


def _tell_what_to_do(session: Session, summary: Summary, ended: Ended) -> None:
    """How to get the results that are missing."""
    style = error_style()
    if session.plan.options.graded and "no graders" in summary.ungraded_by_reason:
        hint = "give the cases `graders`, or collect answers alone with --no-grade"
        click.echo(f"{style('hint:', 'cyan')} {hint}", err=True, color=True)
    if summary.unjudged and session.folder.path.is_dir():
        click.echo(f"{style('hint:', 'cyan')} {_ask_judges_again(session, summary.unjudged)}", err=True, color=True)
    # An error that was recorded stays one: there is nobody to ask again.
    errors = _worth_asking_again(summary, ended) if session.plan.regrades is None else 0
    if (ended.left or errors) and session.folder.path.is_dir():
        what = " and ".join(each for each in (f"{ended.left:,} not run" if ended.left else "", _errors(errors)) if each)
        line = f"{what}; go on with: turnwise run --resume {_name(session)}{_more(session, ended)}"
        click.echo(style(line, "yellow"), err=True, color=True)


def _worth_asking_again(summary: Summary, ended: Ended) -> int:
    """The errors that may go away. Where nobody waits on purpose, asking again would end in the same way."""
    errors = sum(group.errors for group in summary.targets)
    return errors if ended.stopped is not None else errors - summary.errors_by_kind.get(NotAwaitedError.kind, 0)


def _name_logs(session: Session) -> None:
    """Where to look at what agents did."""
    from ..engine.runner import AGENT_LOGS

    logs = session.folder.path / AGENT_LOGS
    if logs.is_dir():
        click.echo(error_style()(f"logs of agents: {shown_file(logs)}", "grey"), err=True, color=True)


def _ask_judges_again(session: Session, unjudged: int) -> str:
    """Resuming leaves answers alone that are there: only grading again asks their judges once more."""
    what = "1 result lacks" if unjudged == 1 else f"{unjudged:,} results lack"
    file = " --graders FILE" if (session.plan.regrades or {}).get("graders") else ""
    return f"{what} the verdict of a judge; ask for it again with: turnwise grade {_name(session)}{file}"


def _more(session: Session, ended: Ended) -> str:
    """What a run that has used up its budget needs besides."""
    if ended.stopped != "budget" or session.budget is None:
        return ""
    return " --budget-usd MORE" if session.budget.usd_reached else " --max-tokens-total MORE"


def _errors(count: int) -> str:
    return "1 error" if count == 1 else f"{count:,} errors" if count else ""


def _name(session: Session) -> str:
    """What `--resume` finds the run by: its id, unless the current folder is in another project."""
    here = load_project(find_project_root(Path.cwd())).runs_dir
    path = session.folder.path
    return session.folder.id if os.path.realpath(here) == os.path.realpath(path.parent) else shown_file(path)
