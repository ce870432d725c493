"""Tables of plain text: columns that say nothing are left out, long names are shortened in the middle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .terminal import Style, one_line, plain

__all__ = ["NONE", "WIDTH", "Column", "duration", "middle_cut", "number", "share", "table", "table_width"]

NONE = "—"
WIDTH = 100
_GAP = "  "
_READABLE_NAME = 24
_SHORTEST_NAME = 12


@dataclass(frozen=True, slots=True)
class Column:
    """A heading and a cell for each row. Only the cells of a `name` may be shortened."""

    heading: str
    cells: tuple[str, ...]
    right: bool = True
    name: bool = False


def table(columns: Sequence[Column], style: Style = plain, width: int = WIDTH) -> list[str]:
    """The lines of a table, its headings first; as wide as `width`, unless its numbers alone are wider."""
    fitted = _fitted([replace(each, cells=tuple(map(one_line, each.cells))) for each in columns], width)
    padded = [_padded(column) for column in fitted]
    heading, *rows = [_GAP.join(cells).rstrip() for cells in zip(*padded, strict=True)]
    return [style(heading, None, bold=True), *rows]


def table_width(columns: Sequence[Column]) -> int:
    """The least width of the table with names that can still be read."""
    least = (min(_width(each), _READABLE_NAME) if each.name else _width(each) for each in columns)
    return sum(least) + len(_GAP) * (len(columns) - 1)


def _fitted(columns: list[Column], width: int) -> list[Column]:
    """The widest names are cut first, and no more than needed."""
    over = sum(map(_width, columns)) + len(_GAP) * (len(columns) - 1) - width
    while over > 0:
        widest = max((each for each in columns if each.name), key=_width, default=None)
        if widest is None or _width(widest) <= _SHORTEST_NAME:
            break
        length = _width(widest) - 1
        cut = replace(widest, cells=tuple(middle_cut(cell, length) for cell in widest.cells))
        columns[columns.index(widest)] = cut
        over -= 1
    return columns


def _padded(column: Column) -> list[str]:
    width = _width(column)
    return [cell.rjust(width) if column.right else cell.ljust(width) for cell in (column.heading, *column.cells)]


def _width(column: Column) -> int:
    return max(map(len, (column.heading, *column.cells)))


def middle_cut(text: str, length: int) -> str:
    """The text in at most `length` characters: both ends are kept, the end a little more.

    >>> middle_cut("evals/support/refunds.yaml", 15)
    'evals/…nds.yaml'
    """
    if len(text) <= length:
        return text
    front = (length - 1) * 3 // 7
    return f"{text[:front]}…{text[len(text) - (length - 1 - front) :]}"


def share(value: float) -> str:
    """A number from 0 to 1 in two decimals, or more where two would make it a 0 or 1 that it is not.

    >>> share(0.8249), share(0.9996), share(1.0)
    ('0.82', '0.9996', '1.00')
    """
    for digits in range(2, 7):
        shown = f"{value:.{digits}f}"
        if float(shown) not in (0.0, 1.0) or value in (0.0, 1.0):
            return shown
    return f"{value:.2f}"


def duration(milliseconds: float) -> str:
    """A time in three digits.

    >>> duration(84.2), duration(1234.5), duration(65_000)
    ('84 ms', '1.23 s', '65.0 s')
    """
    if milliseconds < 999.5:
        return f"{milliseconds:.0f} ms" if milliseconds >= 9.95 else f"{milliseconds:.1f} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s" if seconds < 99.95 else f"{seconds:,.0f} s"


def number(count: int) -> str:
    """A count in few characters.

    >>> number(9999), number(12_345), number(4_560_000)
    ('9,999', '12.3k', '4.6M')
    """
    if count < 10_000:
        return f"{count:,}"
    return f"{count / 1e3:.1f}k" if count < 999_950 else f"{count / 1e6:,.1f}M"
