"""Datasets: one case a line (JSONL) or a row (CSV), streamed, so that memory does not grow with the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..diagnostics import Diagnostic, Place
from ..errors import SuiteError
from .json_reader import read_json
from .sources import JsonSource, LineSource, Source
from .text_problem import TextProblem

__all__ = ["MAX_LINE_BYTES", "Row", "read_rows"]

MAX_LINE_BYTES = 10 * 1024 * 1024


class Row(NamedTuple):
    """One case as it stands in a dataset, or the reason why it cannot be read."""

    value: Any
    source: Source
    problem: Diagnostic | None = None


class _Line(NamedTuple):
    number: int
    text: str
    problem: Diagnostic | None = None


def read_rows(path: Path, file: str) -> Iterator[Row]:
    """Every row of a dataset, in order. Raises `SuiteError` if the file cannot be opened."""
    return _csv_rows(path, file) if path.suffix.lower() == ".csv" else _jsonl_rows(path, file)


def _jsonl_rows(path: Path, file: str) -> Iterator[Row]:
    for number, text, problem in _lines(path, file):
        source = JsonSource(file, text, number)
        if problem is not None:
            yield Row(None, source, problem)
        elif text and not text.isspace():
            try:
                yield Row(read_json(text), source)
            except TextProblem as bad:
                place = source.at(bad.offset)
                yield Row(None, source, Diagnostic("error", bad.code, bad.message, file, place, bad.hint))


def _csv_rows(path: Path, file: str) -> Iterator[Row]:
    """The columns of a row are its `vars`; the column `id`, if there is one, names the case."""
    import csv

    csv.field_size_limit(MAX_LINE_BYTES)
    lines = _CsvLines(path, file)
    reader = csv.reader(lines, strict=True)
    header: list[str] | None = None
    count = 0
    while True:
        start = lines.number + 1
        lines.first = None
        try:
            row = next(reader, None)
        except csv.Error as error:
            row = None
            hint = "a quote that opens a cell must be closed; double the quotes inside it"
            problem = Diagnostic("error", "bad-csv", f"not valid CSV: {error}", file, Place(start, 1), hint)
            if lines.problem is None:
                yield Row(None, LineSource(file, start), problem)
        if lines.problem is not None:
            yield Row(None, LineSource(file, start), lines.problem)
        if row is None or lines.problem is not None:
            return
        if not row:
            continue
        source = LineSource(file, start, lines.first)
        if header is None:
            header = [name.strip() for name in row]
            fault = _header_fault(header)
        else:
            count += 1
            fault = None
            if len(row) != len(header):
                fault = f"the row has {len(row)} cells, the header has {len(header)}"
        if fault is not None:
            problem = Diagnostic("error", "bad-csv", fault, file, source.place(()), "quote a cell that holds commas")
            yield Row(None, source, problem)
            if count == 0:
                return
        elif count:
            values = dict(zip(header, row, strict=True))
            yield Row({"id": values.get("id") or f"row-{count}", "vars": values}, source)


def _header_fault(header: list[str]) -> str | None:
    if not all(header):
        return "a column of the header has no name"
    twice = next((name for name in header if header.count(name) > 1), None)
    return f"the column {twice!r} appears twice in the header" if twice else None


class _CsvLines:
    """Feeds the CSV reader and remembers where it is; stops at the first line that is not text."""

    def __init__(self, path: Path, file: str) -> None:
        self._lines = _lines(path, file, keep_ends=True)
        self.number = 0
        self.first: str | None = None  # the line that began the row, for people to see
        self.problem: Diagnostic | None = None

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self.problem is not None:
            raise StopIteration
        self.number, text, self.problem = next(self._lines)
        if self.first is None:
            self.first = text.rstrip("\r\n")
        if self.problem is not None:
            raise StopIteration
        return text


def _lines(path: Path, file: str, keep_ends: bool = False) -> Iterator[_Line]:
    """The lines of a file, each bounded; a line that is not usable comes with its problem, the rest go on."""
    try:
        stream = open(path, "rb")  # noqa: SIM115  (closed below, whatever the reader does)
    except OSError as error:
        raise SuiteError(
            [
                Diagnostic(
                    "error",
                    "file-unreadable",
                    f"the dataset cannot be read: {error.strerror}",
                    file,
                    hint="check the path",
                )
            ]
        ) from error
    with stream:
        number = 0
        while data := stream.readline(MAX_LINE_BYTES + 1):
            number += 1
            if len(data) > MAX_LINE_BYTES and not data.endswith(b"\n"):
                while (rest := stream.readline(MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
                    pass
                yield _bad_line(number, 1, file, "line-too-long", f"the line is longer than {MAX_LINE_BYTES:,} bytes")
                continue
            if number == 1:
                data = data.removeprefix(b"\xef\xbb\xbf")
            if b"\0" in data:
                column = len(data[: data.index(b"\0")].decode("utf-8", "replace")) + 1
                yield _bad_line(number, column, file, "nul-byte", "the line holds a NUL byte")
                continue
            try:
                text = data.decode("utf-8")
            except UnicodeDecodeError as error:
                column = len(data[: error.start].decode("utf-8", "replace")) + 1
                yield _bad_line(number, column, file, "not-utf8", f"not UTF-8 text: byte 0x{data[error.start]:02x}")
                continue
            yield _Line(number, text if keep_ends else text.rstrip("\r\n"))


def _bad_line(number: int, column: int, file: str, code: str, message: str) -> _Line:
    hint = "one case a line, in UTF-8; put long texts into files and refer to them"
    return _Line(number, "", Diagnostic("error", code, message, file, Place(number, column), hint))
