"""What the verbs share: colour where it is wanted, diagnostics on standard error, standard input as a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic
    from ..report.terminal import Style

__all__ = [
    "STDIN_NAME",
    "echo_diagnostics",
    "echo_warning",
    "error_style",
    "format_option",
    "output_style",
    "stdin_as_file",
]

_Command = TypeVar("_Command", bound=Callable[..., Any])

STDIN_NAME = "<stdin>"


def format_option(said: str = "text for people, json for programs.", *more: str) -> Callable[[_Command], _Command]:
    """`--format`, as most verbs have it."""
    choice = click.Choice(["text", "json", *more])
    return click.option("--format", "form", type=choice, default="text", show_default=True, help=said)


def output_style() -> Style:
    """Colour for standard output, if a person is looking."""
    return _style(sys.stdout)


def error_style() -> Style:
    """Colour for standard error, if a person is looking."""
    return _style(sys.stderr)


def _style(stream: IO[Any]) -> Style:
    from ..report.terminal import coloured, plain

    if os.environ.get("NO_COLOR"):
        return plain
    if os.environ.get("FORCE_COLOR"):
        return coloured
    return coloured if stream.isatty() and os.environ.get("TERM") != "dumb" else plain


def echo_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    """Print diagnostics for people, on standard error."""
    from ..report.diagnostics import as_text

    style = error_style()
    for diagnostic in diagnostics:
        click.echo(as_text(diagnostic, style), err=True, color=True)


def echo_warning(message: str) -> None:
    """Print a warning that belongs to no file, on standard error."""
    from ..report.terminal import one_line

    click.echo(f"{error_style()('warning:', 'yellow', bold=True)} {one_line(message)}", err=True, color=True)


@contextmanager
def stdin_as_file() -> Iterator[Path]:
    """Standard input in a temporary file that is named after what it holds, so that it can be read twice."""
    import shutil
    import tempfile

    from ..errors import UsageError
    from ..suite.kinds import is_jsonl

    if sys.stdin is None:
        raise UsageError("standard input is closed", "name a file instead of `-`")

    with tempfile.TemporaryDirectory(prefix="turnwise-") as folder:
        path = Path(folder, "stdin.yaml")
        with open(path, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield path.rename(path.with_suffix(".jsonl")) if is_jsonl(path) else path
