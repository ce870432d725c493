"""The scale of a grader: which scores or labels there are, and one form for every spelling of each."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from ..decks.scale import ScaleSpec

__all__ = ["LARGEST_SCORE", "Code", "Scale", "ScaleKind", "comparable", "declared_scale", "number_of"]

ScaleKind = Literal["binary", "ordinal", "continuous", "categorical"]
Code = float | str
"""A score, or a label in the spelling that the scale gives it."""

LARGEST_SCORE = 1e100
"""Squares and products of larger scores would leave the range of numbers, and with them every figure."""

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
# Longer than any score, and short enough for Python to read as an integer.
_LONGEST_NUMBER = 300
_EXACT = 2**53


def number_of(text: str) -> float | None:
    """The finite number that a text is, and nothing else; whole numbers are integers.

    >>> number_of(" +2 "), number_of("2.0"), number_of("1e999"), number_of("two")
    (2, 2, None, None)
    """
    written = text.strip()
    if len(written) > _LONGEST_NUMBER or not _NUMBER.fullmatch(written):
        return None
    number = float(written)
    return _plain(number) if math.isfinite(number) else None


def comparable(value: Code) -> Code:
    """The form in which labels and outputs are compared: numbers as numbers, words without case.

    >>> comparable("Tie"), comparable("+2") == comparable(2.0)
    ('tie', True)
    """
    if not isinstance(value, str):
        return _plain(value)
    number = number_of(value)
    return value.strip().casefold() if number is None else number


def _plain(number: float) -> float:
    return int(number) if float(number).is_integer() and abs(number) < _EXACT else number


@dataclass(frozen=True, slots=True)
class Scale:
    """What a grader may answer. `declared` is False where it was inferred from human labels.

    `labels` make it a scale of words. An inferred scale of numbers has no bounds: its `values` are those that people
    gave. `pass_` is the score from which an answer counts as good, `ungradable` what says that it cannot be graded.
    """

    kind: ScaleKind
    declared: bool = True
    values: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()
    min: float | None = None
    max: float | None = None
    pass_: Code | None = None
    ungradable: Code | None = None
    tie: str | None = None

    @property
    def has_words(self) -> bool:
        """Whether answers are words."""
        return bool(self.labels) or self.kind == "categorical"

    @property
    def has_numbers(self) -> bool:
        """Whether answers are numbers. A binary scale that says nothing more takes both."""
        return not self.has_words and (self.kind != "binary" or bool(self.values))

    def code(self, value: Code) -> Code | None:
        """The one form of a score or label, whatever its spelling; None if it is not on the scale.

        >>> Scale("categorical", labels=("A", "B", "Tie")).code("tie")
        'Tie'
        >>> Scale("ordinal", min=1, max=5).code("+2"), Scale("ordinal", min=1, max=5).code(6)
        (2, None)
        """
        wanted = comparable(value)
        if self.labels:
            return next((label for label in self.labels if comparable(label) == wanted), None)
        if self.has_words:
            return str(wanted)
        if isinstance(wanted, str):
            return None if self.has_numbers or not wanted else wanted
        return wanted if self._has(wanted) else None

    def is_ungradable(self, value: Code) -> bool:
        """Whether the value says that there is nothing to grade.

        >>> Scale("ordinal", min=-3, max=3, ungradable=0).is_ungradable("0")
        True
        """
        return self.ungradable is not None and comparable(value) == comparable(self.ungradable)

    def as_record(self) -> dict[str, Any]:
        """The scale as plain data, for reports; what is not set is null.

        >>> Scale("ordinal", min=1, max=5, pass_=4).as_record()["pass"]
        4
        """
        return {
            "kind": self.kind,
            "values": list(self.values) or None,
            "labels": list(self.labels) or None,
            "min": self.min,
            "max": self.max,
            "pass": self.pass_,
            "ungradable": self.ungradable,
            "tie": self.tie,
            "declared": self.declared,
        }

    def _has(self, number: float) -> bool:
        if not math.isfinite(number):
            return False
        if not self.declared:
            return True
        if self.values:
            return number in self.values
        return (self.min is None or number >= self.min) and (self.max is None or number <= self.max)


def declared_scale(spec: ScaleSpec, human: Sequence[Code] = ()) -> Scale:
    """The scale that a deck declares. Where it names no values, those of the `human` labels are taken.

    >>> from ..decks.scale import ScaleSpec
    >>> declared_scale(ScaleSpec(kind="binary", min=0, max=1)).values
    (0, 1)
    """
    values, labels = tuple(spec.values or ()), tuple(spec.labels or ())
    if spec.kind == "binary" and spec.min is not None and spec.max is not None:
        values = values or (spec.min, spec.max)
    if not values and not labels and spec.kind in ("binary", "categorical"):
        values, labels = _of_people(spec, human)
    return Scale(
        spec.kind,
        values=values,
        labels=labels,
        min=spec.min,
        max=spec.max,
        pass_=spec.pass_,
        ungradable=spec.ungradable,
        tie=_tie(spec.tie, labels),
    )


def _of_people(spec: ScaleSpec, human: Sequence[Code]) -> tuple[tuple[float, ...], tuple[str, ...]]:
    marked = None if spec.ungradable is None else comparable(spec.ungradable)
    first = {comparable(value): value for value in reversed(human) if comparable(value) != marked}
    numbers = [value for value in first if not isinstance(value, str)]
    if spec.kind == "binary" and len(numbers) == len(first):
        return tuple(sorted(numbers)), ()
    return (), tuple(sorted((str(value) for value in first.values()), key=str.casefold))


def _tie(named: str | None, labels: Sequence[str]) -> str | None:
    """The label that means a tie, in the scale's own spelling: the one that is named, or else `tie`."""
    wanted = comparable(named or "tie")
    return next((label for label in labels if comparable(label) == wanted), named)
