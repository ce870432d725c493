"""The report of calibrations as Markdown, for pull requests: tables, warnings, and the worst disagreements folded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from .comparing import difference_lines
from .contested import LONGEST_REASON, LONGEST_TEXT, MOST_MESSAGES, contested_samples
from .gate_text import gate_lines
from .markdown_text import block, code, inline
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
from .wording import code_text, counted, cut

if TYPE_CHECKING:
    from ...calibration.report import Calibration, ModelReport
    from .contested import Contested
    from .overview import Overview

__all__ = ["calibration_markdown"]

_MOST_DISAGREEMENTS = 5
_MARKS = {True: "✅", False: "❌", None: "❔"}
_USE_MARKS = {"gating": "✅", "trends": "📈", "none": "⛔", "unknown": "❔"}


def calibration_markdown(calibrations: Sequence[Calibration], *, clean: Callable[[str], str]) -> str:
    """The reports one below the other. `clean` takes control characters and the like from texts of others."""
    return "\n\n".join(_Page(each, clean).text() for each in calibrations) + "\n"


class _Page:
    """The report of one calibration."""

    def __init__(self, calibration: Calibration, clean: Callable[[str], str]) -> None:
        self._calibration = calibration
        self._clean = clean

    def text(self) -> str:
        """All of it, blocks parted by empty lines."""
        return "\n\n".join("\n".join(block) for block in self._blocks() if block)

    def _blocks(self) -> Iterator[list[str]]:
        calibration = self._calibration
        deck = calibration.deck
        yield [f"## Calibration of {self._code(deck.path)}" if deck else "## Calibration of a judge without a deck"]
        yield [self._said(title(calibration).partition(" · ")[2])]
        yield from self._table(overview(calibration), "judge")
        yield [f"<sub>{self._said(legend(calibration))}</sub>"]
        yield self._list(map(self._verdict, calibration.models))
        yield from self._section("Which judge is better", map(self._said, difference_lines(calibration)))
        gates = (f"{_MARKS[met]} {self._said(text)}" for text, met in gate_lines(calibration))
        yield from self._section("Gates", gates)
        yield from self._section("Warnings", self._warnings())
        yield from self._section("People among themselves", map(self._said, people_lines(calibration)))
        yield from self._slices()
        invalid = map(self._said, invalid_output_lines(calibration))
        yield from self._section("Outputs that are no verdicts", invalid)
        yield from self._disagreements()

    def _verdict(self, model: ModelReport) -> str:
        below = (self._said(text) for text in (more_figures(model), pace_line(model), invalid_line(model)) if text)
        mark = _USE_MARKS[model.verdict.use]
        first = f"{mark} {self._code(model.model)}: {self._said(verdict_sentence(model))}"
        return "<br>".join([first, *below])

    def _warnings(self) -> Iterator[str]:
        for each in self._calibration.warnings:
            yield f"⚠️ {self._said(each.message)}" + (f"<br>→ {self._said(each.hint)}" if each.hint else "")

    def _slices(self) -> Iterator[list[str]]:
        if self._calibration.slices:
            found = slice_overview(self._calibration)
            yield ["### By tag"]
            yield from self._table(found, "tag")
            yield [f"… and {counted(found.more, 'more tag')}"] if found.more else []

    def _disagreements(self) -> Iterator[list[str]]:
        contested = contested_samples(self._calibration)
        if not contested:
            return
        yield ["### Disagreements"]
        yield [f"{disagreement_line(contested)}."]
        for each in contested[:_MOST_DISAGREEMENTS]:
            yield from self._disagreement(each)
        more = more_disagreements(_MOST_DISAGREEMENTS, contested)
        yield [more] if more else []

    def _disagreement(self, contested: Contested) -> Iterator[list[str]]:
        _, first = contested.judges[0]
        judges = "; ".join(f"{self._code(model)} {self._label(each.judge)}" for model, each in contested.judges)
        danger = " (dangerous)" if contested.dangerous else ""
        head = f"{self._code(contested.id)}{danger}: people {self._label(first.human)}; {judges}"
        yield [f"<details><summary>{head}</summary>"]
        yield self._list(
            [
                f"people: {self._reason(first.human_reason)}",
                *(f"{self._code(model)}: {self._reason(each.judge_reason)}" for model, each in contested.judges),
            ]
        )
        yield [block(self._conversation(contested))]
        yield ["</details>"]

    def _conversation(self, contested: Contested) -> str:
        messages = contested.item.sample.messages if contested.item is not None else ()
        earlier = len(messages) - MOST_MESSAGES
        shown = [f"{cut(each['role'], 40)}: {cut(each['content'], LONGEST_TEXT)}" for each in messages[-MOST_MESSAGES:]]
        before = [f"… ({counted(earlier, 'earlier message')})"] if earlier > 0 else []
        return self._clean("\n\n".join([*before, *shown]))

    def _table(self, table: Overview, heading: str) -> Iterator[list[str]]:
        columns = table.columns
        rows = [[self._code(name), *cells] for name, cells in zip(table.names, _rows(table, self._said), strict=True)]
        aligned = ["---:" if column.right else "---" for column in columns]
        heads = [heading, *(self._said(column.heading) for column in columns)]
        yield [_row(heads), _row(["---", *aligned]), *map(_row, rows)]
        yield ["<br>".join(self._said(note) for note in table.notes)] if table.notes else []

    def _section(self, heading: str, items: Iterable[str]) -> Iterator[list[str]]:
        found = self._list(items)
        if found:
            yield [f"### {heading}"]
            yield found

    def _list(self, items: Iterable[str]) -> list[str]:
        return [f"- {item}" for item in items]

    def _said(self, text: str) -> str:
        return inline(self._clean(text))

    def _code(self, text: str) -> str:
        return code(self._clean(cut(text, 100)))

    def _label(self, value: float | str) -> str:
        return self._code(code_text(value))

    def _reason(self, reason: str | None) -> str:
        return self._said(cut(reason, LONGEST_REASON)) if reason else "<i>no reason given</i>"


def _rows(table: Overview, said: Callable[[str], str]) -> list[list[str]]:
    return [[said(column.cells[row]) for column in table.columns] for row in range(len(table.names))]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
