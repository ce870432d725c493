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

__all__ = ["check_output", "estimate_shown", "print_reports"]

_ENDINGS = (".html", ".htm", ".json", ".toml", ".md", ".txt")


def print_reports(asked: Asked, reports: Sequence[Calibration]) -> None:
    """Print the reports; with `--output`, write them there, and print them for people."""
    form = asked.shown_as
    if asked.output is not None:
        _write(Path(asked.output), _whole(form, reports))
        form = "text"
    if asked.quiet:
        for line in _quiet_lines(reports):
            click.echo(line)
        return
    if form == "text":
        click.echo(_text(reports), color=True)
    else:
        click.echo(_whole(form, reports), nl=False)


def check_output(asked: Asked) -> None:
    """Refuse a file that could not be written, or whose form nobody knows, before anything is asked. Raises
    `UsageError`."""
    import os

    if asked.output is None:
        return
    path = Path(asked.output)
    ending = path.suffix.lower()
    if asked.form is None and ending not in _ENDINGS:
        found = f"the ending {ending}" if ending else "a name without an ending"
        forms = f"end it in {', '.join(_ENDINGS)}, or say --format text, json, toml, html or md"
        raise UsageError(f"--output {shown_file(path)}: {found} says no form of a report", forms)
    if os.path.isdir(path):
        raise UsageError(f"--output {shown_file(path)} is a folder", "name a file in it")
    folder = path.parent
    if not os.path.isdir(folder):
        raise UsageError(f"--output {shown_file(path)}: there is no folder {shown_file(folder)}", "make it first")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise UsageError(f"--output {shown_file(path)} cannot be written", "choose another place, or mend its rights")


def _quiet_lines(reports: Sequence[Calibration]) -> list[str]:
    from ..report.calibration.gate_text import quiet_lines
    from ..report.terminal import one_line

    lines = [one_line(line) for report in reports for line in quiet_lines(report)]
    return [*lines, *_estimate_lines(reports, only_sentences=True)]


def _whole(form: str, reports: Sequence[Calibration]) -> str:
    from ..calibration.estimating import estimate_records, estimates_of
    from ..calibration.json_text import json_text
    from ..calibration.report_record import reports_record

    if form == "html":
        from ..report.calibration.html.page import calibration_html

        return calibration_html(reports)
    if form == "md":
        from ..report.calibration.estimate_text import estimate_markdown
        from ..report.calibration.markdown import calibration_markdown
        from ..report.terminal import printable

        estimates = estimates_of(reports)
        below = "\n" + estimate_markdown(estimates, clean=printable) if estimates else ""
        return calibration_markdown(reports, clean=printable) + below
    if form == "toml":
        from ..report.calibration.toml_report import calibration_toml

        return calibration_toml(reports_record(reports) | estimate_records(reports))
    if form == "json":
        record = reports_record(reports) | estimate_records(reports)
        return json_text(record) + "\n"
    return click.unstyle(_text(reports)) + "\n"


def _text(reports: Sequence[Calibration]) -> str:
    import shutil

    from ..report.calibration.layout import wrapped
    from ..report.calibration.terminal import calibration_text
    from ..report.terminal import printable

    width = shutil.get_terminal_size().columns
    estimates = [piece for line in _estimate_lines(reports) for piece in wrapped(line, width, "    ")]
    blocks = [calibration_text(report, output_style(), width, clean=printable) for report in reports]
    return "\n\n".join([*blocks, *(["\n".join(estimates)] if estimates else [])])


def _write(path: Path, text: str) -> None:
    try:
        path.write_bytes(text.encode("utf-8", "backslashreplace"))  # a judge may write half of a character
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror or error}", "check the path after --output"
        ) from error
    click.echo(error_style()(f"wrote {shown_file(path)}", "grey"), err=True, color=True)


def estimate_shown(asked: Asked, reports: Sequence[Calibration]) -> bool:
    """Whether every pass rate that was wanted could be corrected; the reports show them. Raises `UsageError`."""
    from ..calibration.estimating import estimates_of

    found = estimates_of(reports)
    if asked.estimate is not None and not found:
        raise UsageError("no pass rate is estimated: there is no judge for the answers", "name a deck, or --replay")
    return all(each.rate.value is not None for each in found)


def _estimate_lines(reports: Sequence[Calibration], *, only_sentences: bool = False) -> list[str]:
    from ..calibration.estimating import estimates_of
    from ..report.calibration.estimate_text import estimate_lines, estimate_title
    from ..report.terminal import one_line

    lines: list[str] = []
    for each in estimates_of(reports):
        title, said = one_line(estimate_title(each)), estimate_lines(each, clean=one_line)
        if only_sentences:
            lines.append(said[0])
            continue
        lines += [] if title in lines else [title]
        lines += [f"  {line}" for line in said]
    return lines
