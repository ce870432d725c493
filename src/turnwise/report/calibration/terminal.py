"""The report of a calibration at a glance, for a terminal: can the judge be trusted, for what, and what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from .comparing import difference_lines
from .contested import contested_samples
from .gate_text import gate_lines
from .layout import wrapped
from .overview import overview, slice_overview
from .sentences import (
    disagreement_line,
    invalid_line,
    invalid_output_lines,
    legend,
    more_disagreements,
    more_figures,
    pace_line,
    people_lines,
    title,
    verdict_sentence,
)
from .terminal_disagreements import disagreement_block
from .terminal_table import table_of
from .wording import counted

if TYPE_CHECKING:
    from ...calibration.report import Calibration, ModelReport
    from .layout import Style
    from .terminal_table import FittedTable

__all__ = ["calibration_text"]

NARROWEST, WIDEST = 40, 200
_USUAL_WIDTH = 100
_USE_COLOURS = {"gating": "green", "trends": "yellow", "none": "red", "unknown": "cyan"}
_GATE_COLOURS = {True: "green", False: "red", None: "yellow"}


def calibration_text(
    calibration: Calibration,
    style: Style,
    width: int | None = None,
    *,
    clean: Callable[[str], str],
    most_disagreements: int = 5,
) -> str:
    """The whole report in at most `width` columns, those of the terminal if none are given.

    `clean` takes from a text what could do harm on a terminal; tabs and line breaks are this module's own care.
    """
    page = _Page(calibration, style, _columns(width), clean)
    blocks = [
        page.head(),
        page.verdicts(),
        page.section("Which judge is better", difference_lines(calibration)),
        page.gates(),
        page.warnings(),
        page.section("People among themselves", people_lines(calibration)),
        page.slices(),
        page.section("Outputs that are no verdicts", invalid_output_lines(calibration)),
        *page.disagreements(most_disagreements),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _columns(width: int | None) -> int:
    import shutil

    found = shutil.get_terminal_size((_USUAL_WIDTH, 24)).columns if width is None else width
    return min(max(found, NARROWEST), WIDEST)


class _Page:
    """The blocks of one report, each a list of lines."""

    def __init__(self, calibration: Calibration, style: Style, width: int, clean: Callable[[str], str]) -> None:
        self._calibration = calibration
        self._style = style
        self._width = width
        self._clean = clean
        self._flat = partial(_flat, clean)
        self._overview = overview(calibration)
        self._table: FittedTable = table_of(self._overview, "judge", style, width, self._flat)

    def head(self) -> list[str]:
        """What was calibrated, and the table."""
        names = len(self._calibration.models)
        others = self._overview.names[names:]
        rest = [
            f"{name}: {'; '.join(cells)}" for name, cells in zip(others, self._table.rest[names:], strict=True) if cells
        ]
        said = self._wrapped(title(self._calibration))
        notes = [line for note in self._overview.notes for line in self._wrapped(note, "  ")]
        more = [line for each in rest for line in self._wrapped(each, "  ")]
        small = [self._style(line, "grey") for line in [*notes, *self._wrapped(legend(self._calibration))]]
        return [*(self._style(line, None, bold=True) for line in said), "", *self._table.lines, *more, *small]

    def verdicts(self) -> list[str]:
        """A few lines for each judge: what it may be used for, and what had no room in the table."""
        lines: list[str] = []
        for model, rest in zip(self._calibration.models, self._table.rest, strict=False):
            lines += self._verdict(model, rest)
        return lines

    def _verdict(self, model: ModelReport, rest: list[str]) -> list[str]:
        first, *others = self._wrapped(f"{model.model}: {verdict_sentence(model)}", "  ")
        below = ["; ".join(rest), more_figures(model), pace_line(model), invalid_line(model)]
        lines = [first, *others]
        coloured = [self._style(line, _USE_COLOURS[model.verdict.use]) for line in lines]
        return [*coloured, *(line for text in below if text for line in self._wrapped(f"  {text}", "    "))]

    def section(self, heading: str, lines: Iterable[str]) -> list[str]:
        """A heading and what is below it; nothing if nothing is."""
        found = [line for each in lines for line in self._wrapped(f"  {each}", "    ")]
        return [self._style(heading, None, bold=True), *found] if found else []

    def gates(self) -> list[str]:
        """The bars, and who met them."""
        lines = [
            self._style(line, _GATE_COLOURS[met])
            for text, met in gate_lines(self._calibration)
            for line in self._wrapped(f"  {text}", "    ")
        ]
        return [self._style("Gates", None, bold=True), *lines] if lines else []

    def warnings(self) -> list[str]:
        """What to know before believing the figures, and what to do about it."""
        lines: list[str] = []
        for each in self._calibration.warnings:
            first, *others = self._wrapped(f"warning: {each.message}", "  ")
            lines += [self._style("warning:", "yellow", bold=True) + first.removeprefix("warning:"), *others]
            lines += self._wrapped(f"  → {each.hint}", "    ") if each.hint else []
        return lines

    def slices(self) -> list[str]:
        """The figures of each tag."""
        if not self._calibration.slices:
            return []
        found = slice_overview(self._calibration)
        table = table_of(found, "tag", self._style, self._width, self._flat)
        notes = [self._style(line, "grey") for note in found.notes for line in self._wrapped(note, "  ")]
        more = [f"… and {counted(found.more, 'more tag')}"] if found.more else []
        return [*table.lines, *more, *notes]

    def disagreements(self, most: int) -> Iterator[list[str]]:
        """The disagreements that matter most, and how to see the others."""
        contested = contested_samples(self._calibration)
        if not contested:
            return
        yield [self._style(line, None, bold=True) for line in self._wrapped(disagreement_line(contested))]
        for each in contested[:most]:
            yield disagreement_block(each, self._style, self._width, self._clean)
        more = more_disagreements(most, contested)
        if more:
            yield self._wrapped(more)

    def _wrapped(self, text: str, indent: str = "") -> list[str]:
        return wrapped(self._flat(text), self._width, indent)


def _flat(clean: Callable[[str], str], text: str) -> str:
    """A text as a part of one line."""
    return clean(text).replace("\n", "␊").replace("\t", " ")
