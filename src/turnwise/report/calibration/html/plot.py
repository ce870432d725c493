"""What the drawings of scores share: the pairs, the room they have, round steps, and the frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .markup import Html, joined, tag

if TYPE_CHECKING:
    from ....calibration.report import Item

__all__ = [
    "BOTTOM",
    "HEIGHT",
    "LEFT",
    "TOP",
    "WIDTH",
    "Pair",
    "axis_name",
    "can_be_drawn",
    "figure",
    "numeric_pairs",
    "round_step",
]

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 330, 230, 34, 34, 14
_LARGEST, _SMALLEST = 1e100, 1e-100

Pair = tuple[float, float]
"""What a person said, and what the judge said."""


def numeric_pairs(items: Sequence[Item], model: str) -> list[Pair]:
    """Every numeric label beside the judge's score for the sample."""
    pairs: list[Pair] = []
    for item in items:
        verdict = item.verdicts.get(model)
        judge = None if verdict is None else verdict.value
        if judge is None or isinstance(judge, str):
            continue
        pairs += [(label.code, judge) for label in item.labels if not isinstance(label.code, str)]
    return pairs


def can_be_drawn(pairs: Sequence[Pair]) -> bool:
    """Whether the scores have a size with which one can reckon: a judge may write any number on an open scale."""
    scores = [score for pair in pairs for score in pair]
    if not scores:
        return False
    lo, hi = min(scores), max(scores)
    return -_LARGEST <= lo <= hi <= _LARGEST and (lo == hi or hi - lo >= _SMALLEST)


def round_step(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is not below `least`.

    >>> [round_step(least) for least in (0.03, 1, 1.2, 3)]
    [0.05, 1.0, 2.0, 5.0]
    """
    least = max(least, _SMALLEST)
    power = 10.0 ** math.floor(math.log10(least))
    return next(float(f"{times * power:.12g}") for times in (1, 2, 5, 10) if times * power >= least * (1 - 1e-9))


def axis_name(text: str) -> Html:
    """What the horizontal axis shows."""
    return tag("text", text, x=(WIDTH + LEFT) / 2, y=HEIGHT - 4, class_="from-middle")


def figure(title: str, parts: Sequence[Html], caption: str) -> Html:
    """A drawing with its name, for those who cannot see it, and its caption."""
    box = f"0 0 {WIDTH} {HEIGHT}"
    drawing = tag("svg", tag("title", title), joined(parts), viewBox=box, role="img", class_="chart")
    return tag("figure", drawing, tag("figcaption", caption))
