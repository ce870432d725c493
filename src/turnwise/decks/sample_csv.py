"""Samples in CSV, as spreadsheets hold them: a line is a sample, or one person's label of a sample."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..diagnostics import Diagnostic, Place
from ..suite.datasets import Row, read_rows
from ..suite.explain import did_you_mean
from ..suite.json_reader import read_json
from ..suite.paths import DataPath
from ..suite.text_problem import TextProblem

__all__ = ["CSV_COLUMNS", "CsvRead", "CsvSample", "CsvSource", "read_csv_samples"]

CSV_COLUMNS = (
    *("id", "messages", "conversation", "user", "assistant", "score", "label", "reason", "rater"),
    *("cluster", "tags", "name", "description", "metadata"),
)
_LABEL = ("score", "label", "reason", "rater")


class CsvSource:
    """The lines of one sample: those of the labels of several people differ."""

    def __init__(self, file: str, first: Place) -> None:
        self.file = file
        self.first = first
        self.expected = first
        self.labels: list[Place] = []

    def place(self, path: DataPath, key: bool = False) -> Place:  # noqa: ARG002  (a line has no finer places)
        """The line of what is at `path`."""
        if len(path) > 1 and path[0] == "labels" and isinstance(path[1], int) and path[1] < len(self.labels):
            return self.labels[path[1]]
        return self.expected if path[:1] in (("expected",), ("score",)) else self.first


class CsvSample(NamedTuple):
    """A sample as the other forms would have it, and the number of its first row, counted from 0."""

    value: dict[str, Any]
    source: CsvSource
    number: int


class CsvRead(NamedTuple):
    """The samples of a file, what is wrong with its rows, and how many rows cannot be read."""

    samples: list[CsvSample]
    problems: list[Diagnostic]
    bad_rows: int


@dataclass
class _Cells:
    """One row: what it says of the sample, and what it says of its label."""

    sample: dict[str, Any] = field(default_factory=dict)
    label: dict[str, str] = field(default_factory=dict)


def read_csv_samples(path: Path, file: str) -> CsvRead:
    """The samples of a CSV file. Rows with the same `id` and different `rater`s are labels of one sample."""
    return _Grouping(file).read(read_rows(path, file))


class _Grouping:
    def __init__(self, file: str) -> None:
        self.file = file
        self.samples: dict[str | int, CsvSample] = {}
        self.raters: dict[tuple[str | int, str | None], int | None] = {}
        self.problems: list[Diagnostic] = []
        self.bad_rows = 0
        self.is_known = False

    def read(self, rows: Iterable[Row]) -> CsvRead:
        for index, row in enumerate(rows):
            place = row.source.place(())
            if row.problem is not None:
                self.bad_rows += 1
                self.problems.append(row.problem)
                continue
            cells = {name: cell for name, cell in row.value["vars"].items() if cell != ""}
            if not self.is_known and not self._knows(row.value["vars"]):
                break
            if cells:  # spreadsheets end files with rows of commas
                self._add(cells, place, index)
        return CsvRead(list(self.samples.values()), self.problems, self.bad_rows)

    def _say(self, code: str, message: str, place: Place, hint: str | None, sample_id: str | None = None) -> None:
        self.problems.append(Diagnostic("error", code, message, self.file, place, hint, "", sample_id))

    def _knows(self, columns: Iterable[str]) -> bool:
        unknown = [name for name in columns if name not in CSV_COLUMNS]
        for name in unknown:
            hint = did_you_mean(name, list(CSV_COLUMNS), "the columns are")
            self._say("unknown-key", f"unknown column `{name}`", Place(1, 1), hint)
        self.is_known = not unknown
        return self.is_known

    def _add(self, cells: dict[str, str], place: Place, index: int) -> None:
        try:
            row = _row(cells)
        except TextProblem as bad:
            self.bad_rows += 1
            self._say(bad.code, bad.message, place, bad.hint, cells.get("id"))
            return
        key: str | int = cells.get("id") or index
        known = self.samples.get(key)
        if known is None:
            known = self.samples[key] = CsvSample(row.sample, CsvSource(self.file, place), index)
        elif not self._is_more_of(known, row, place, str(key)):
            return
        if self._is_new_rater(key, row.label.get("rater"), place):
            _add_label(known, row.label, place)

    def _is_more_of(self, known: CsvSample, row: _Cells, place: Place, sample_id: str) -> bool:
        differs = [name for name, value in row.sample.items() if known.value.get(name) != value]
        if differs:
            first = known.source.first.line
            message = f"the sample id {sample_id!r} is used twice with different {differs[0]}, first in line {first}"
            hint = f"rename one of them; for another rater's label, leave `{differs[0]}` blank"
            self._say("duplicate-id", message, place, hint, sample_id)
        return not differs

    def _is_new_rater(self, key: str | int, rater: str | None, place: Place) -> bool:
        if (key, rater) not in self.raters:
            self.raters[key, rater] = place.line
            return True
        first = self.raters[key, rater]
        if rater is None:
            message = f"the sample id {key!r} is used twice, first in line {first}"
            hint = "rename one of them; for labels of several people, name the `rater` in each line"
        else:
            message = f"{rater!r} labels the sample {key!r} twice, first in line {first}"
            hint = "remove one of the lines"
        self._say("duplicate-id", message, place, hint, str(key))
        return False


def _add_label(sample: CsvSample, label: dict[str, str], place: Place) -> None:
    if "rater" not in label:
        if label:
            sample.value["expected"] = label
            sample.source.expected = place
    elif len(label) > 1:  # a rater without a label has not labelled it yet
        sample.value.setdefault("labels", []).append(label)
        sample.source.labels.append(place)


def _row(cells: dict[str, str]) -> _Cells:
    """What the cells of one row say. Raises `TextProblem`."""
    row = _Cells(label={name: cells[name] for name in _LABEL if name in cells})
    row.sample.update({name: cells[name] for name in ("id", "cluster", "name", "description") if name in cells})
    messages = _messages(cells)
    if messages is not None:
        row.sample["messages"] = messages
    if "tags" in cells:
        row.sample["tags"] = _tags(cells["tags"])
    if "metadata" in cells:
        row.sample["metadata"] = _json(cells, "metadata")
    return row


def _messages(cells: dict[str, str]) -> Any:
    given = [name for name in ("messages", "conversation") if name in cells]
    turns = [{"role": role, "content": cells[role]} for role in ("user", "assistant") if role in cells]
    if len(given) + bool(turns) > 1:
        names = ", ".join([*given, *(turn["role"] for turn in turns)])
        raise TextProblem("bad-csv", f"the conversation is given more than once: {names}", "fill in one of them", 0)
    return _json(cells, given[0]) if given else turns or None


def _tags(cell: str) -> Any:
    """Tags with a `;` between them, or `|`; a JSON array for those that hold such characters.

    >>> _tags("math; hard"), _tags('["a;b"]')
    (['math', 'hard'], ['a;b'])
    """
    if cell.lstrip().startswith("["):
        return _json({"tags": cell}, "tags")
    return [tag for part in cell.replace("|", ";").split(";") if (tag := part.strip())]


def _json(cells: dict[str, str], name: str) -> Any:
    try:
        return read_json(cells[name])
    except TextProblem as bad:
        raise TextProblem(bad.code, f"the cell `{name}`: {bad.message}", bad.hint, 0) from None
