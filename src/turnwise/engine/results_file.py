"""A file of results that another program may have written: JSON lines, of which the last may lack its line break."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..conversation.files import shown_file
from ..errors import RunError

__all__ = ["place_of_result", "read_results_file"]

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
