"""A file of results that another program may have written: JSON lines, of which the last may lack its line break."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from ..conversation.files import shown_file
from ..errors import RunError

__all__ = ["Repeats", "count_results", "is_journal", "place_of_result", "read_results_file", "repeated_results"]

_HINT = "a file of results has one JSON object a line, with case_id, target, trial and score"


def read_results_file(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of the file, in order; empty lines do not count. Raises `RunError`, with the line, for what is none.

    A journal of a run is read by `read_journal` instead: its last line is torn if it has no line break.
    """
    for number, line in _lines(path):
        yield _parsed(line, f"{shown_file(path)}:{number}")


def place_of_result(path: Path, count: int) -> str:
    """File and line of the result of that number, counted from 1: empty lines are lines, but no results."""
    for result, (number, _) in enumerate(_lines(path), start=1):
        if result == count:
            return f"{shown_file(path)}:{number}"
    return shown_file(path)


def is_journal(path: Path) -> bool:
    """Whether a run wrote the file, by its first line: then lines may be done again, and the last one may be torn."""
    for _, line in _lines(path):
        try:
            return _run_of(json.loads(line)) is not None
        except (ValueError, RecursionError, AttributeError):
            return False
    return False


def count_results(path: Path) -> int:
    """How many lines hold something."""
    return sum(1 for _ in _lines(path))


class Repeats(NamedTuple):
    """Lines for which there was an earlier one of the same piece of work; `first` is file and line of the first."""

    lines: int
    first: str


def repeated_results(path: Path) -> Repeats | None:
    """The lines that take the place of earlier ones; None if there are none.

    Those of the same run do not count: a run does results again on purpose.
    """
    runs: dict[bytes, str | None] = {}
    count, first = 0, ""
    for number, line in _lines(path):
        record = _parsed(line, f"{shown_file(path)}:{number}")
        key, run = _digest(record), _run_of(record)
        if key in runs and (run is None or run != runs[key]):
            count, first = count + 1, first or f"{shown_file(path)}:{number}"
        runs[key] = run
    return Repeats(count, first) if count else None


def _run_of(record: Mapping[str, Any]) -> str | None:
    """The run whose journal the line is from, if a run wrote it."""
    run_id = record.get("run_id")
    return run_id if isinstance(run_id, str) and "schema_version" in record else None


def _digest(record: Mapping[str, Any]) -> bytes:
    key = [record.get(name) for name in ("suite", "case_id", "target", "variant", "trial")]
    return blake2b(repr(key).encode("utf-8", "backslashreplace"), digest_size=16).digest()


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line
    except OSError as error:
        raise RunError(f"{shown_file(path)} cannot be read: {error.strerror or error}", _HINT) from error


def _parsed(line: bytes, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = "not UTF-8" if isinstance(error, UnicodeDecodeError) else f"not JSON: {error}"
        raise RunError(f"{where}: {reason}", _HINT) from error
    if not isinstance(record, dict):
        raise RunError(f"{where}: a result is a JSON object; found {type(record).__name__}", _HINT)
    return record
