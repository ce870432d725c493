"""How far the judge is off, to which side, and how often."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .figures import code_text, counted
from .markup import Html, tag
from .plot import BOTTOM, HEIGHT, LEFT, TOP, WIDTH, Pair, axis_name, figure, round_step

__all__ = ["Column", "columns_of", "deviation_histogram"]

_MOST_COLUMNS = 21
_MOST_NAMES = 9
_ROOM_FOR_COUNTS = 13
_FLOOR = HEIGHT - BOTTOM


@dataclass(frozen=True, slots=True)
class Column:
    """All deviations around `middle`; `step` says how many columns it is away from 0."""

    step: int
    middle: float
    count: int

    @property
    def name(self) -> str:
        """The deviation with its sign."""
        return ("+" if self.middle > 0 else "") + code_text(self.middle)

    @property
    def side(self) -> str:
        """Whether the judge is stricter, the same or kinder here."""
        return "zero" if self.step == 0 else "above" if self.step > 0 else "below"


def columns_of(deviations: Sequence[float]) -> list[Column]:
    """One column for each whole difference where these are few, else columns of one round width around 0.

    >>> [(column.name, column.count) for column in columns_of([-1, 0, 0, 1])]
    [('−1', 1), ('0', 2), ('+1', 1)]
    """
    reach = max((abs(each) for each in deviations), default=0.0)
    is_whole = all(float(each).is_integer() for each in deviations)
    if reach == 0 or (is_whole and 2 * reach + 1 <= _MOST_COLUMNS):
        width = 1.0
    else:
        width = round_step(2 * reach / (_MOST_COLUMNS - 1))
    counts = Counter(_nearest(each / width) for each in deviations)
    if not counts:
        return []
    return [Column(step, step * width, counts[step]) for step in range(min(*counts, 0), max(*counts, 0) + 1)]


def _nearest(number: float) -> int:
    """Rounded with halves away from 0, so that both sides are treated alike."""
    return math.floor(number + 0.5) if number > 0 else math.ceil(number - 0.5)


def deviation_histogram(pairs: Sequence[Pair]) -> Html:
    """The drawing; nothing without pairs."""
    columns = columns_of([judge - human for human, judge in pairs])
    if not columns:
        return Html("")
    most = max(column.count for column in columns)
    drawn = [_drawn(column, place, columns, most) for place, column in enumerate(columns)]
    floor = tag("line", x1=LEFT, x2=WIDTH, y1=_FLOOR, y2=_FLOOR, class_="axis")
    title = f"Deviations of the judge from people, {counted(len(pairs), 'pair')}"
    caption = "Deviation: below 0 the judge is stricter, above 0 kinder"
    return figure(title, [*drawn, floor, axis_name("judge − people")], caption)


def _drawn(column: Column, place: int, columns: Sequence[Column], most: int) -> Html:
    room = (WIDTH - LEFT) / len(columns)
    height = (_FLOOR - TOP) * column.count / most
    x, y = round(LEFT + (place + 0.1) * room, 1), round(_FLOOR - height, 1)
    centre = round(LEFT + (place + 0.5) * room, 1)
    size = {"width": round(room * 0.8, 1), "height": round(height, 1)}
    every = math.ceil(len(columns) / _MOST_NAMES)
    counts = column.count and len(columns) <= _ROOM_FOR_COUNTS
    return tag(
        "g",
        tag("title", f"{column.name}: {counted(column.count, 'time')}"),
        tag("rect", x=x, y=y, **size, class_=f"column {column.side}"),
        tag("text", f"{column.count:,}", x=centre, y=y - 3, class_="from-middle") if counts else None,
        tag("text", column.name, x=centre, y=_FLOOR + 14, class_="from-middle") if column.step % every == 0 else None,
    )
