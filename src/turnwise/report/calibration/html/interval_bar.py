"""A figure and its interval on an axis that all rows share, with the bars for use and the ceiling marked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .figures import figure_text, interval_text
from .markup import Html, joined, tag

if TYPE_CHECKING:
    from ....stats.statistic import Statistic

__all__ = ["GATING", "TRENDS", "Axis", "common_axis", "interval_bar", "scale_bar"]

TRENDS, GATING = 0.4, 0.6
"""The lower bounds from which a judge is good for trends, and for gating, unless the deck says otherwise."""

_WIDTH, _HEIGHT, _EDGE = 170, 26, 5
_ROOM = 30
"""So much a number takes."""
_BEYOND_CHANCE = {"kappa", "kappa_linear", "kappa_quadratic", "lin_ccc"}


@dataclass(frozen=True, slots=True)
class Axis:
    """From `lo` to `hi`; `marks` are the bars for use, `ceiling` is how far people agree."""

    name: str
    lo: float
    hi: float
    marks: tuple[float, ...]
    ceiling: float | None

    def x(self, value: float) -> float:
        """Where a value lies, in units of the drawing; what lies outside is drawn at the edge."""
        share = (min(max(value, self.lo), self.hi) - self.lo) / (self.hi - self.lo)
        return round(_EDGE + share * (_WIDTH - 2 * _EDGE), 1)


def common_axis(name: str, statistics: Iterable[Statistic | None], ceiling: float | None) -> Axis:
    """One axis for all rows: from 0 to 1, and as far below 0 as an interval reaches."""
    ends = [end for each in statistics if each is not None for end in (each.lo, each.value) if end is not None]
    lowest = min([0.0, *(end for end in ends if math.isfinite(end))])
    marks = (TRENDS, GATING) if name in _BEYOND_CHANCE else ()
    return Axis(name, max(-1.0, math.floor(lowest * 5) / 5), 1.0, marks, ceiling)


def interval_bar(statistic: Statistic | None, axis: Axis) -> Html:
    """The drawing of one row; empty where there is nothing to draw."""
    if statistic is None or statistic.value is None:
        return Html("")
    value, middle = axis.x(statistic.value), _HEIGHT / 2
    spoken = f"{figure_text(axis.name, statistic.value)} ({interval_text(axis.name, statistic.lo, statistic.hi)})"
    parts = [tag("title", spoken), *_marks(axis)]
    if statistic.lo is not None and statistic.hi is not None:
        lo, hi = axis.x(statistic.lo), axis.x(statistic.hi)
        parts.append(tag("line", x1=lo, x2=hi, y1=middle, y2=middle, class_="span"))
        parts += [tag("line", x1=end, x2=end, y1=middle - 4, y2=middle + 4, class_="span-end") for end in (lo, hi)]
    parts.append(tag("circle", cx=value, cy=middle, r=4, class_="point"))
    return _drawing(parts, _HEIGHT)


def scale_bar(axis: Axis) -> Html:
    """The axis itself, with its numbers."""
    ticks = {axis.lo, *axis.marks, axis.hi}
    if axis.x(0.0) - axis.x(axis.lo) > _ROOM:
        ticks.add(0.0)
    numbers = [
        tag("text", f"{tick:g}".replace("0.", ".").replace("-", "−"), x=axis.x(tick), y=10, class_=_anchor(axis, tick))
        for tick in sorted(ticks)
    ]
    return _drawing([tag("title", "the axis of the bars below"), *numbers], 14)


def _anchor(axis: Axis, tick: float) -> str:
    return "from-start" if tick == axis.lo else "from-end" if tick == axis.hi else "from-middle"


def _marks(axis: Axis) -> list[Html]:
    lines = [tag("line", x1=axis.x(axis.lo), x2=axis.x(axis.hi), y1=_HEIGHT / 2, y2=_HEIGHT / 2, class_="rail")]
    at = [axis.x(mark) for mark in axis.marks]
    lines += [tag("line", x1=x, x2=x, y1=1, y2=_HEIGHT - 1, class_="mark") for x in at]
    if axis.ceiling is not None:
        x = axis.x(axis.ceiling)
        lines.append(tag("line", x1=x, x2=x, y1=1, y2=_HEIGHT - 1, class_="ceiling"))
        lines.append(tag("path", d=f"M{x - 3.5:g} 0h7l-3.5 5z", class_="ceiling-tip"))
    return lines


def _drawing(parts: list[Html], height: int) -> Html:
    box = f"0 0 {_WIDTH} {height}"
    return tag("svg", joined(parts), viewBox=box, width=_WIDTH, height=height, role="img", class_="bar")
