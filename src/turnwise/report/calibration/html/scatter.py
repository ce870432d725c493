"""Score by score: what the judge said against what people said."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .figures import code_text, counted
from .markup import Html, tag
from .plot import BOTTOM, HEIGHT, LEFT, TOP, WIDTH, Pair, axis_name, figure, round_step

__all__ = ["score_scatter"]

_FEW_SCORES = 12
_GRID = 40
_MARGIN = 14


@dataclass(frozen=True, slots=True)
class _Square:
    """Both axes: the same scores from `lo` to `hi`."""

    lo: float
    hi: float

    def x(self, score: float) -> float:
        return round(LEFT + _MARGIN + self._share(score) * (WIDTH - LEFT - 2 * _MARGIN), 1)

    def y(self, score: float) -> float:
        return round(HEIGHT - BOTTOM - _MARGIN - self._share(score) * (HEIGHT - BOTTOM - TOP - 2 * _MARGIN), 1)

    def _share(self, score: float) -> float:
        return (score - self.lo) / (self.hi - self.lo)


def score_scatter(pairs: Sequence[Pair]) -> Html:
    """Each dot is as large as the number of pairs that it stands for. Many scores are put on a fine grid."""
    if not pairs:
        return Html("")
    scores = sorted({score for pair in pairs for score in pair})
    # A single score needs room around it, as much as floats of its size can tell apart.
    around = max(0.5, abs(scores[0]) / 2) if len(scores) == 1 else 0.0
    square = _Square(scores[0] - around, scores[-1] + around)
    is_coarse = len(scores) <= _FEW_SCORES
    dots = Counter(pairs if is_coarse else (_on_grid(pair, square) for pair in pairs))
    parts = [_identity(square), *_dots(dots, square, largest=11 if is_coarse else 5)]
    parts += _ticks(scores if is_coarse else _round_scores(square), square)
    title = f"Scores of the judge against those of people, {counted(len(pairs), 'pair')}"
    name = tag("text", "judge", x=LEFT - 30, y=TOP - 3, class_="from-start")
    return figure(title, [*parts, axis_name("people"), name], "Score by score: on the line both say the same")


def _on_grid(pair: Pair, square: _Square) -> Pair:
    step = (square.hi - square.lo) / _GRID
    human, judge = (square.lo + round((score - square.lo) / step) * step for score in pair)
    return human, judge


def _dots(dots: Counter[Pair], square: _Square, largest: float) -> list[Html]:
    """Large ones first, so that they hide no small ones."""
    most = max(dots.values())
    found: list[Html] = []
    for (human, judge), count in dots.most_common():
        said = f"people {code_text(human)}, judge {code_text(judge)}: {counted(count, 'time')}"
        radius = round(2 + (largest - 2) * math.sqrt(count / most), 1)
        dot = tag("circle", cx=square.x(human), cy=square.y(judge), r=radius, class_="dot")
        found.append(tag("g", tag("title", said), dot))
    return found


def _identity(square: _Square) -> Html:
    (x1, y1), (x2, y2) = ((square.x(end), square.y(end)) for end in (square.lo, square.hi))
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="identity")


def _round_scores(square: _Square) -> list[float]:
    step = round_step((square.hi - square.lo) / 5)
    return [place * step for place in range(math.ceil(square.lo / step), math.floor(square.hi / step) + 1)]


def _ticks(scores: Sequence[float], square: _Square) -> list[Html]:
    below = HEIGHT - BOTTOM + 14
    under = [tag("text", code_text(each), x=square.x(each), y=below, class_="from-middle") for each in scores]
    beside = [tag("text", code_text(each), x=LEFT - 4, y=square.y(each) + 4, class_="from-end") for each in scores]
    return [*under, *beside]
