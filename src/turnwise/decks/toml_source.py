"""TOML in, plain values out, and the line and column of everything in it: the standard library gives no places."""

from __future__ import annotations

import datetime
import re
import tomllib
from bisect import bisect_right
from functools import cached_property
from typing import Any

from ..diagnostics import Diagnostic, Place
from ..errors import InputError
from ..suite.paths import DataPath
from .toml_scan import scan_toml

__all__ = ["TomlSource", "read_toml"]

_MAX_DEPTH = 100
_POSITION = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$")
_ENDLESS_NUMBER = re.compile(r"[\d_]{4000,}")


class TomlSource:
    """A TOML text; `first_line` is the number of its first line in the file, for front matter."""

    def __init__(self, file: str, text: str, first_line: int = 1) -> None:
        self.file = file
        self.text = text
        self.first_line = first_line

    def place(self, path: DataPath, key: bool = False) -> Place:
        """The place of the value at `path`, or of its key; the nearest thing above it if it is not there.

        >>> source = TomlSource("a.toml", "[[samples]]\\nid = 'x'\\n[[samples]]\\nid = 'y'")
        >>> source.place(("samples", 1, "id"))
        Place(line=4, column=6, source="id = 'y'")
        """
        for length in range(len(path), 0, -1):
            found = self._places.get(path[:length])
            if found is not None:
                return self.at(found[0] if key and length == len(path) else found[1])
        return self.at(0)

    def at(self, offset: int) -> Place:
        """The place of a character offset."""
        line = bisect_right(self._line_starts, offset) - 1
        start = self._line_starts[line]
        end = self.text.find("\n", start)
        shown = self.text[start : len(self.text) if end < 0 else end].rstrip("\r")
        return Place(self.first_line + line, offset - start + 1, shown).shortened()

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    @cached_property
    def _places(self) -> dict[DataPath, tuple[int, int]]:
        return scan_toml(self.text)


def read_toml(text: str, file: str, first_line: int = 1) -> tuple[dict[str, Any], TomlSource]:
    """The value of a TOML text, and where everything in it is. Raises `InputError`.

    Dates and times become text, as in YAML files: every value here may end up in JSON.

    >>> read_toml("on = 2024-05-01", "a.toml")[0]
    {'on': '2024-05-01'}
    """
    source = TomlSource(file, text, first_line)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError([_syntax_error(str(error), source)]) from None
    except RecursionError:
        raise InputError([_too_deep(source, 0)]) from None
    except ValueError as error:
        # Python refuses to read an integer of thousands of digits.
        match = _ENDLESS_NUMBER.search(text)
        place = source.at(match.start() if match else 0)
        raise InputError([Diagnostic("error", "bad-number", f"not a TOML number: {error}", file, place)]) from None
    _plain(data, source)
    return data, source


def _syntax_error(text: str, source: TomlSource) -> Diagnostic:
    match = _POSITION.search(text)
    reason = text[: match.start()] if match else text
    # The parser sees "\n" line ends, we may have "\r\n": lines agree, offsets do not.
    lines = source.text.split("\n")
    line = min(int(match[1]), len(lines)) if match and match[1] else len(lines)
    shown = lines[line - 1].rstrip("\r")
    column = int(match[2]) if match and match[2] else len(shown) + 1
    place = Place(line + source.first_line - 1, column, shown).shortened()
    message = f"not valid TOML: {reason[:1].lower()}{reason[1:]}"
    return Diagnostic("error", "bad-toml", message, source.file, place)


def _too_deep(source: TomlSource, offset: int) -> Diagnostic:
    return Diagnostic("error", "too-deep", "nested too deeply", source.file, source.at(offset), "flatten it")


def _plain(data: dict[str, Any], source: TomlSource) -> None:
    """Turn dates into text, in place, and refuse what later readers could not walk through."""
    waiting: list[tuple[Any, int]] = [(data, 0)]
    while waiting:
        container, depth = waiting.pop()
        if depth > _MAX_DEPTH:
            raise InputError([_too_deep(source, 0)])
        items = container.items() if isinstance(container, dict) else enumerate(container)
        for step, value in list(items):
            if isinstance(value, dict | list):
                waiting.append((value, depth + 1))
            elif isinstance(value, datetime.date | datetime.time):
                container[step] = value.isoformat()
