"""A label into a JSONL, JSON or CSV text of samples: only the lines of that sample change, where lines are samples."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .sample import HumanLabel, Sample
from .sample_csv_text import csv_row
from .sample_record import label_record
from .text_edits import line_end_of

__all__ = ["csv_proposals", "json_proposals", "jsonl_proposals"]


def jsonl_proposals(text: str, sample: Sample, label: HumanLabel) -> Iterator[str]:
    """The text with the label in the sample's line; all other lines stay as they are."""
    lines = text.split("\n")
    number = (sample.place.line or 1) - 1
    written = lines[number].rstrip("\r")
    record = _with_label(json.loads(written), sample, label)
    lines[number] = json.dumps(record, ensure_ascii=False) + lines[number][len(written) :]
    yield "\n".join(lines)


def json_proposals(text: str, sample: Sample, label: HumanLabel) -> Iterator[str]:
    """The whole text anew, since JSON has no comments to lose; it stays on one line if it was on one."""
    try:
        data = json.loads(text)
    except ValueError:  # YAML in a file that is named .json
        return
    holder: Any = data
    for step in sample.path[:-1]:
        holder = holder[step]
    holder[sample.path[-1]] = _with_label(holder[sample.path[-1]], sample, label)
    yield json.dumps(data, ensure_ascii=False, indent=2 if "\n" in text.strip() else None) + "\n"


def _with_label(record: dict[str, Any], sample: Sample, label: HumanLabel) -> dict[str, Any]:
    if label.rater is None:
        record.pop("score", None)
        record["expected"] = label_record(label)
        return record
    raters = [each.rater for each in sample.labels]
    labels = record["labels"] = list(record.get("labels") or [])
    if label.rater in raters:
        labels[raters.index(label.rater)] = label_record(label)
    else:
        labels.append(label_record(label))
    return record


def csv_proposals(text: str, sample: Sample, label: HumanLabel) -> Iterator[str]:
    """The text with the label in the rater's line of the sample, or in a line of its own.

    All other lines stay as they are, unless the file lacks a column.
    """
    table = _Table(text)
    cells = label_record(label)
    table.need(["id", *cells] if label.rater is not None else list(cells))
    row = table.row_of(sample, label.rater)
    if row is None:
        row = table.new_row(sample)
    # The other kind of value, and the old reason, go.
    table.fill(row, {name: str(cells.get(name, "")) for name in ("score", "label", "reason", "rater")})
    yield table.text()


class _Table:
    """The rows of a CSV text, each with the text that it was written as, until it is changed."""

    def __init__(self, text: str) -> None:
        import csv

        self.line_end = line_end_of(text)
        lines = [*_lines(text)]
        reader = csv.reader(iter(lines), strict=True)
        self.rows: list[list[str]] = []
        self.written: list[str | None] = []
        self.starts: list[int] = []
        done = 0
        for cells in reader:
            self.rows.append(cells)
            self.written.append("".join(lines[done : reader.line_num]))
            self.starts.append(done + 1)
            done = reader.line_num
        self.header = next(index for index, cells in enumerate(self.rows) if cells)
        self.columns = [name.strip() for name in self.rows[self.header]]

    def need(self, names: list[str]) -> None:
        """Add the columns that are not there: then all lines change."""
        missing = [name for name in names if name not in self.columns]
        if missing:
            self.columns += missing
            self.written = [None if cells else written for cells, written in zip(self.rows, self.written, strict=True)]
            for cells in self.rows:
                if cells:
                    cells += missing if cells is self.rows[self.header] else [""] * len(missing)

    def cell(self, row: int, name: str) -> str:
        return self.rows[row][self.columns.index(name)] if name in self.columns else ""

    def row_of(self, sample: Sample, rater: str | None) -> int | None:
        """The row that has, or can take, the rater's label."""
        own = self._rows_of(sample)
        found = next((row for row in own if self.cell(row, "rater") == (rater or "")), None)
        free = [row for row in own if not any(self.cell(row, name) for name in ("score", "label", "reason", "rater"))]
        return found if found is not None else next(iter(free), None)

    def new_row(self, sample: Sample) -> int:
        """A row below those of the sample, which is named by its id: so must the first one be."""
        own = self._rows_of(sample)
        if "id" in self.columns:
            self.fill(own[0], {"id": sample.id})
        at = own[-1] + 1
        if self.written[own[-1]] is not None and not (self.written[own[-1]] or "").endswith("\n"):
            self.written[own[-1]] = None
        self.rows.insert(at, [""] * len(self.columns))
        self.written.insert(at, None)
        self.fill(at, {"id": sample.id})
        return at

    def fill(self, row: int, cells: dict[str, str]) -> None:
        for name, cell in cells.items():
            if name in self.columns and self.cell(row, name) != cell:
                self.rows[row][self.columns.index(name)] = cell
                self.written[row] = None

    def text(self) -> str:
        return "".join(
            csv_row(cells).removesuffix("\r\n") + self.line_end if written is None else written
            for cells, written in zip(self.rows, self.written, strict=True)
        )

    def _rows_of(self, sample: Sample) -> list[int]:
        """The rows of a sample, by its id; one without has the row where it starts."""
        named = [row for row in range(self.header + 1, len(self.rows)) if self.rows[row]]
        own = [row for row in named if self.cell(row, "id") == sample.id]
        return own or [row for row in named if self.starts[row] == sample.place.line]


def _lines(text: str) -> Iterator[str]:
    """Lines as the reader of datasets has them: only `\\n` ends one."""
    *whole, last = text.split("\n")
    yield from (f"{line}\n" for line in whole)
    if last:
        yield last
