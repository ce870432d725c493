"""What is wrong with a file, and where: plain values that every room can make and the report can show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["NOWHERE", "Diagnostic", "Place", "Severity", "has_errors"]

Severity = Literal["error", "warning"]

# A source line is shown for orientation; a 100 MB line must not be kept for that.
_LONGEST_SOURCE_LINE = 400


@dataclass(frozen=True, slots=True)
class Place:
    """A spot in a file: line and column count from 1; `source` is the text of that line, if it may be shown."""

    line: int | None = None
    column: int | None = None
    source: str | None = None

    @staticmethod
    def at(text: str, offset: int, first_line: int = 1) -> Place:
        """The place of a character offset in a text whose first line is number `first_line`.

        >>> Place.at("a: 1\\nb: 2", 8)
        Place(line=2, column=4, source='b: 2')
        """
        start = text.rfind("\n", 0, offset) + 1
        return Place.in_line(text, first_line + text.count("\n", 0, offset), start, offset)

    @staticmethod
    def in_line(text: str, line: int, start: int, offset: int) -> Place:
        """The same for a line whose number and start are known already."""
        end = text.find("\n", offset)
        source = text[start : len(text) if end < 0 else end].rstrip("\r")
        return Place(line, offset - start + 1, source).shortened()

    def shortened(self) -> Place:
        """The same place, with its source line cut to a length that a person can read."""
        if self.source is None or len(self.source) <= _LONGEST_SOURCE_LINE:
            return self
        if (self.column or 0) > _LONGEST_SOURCE_LINE:
            return Place(self.line, self.column, None)
        return Place(self.line, self.column, self.source[:_LONGEST_SOURCE_LINE] + "…")


NOWHERE = Place()


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem of one file.

    `code` is stable and short (`unknown-key`), `path` is where in the data it is (`cases[3].role`),
    `case_id` names the case it belongs to, if it belongs to one.
    """

    severity: Severity
    code: str
    message: str
    file: str
    place: Place = NOWHERE
    hint: str | None = None
    path: str = ""
    case_id: str | None = None

    def __str__(self) -> str:
        where = self.file
        if self.place.line is not None:
            where += f":{self.place.line}"
            if self.place.column is not None:
                where += f":{self.place.column}"
        return f"{where}: {self.severity}: {self.message}"


def has_errors(diagnostics: list[Diagnostic]) -> bool:
    """Whether any of them is an error rather than a warning."""
    return any(diagnostic.severity == "error" for diagnostic in diagnostics)
