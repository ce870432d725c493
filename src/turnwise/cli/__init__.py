"""The command line: one module a verb. Here are the list of verbs and the way out of every error."""

from __future__ import annotations

import gc
import io
import os
import sys
from contextlib import suppress
from importlib import import_module

import click

from ..version import __version__
from .interrupts import was_asked_to_end

__all__ = ["ExitCode", "cli", "main", "process"]

# Verb to its one line of help: the modules themselves are imported only for the verb that runs.
_VERBS = {
    "ask": "Ask a target one thing, to try it.",
    "cache": "Show or clear the answers that were kept.",
    "calibrate": "Measure how far a grader deck can be trusted.",
    "grade": "Grade the answers of a run again, without asking for them.",
    "init": "Write a small working project.",
    "label": "Label samples, one conversation at a time.",
    "prompt": "Show what each case of a suite sends to a model.",
    "render": "Show what a deck sends to the model that grades.",
    "run": "Ask the cases of suites, grade the answers, and say what came of it.",
    "samples": "Draw samples from a run, convert files of samples, and show what they hold.",
    "schema": "Print the JSON Schema of a file format.",
    "summary": "Show what came of a run: scores, pass rates, times and cost.",
    "targets": "List whom a project can ask, and check that they answer.",
    "validate": "Name every problem of suites, config, targets, decks and samples.",
}


class ExitCode:
    """What the exit codes mean."""

    OK = 0
    FAILED = 1  # a check or case failed
    BAD_INPUT = 2  # bad files or usage
    INCOMPLETE = 3  # cases could not be run or graded
    INTERNAL = 70  # a fault of Turnwise itself
    NO_OUTPUT = 74  # the output cannot be written
    INTERRUPTED = 130


class _Verbs(click.Group):
    """Knows the names of all verbs, and imports the one that is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _VERBS:
            return None
        command = import_module(f"{__name__}.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _VERBS and not args[0].startswith("-"):
            import difflib

            from ..report.terminal import one_line

            near = difflib.get_close_matches(args[0], _VERBS, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else f" There are: {', '.join(sorted(_VERBS))}."
            raise click.UsageError(f"No such command '{one_line(args[0])}'.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_VERBS.items()))


@click.group(
    cls=_Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 fine, 1 a check or case failed, 2 bad files or usage, 3 cases could not be run or graded, "
    "70 a fault of Turnwise itself, 74 the output cannot be written, 130 interrupted.",
)
@click.version_option(__version__, "--version", message="turnwise %(version)s")
def cli() -> None:
    """Evaluate LLMs and agents over conversations, with graders whose own accuracy is measured.

    \b
    Examples:
      turnwise init my-evals                    start a project
      turnwise validate my-evals                find every mistake, with line and column
      turnwise prompt my-evals/evals            see what a model would be sent
      turnwise run my-evals/evals               ask, grade and sum up
    """


def process() -> None:
    """`main` as a process of its own: taking the interpreter apart in order would be a tenth of a short command."""
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else ExitCode.OK
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def main() -> None:
    """Run the command line; whatever goes wrong ends in one message and an exit code, never in a traceback."""
    # Imports make many objects and no garbage: looking for it takes some 5 ms.
    gc.set_threshold(100_000)
    # A stream that the caller has closed is None; what would go there goes nowhere.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # Suites are UTF-8 whatever the locale is; what cannot be shown is escaped rather than fatal.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    if "_TURNWISE_COMPLETE" in os.environ:
        cli.main(prog_name="turnwise")
    try:
        code = _run(sys.argv[1:])
    except OSError:
        code = ExitCode.NO_OUTPUT  # not even the error could be written
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    # Not click's own `main`: it turns a closed pipe into exit code 1.
    try:
        with cli.make_context("turnwise", arguments) as context:
            cli.invoke(context)
        return _flushed(ExitCode.OK)
    except click.exceptions.Exit as end:
        return _flushed(end.exit_code)
    except click.ClickException as error:
        from ..report.terminal import printable

        shown = io.StringIO()
        error.show(shown)
        click.echo(printable(shown.getvalue()), err=True, nl=False)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _interrupted()
    except OSError as error:
        # Files that are read have names; what has none is the output.
        return _no_output(error) if error.filename is None else _report(error)
    except Exception as error:  # noqa: BLE001  (the last resort: nothing may reach the user as a traceback)
        return _interrupted() if was_asked_to_end() else _report(error)


def _interrupted() -> int:
    click.echo("interrupted", err=True)
    return ExitCode.INTERRUPTED


def _flushed(code: int) -> int:
    try:
        sys.stdout.flush()
    except OSError as error:
        return _no_output(error, code)
    return code


def _no_output(error: OSError, code: int = ExitCode.OK) -> int:
    """A reader that has had enough (`| head`) is no error, and nobody is left to tell; a full disk is."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return code
    click.echo(f"error: the output cannot be written: {error.strerror or error}", err=True)
    return ExitCode.NO_OUTPUT


def _report(error: Exception) -> int:
    from ..errors import (
        InputError,
        MissingVariablesError,
        PromptError,
        ProviderError,
        RunError,
        SetupError,
        TurnwiseError,
        UsageError,
    )
    from ..report.terminal import one_line
    from .output import echo_diagnostics, error_style

    if isinstance(error, InputError):
        echo_diagnostics(list(error.diagnostics))
        return ExitCode.BAD_INPUT
    style = error_style()
    if isinstance(error, TurnwiseError):
        click.echo(f"{style('error:', 'red', bold=True)} {one_line(str(error))}", err=True)
        for line in error.details if isinstance(error, RunError) else ():
            click.echo(one_line(line), err=True)
        if isinstance(error, UsageError | ProviderError | MissingVariablesError) and error.hint:
            click.echo(f"{style('hint:', 'cyan')} {one_line(error.hint)}", err=True)
        if isinstance(error, ProviderError) and not isinstance(error, PromptError | SetupError):
            return ExitCode.FAILED
        return ExitCode.BAD_INPUT
    if os.environ.get("TURNWISE_DEBUG"):
        raise error
    click.echo(f"{style('internal error:', 'red', bold=True)} {type(error).__name__}: {one_line(str(error))}", err=True)
    click.echo("This is a fault of Turnwise. Set TURNWISE_DEBUG=1 to see where it happened, and report it.", err=True)
    return ExitCode.INTERNAL
