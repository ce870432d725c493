"""`turnwise validate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .output import format_option

if TYPE_CHECKING:
    from ..checks.validate import Validation

__all__ = ["command"]


@click.command(
    name="validate",
    epilog="Exit codes: 0 no errors (warnings allowed), 2 errors.",
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@format_option(
    "text for people, json for programs, github for annotations in pull requests, sarif for code scanners.",
    "github",
    "sarif",
)
def command(paths: tuple[str, ...], form: str) -> None:
    """Name every problem of suites, config, targets, decks and samples, and of the files that they refer to.

    PATH is a file, a folder, a glob, or - for a suite on standard input.

    \b
    Examples:
      turnwise validate evals/
      turnwise validate evals/support.yaml graders/tone.deck.md
      turnwise validate --format github .
    """
    from ..checks.validate import Validation
    from ..diagnostics import has_errors
    from ..errors import UsageError
    from . import ExitCode
    from .output import STDIN_NAME, echo_diagnostics, stdin_as_file

    validation = Validation()
    if "-" in paths:
        with stdin_as_file() as path:
            validation.check_stream(path, STDIN_NAME)
    validation.check_paths([path for path in paths if path != "-"])
    validation.finish()
    if not validation.checked:
        echo_diagnostics(validation.diagnostics)
        hint = "name a suite, config, targets, deck or samples file, or a folder that holds some"
        raise UsageError("there is nothing to validate", hint)
    _show(validation, form)
    click.get_current_context().exit(ExitCode.BAD_INPUT if has_errors(validation.diagnostics) else ExitCode.OK)


def _show(validation: Validation, form: str) -> None:
    from ..report.diagnostics import as_github, as_json, as_sarif, as_text
    from ..version import __version__
    from .output import error_style, output_style

    diagnostics = validation.diagnostics
    match form:
        case "json":
            click.echo(as_json(diagnostics))
        case "sarif":
            click.echo(as_sarif(diagnostics, __version__))
        case "github":
            for diagnostic in diagnostics:
                click.echo(as_github(diagnostic))
        case _:
            style = output_style()
            for diagnostic in diagnostics:
                click.echo(as_text(diagnostic, style), color=True)
    errors = sum(diagnostic.severity == "error" for diagnostic in diagnostics)
    summary = f"{_count(validation.checked, 'file')} checked: {_count(errors, 'error')}, " + _count(
        len(diagnostics) - errors, "warning"
    )
    if validation.skipped:
        summary += f"; {_count(validation.skipped, 'other file')} skipped"
    click.echo(error_style()(summary, "red" if errors else "green", bold=True), err=True, color=True)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
