"""The table of an overview on a terminal. What does not fit beside the rest is returned, to be told below."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from .layout import middle_cut, padded, room

if TYPE_CHECKING:
    from .layout import Style
    from .overview import Overview, OverviewColumn

__all__ = ["FittedTable", "table_of"]

_GAP = "  "
_READABLE_NAME = 22
_SHORTEST_NAME = 6
_COLOURS = {"gating": "green", "trends": "yellow", "none": "red", "unknown": "cyan"}


class FittedTable(NamedTuple):
    """The lines of a table, and for each row what had no room in it, such as `bias +.03`."""

    lines: list[str]
    rest: list[list[str]]


def table_of(overview: Overview, heading: str, style: Style, width: int, clean: Callable[[str], str]) -> FittedTable:
    """The overview as a table of at most `width` columns, unless its last columns alone are wider."""
    names = [clean(name) for name in overview.names]
    columns = list(overview.columns)
    least = min(max(map(room, [heading, *names])), _READABLE_NAME)
    dropped: list[OverviewColumn] = []
    while _taken(columns, clean) + least > width and any(each.rank for each in columns):
        dropped.append(max(columns, key=lambda each: each.rank))
        columns.remove(dropped[-1])
    space = max(width - _taken(columns, clean), _SHORTEST_NAME)
    shown = [middle_cut(name, space) for name in names]
    lines = _lines([heading, *shown], columns, style, clean)
    in_order = [each for each in overview.columns if each in dropped]
    rest = [
        [f"{each.heading} {clean(each.cells[row])}" for each in in_order if each.cells[row]]
        for row in range(len(names))
    ]
    return FittedTable(lines, rest)


def _taken(columns: list[OverviewColumn], clean: Callable[[str], str]) -> int:
    return sum(_width(each, clean) + len(_GAP) for each in columns)


def _width(column: OverviewColumn, clean: Callable[[str], str]) -> int:
    return max(room(clean(cell)) for cell in (column.heading, *column.cells))


def _lines(names: list[str], columns: list[OverviewColumn], style: Style, clean: Callable[[str], str]) -> list[str]:
    first = max(map(room, names))
    rows = [[padded(name, first)] for name in names]
    for column in columns:
        width = _width(column, clean)
        cells = [padded(clean(cell), width, right=column.right) for cell in (column.heading, *column.cells)]
        uses = (None, *column.uses) if column.uses else (None,) * len(cells)
        for row, cell, use in zip(rows, cells, uses, strict=True):
            row.append(cell if use is None else style(cell, _COLOURS[use], bold=use == "gating"))
    heading, *others = [_GAP.join(row).rstrip() for row in rows]
    return [style(heading, None, bold=True), *others]
