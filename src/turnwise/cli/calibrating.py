"""What `turnwise calibrate` does: has judges asked or takes recorded answers, and shows how far they can be trusted."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..conversation.files import shown_file
from ..errors import RunError, UsageError
from .output import echo_diagnostics, echo_warning, error_style, output_style
from .signals import until_signalled

if TYPE_CHECKING:
    from ..calibration.report import Calibration
    from ..calibration.session import CalibrationSession
    from ..engine.events import Ended, Event
    from ..report.progress import Watcher
    from .calibrate import Asked

__all__ = ["calibrate"]

DEMO = "demo"


def calibrate(asked: Asked) -> int:
    """Do what was asked; the exit code."""
    _check(asked)
    if asked.half_width is not None:
        from .label_planning import plan_labels

        return plan_labels(asked)
    if asked.decks == (DEMO,) and not Path(DEMO).exists():
        if asked.replay is None and not asked.model_names and not asked.dry_run:
            return _demo(asked)
        asked = _with_demo_copied(asked)
    if asked.replay is not None:
        return _shown(asked, _replayed(asked))
    if asked.dry_run:
        return _dry_run(asked)
    with asked.session() as session:
        return _live(asked, session)


def _check(asked: Asked) -> None:
    """Refuse what makes no sense before anything is read."""
    from ..calibration.gates import parse_gate
    from .calibration_output import check_output

    for gate in asked.gates:
        parse_gate(gate)
    check_output(asked)
    if not asked.decks and asked.replay is None and asked.resume is None and asked.half_width is None:
        hint = "name a deck, or give --samples with --replay; `turnwise calibrate demo` shows what comes out"
        raise UsageError("there is no deck to calibrate", hint)
    if asked.replay is not None and not asked.decks and not asked.samples:
        raise UsageError("--replay needs the labels", "add --samples FILE, or the deck that embeds them")
    if asked.resume is not None and asked.dry_run:
        raise UsageError("--dry-run does not go with --resume", "what is left is said when it goes on")
    if asked.draw is not None and asked.half_width is None:
        raise UsageError("--draw draws nothing without --plan", "add --plan 0.05, or leave --draw out")
    if asked.output is None and asked.quiet and asked.form not in (None, "text"):
        raise UsageError(f"--quiet prints no {asked.form}", "add --output FILE, or leave --quiet out")


def _live(asked: Asked, session: CalibrationSession) -> int:
    from ..calibration.reporting import reports_of
    from ..calibration.store import CalibrationStore

    for deck in session.plan.decks:
        echo_diagnostics(list(deck.diagnostics))
    ended = _run(asked, session)
    if ended.stopped == "interrupted":
        _say_how_to_go_on(session, ended)
        return 130
    reports = reports_of(session)
    store = CalibrationStore(session.folder.path.parent)
    try:
        kept = store.keep(session.folder.id, reports, is_whole=not ended.left)
        code = _shown(asked, reports)
        if not asked.quiet:
            click.echo(error_style()(f"report: {shown_file(kept)}", "grey"), err=True, color=True)
    except OSError as error:
        raise RunError(
            f"the report cannot be written: {error.strerror or error}", "make room, then --resume"
        ) from error
    if ended.left:
        _say_how_to_go_on(session, ended)
        return 3
    _say_how_to_retry(session)
    nothing = any(not model.valid for report in reports for model in report.models)
    return code or (3 if nothing else 0)


def _run(asked: Asked, session: CalibrationSession) -> Ended:
    """Have all judges asked, before the eyes of whoever watches."""
    from ..plugins import plugins_are_loaded
    from ..providers.opening import OVER_HTTP
    from ..providers.quick_aiohttp import import_aiohttp
    from ..report.calibration_progress import calibration_watcher

    for target in session.plan.targets:
        for warning in dict.fromkeys(each for found in target.resolved.values() for each in found.warnings):
            echo_warning(warning)
    if any(target.spec.provider in OVER_HTTP for target in session.plan.targets) and not plugins_are_loaded():
        import_aiohttp()
    watching = calibration_watcher("quiet" if asked.quiet else "auto", out=sys.stderr, err=sys.stderr)
    ended: list[Ended] = []
    with suppress(BrokenPipeError), redirect_stdout(sys.stderr), watching:
        asyncio.run(_carried_out(session, watching, ended))
    return ended[0]


async def _carried_out(session: CalibrationSession, watching: Watcher, ended: list[Ended]) -> None:
    from ..engine.events import Ended

    def observe(event: Event) -> None:
        if isinstance(event, Ended):
            ended.append(event)
        watching(event)

    runner = session.runner(observe)
    with until_signalled(runner):
        await runner.run()


def _say_how_to_go_on(session: CalibrationSession, ended: Ended) -> None:
    more = ""
    if ended.stopped == "budget" and session.budget is not None:
        more = " --budget-usd MORE" if session.budget.usd_reached else " --max-tokens-total MORE"
    line = f"{ended.left:,} not judged; go on with: turnwise calibrate --resume {session.folder.id}{more}"
    with suppress(OSError):
        click.echo(error_style()(line, "yellow"), err=True, color=True)


def _say_how_to_retry(session: CalibrationSession) -> None:
    """Answers that never came are asked for again when a calibration is resumed."""
    from ..calibration.outputs import outputs_of

    by_deck = outputs_of(session.records()).values()
    given = [each for models in by_deck for samples in models.values() for found in samples.values() for each in found]
    lost = sum(each.failure in ("api_error", "timeout") for each in given)
    if lost:
        line = f"{lost:,} ended in errors; ask again with: turnwise calibrate --resume {session.folder.id}"
        with suppress(OSError):
            click.echo(error_style()(line, "yellow"), err=True, color=True)


def _replayed(asked: Asked) -> list[Calibration]:
    from ..calibration.replaying import replayed

    reports, diagnostics = replayed(asked.options(), str(asked.replay))
    echo_diagnostics(diagnostics)
    return reports


def _demo(asked: Asked) -> int:
    from ..calibration.demo import demo_report

    code = _shown(asked, [demo_report(gates=asked.gates, seed=asked.seed or 0)])
    if not asked.quiet:
        hint = "these outputs are recorded; `turnwise calibrate demo -m MODEL` asks a model of yours"
        click.echo(f"{error_style()('hint:', 'cyan')} {hint}", err=True, color=True)
    return code


def _with_demo_copied(asked: Asked) -> Asked:
    """The demo's deck as a file of the user's own, which can be changed and measured again."""
    from ..calibration.demo import copy_demo

    deck = copy_demo(Path("turnwise-demo"))
    click.echo(
        error_style()(f"the deck and its samples are in {shown_file(deck.parent)}", "grey"), err=True, color=True
    )
    return replace(asked, decks=(str(deck),))


def _dry_run(asked: Asked) -> int:
    import json

    from ..calibration.session import plan_calibration
    from ..engine.dry_run import estimate_plan
    from ..engine.planned_targets import resolve_planned
    from ..report.estimate import estimate_text

    plan = plan_calibration(asked.options())
    resolve_planned(plan.targets, allow_missing_secrets=True)
    estimate = estimate_plan(plan)
    if asked.shown_as == "json":
        record = {"decks": list(plan.names), "answers": plan.results, "estimate": estimate.as_dict()}
        click.echo(json.dumps(record, ensure_ascii=False, indent=2))
        return 0
    for deck in plan.decks:
        echo_diagnostics(list(deck.diagnostics))
        click.echo(f"{deck.name}: {len(deck.samples):,} samples, {deck.scale.kind} scale")
    models = ", ".join(target.name for target in plan.targets)
    click.echo(f"{plan.results:,} answers of {models}\n")
    click.echo(estimate_text(estimate, output_style()), color=True)
    return 0


def _shown(asked: Asked, reports: Sequence[Calibration]) -> int:
    """Print or write the reports; the exit code that gates and verdicts have."""
    from ..calibration.gates import gates_exit_code
    from .calibration_output import estimate_shown, print_reports

    print_reports(asked, reports)
    is_estimated = estimate_shown(asked, reports)
    gates = [gate for report in reports for gate in report.gates]
    code = gates_exit_code(gates)
    return code or (0 if is_estimated else 3)
