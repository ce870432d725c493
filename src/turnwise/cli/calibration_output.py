"""The reports of a calibration, printed or written in the form that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..conversation.files import shown_file
from ..errors import UsageError
from .output import error_style, output_style

if TYPE_CHECKING:
    from ..calibration.report import Calibration
    from .calibrate import Asked

__all__ = ["estimate_shown", "print_reports"]


def print_reports(asked: Asked, reports: Sequence[Calibration]) -> None:
    """Print the reports; with `--output`, write them there, and print them for people."""
    form = asked.shown_as
    if asked.output is not None:
        _write(Path(asked.output), _whole(form, reports))
        form = "text"
    if asked.quiet:
        for report in reports:
            for model in report.models:
                click.echo(f"{model.model}: {model.verdict.use}: {model.verdict.reason}")
        return
    if form == "text":
        click.echo(_text(reports), color=True)
    else:
        click.echo(_whole(form, reports), nl=False)


def _whole(form: str, reports: Sequence[Calibration]) -> str:
    import json

    from ..calibration.report_record import reports_record

    if form == "html":
        from ..calibration.html.page import calibration_html

        return calibration_html(reports)
    if form == "md":
        from ..calibration.markdown import calibration_markdown
        from ..report.terminal import printable

        return calibration_markdown(reports, clean=printable)
    if form == "toml":
        from ..calibration.toml_report import calibration_toml

        return calibration_toml(reports_record(reports))
    if form == "json":
        return json.dumps(reports_record(reports), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    return click.unstyle(_text(reports)) + "\n"


def _text(reports: Sequence[Calibration]) -> str:
    import shutil

    from ..calibration.terminal import calibration_text
    from ..report.terminal import printable

    width = shutil.get_terminal_size().columns
    return "\n\n".join(calibration_text(report, output_style(), width, clean=printable) for report in reports)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror or error}", "check the path after --output"
        ) from error
    click.echo(error_style()(f"wrote {shown_file(path)}", "grey"), err=True, color=True)


def estimate_shown(asked: Asked, reports: Sequence[Calibration]) -> None:
    """The corrected pass rate of unlabelled answers."""
    raise NotImplementedError
