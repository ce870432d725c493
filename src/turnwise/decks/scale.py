"""The scale of a deck: which scores or labels its grader gives, and which of them count as good."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from ..conversation.authored import FormatModel

__all__ = ["ScaleSpec"]

Number = Annotated[int, Field()] | Annotated[float, Field(allow_inf_nan=False)]
Word = Annotated[str, Field(min_length=1)]
Kind = Literal["binary", "ordinal", "continuous", "categorical"]


class ScaleSpec(FormatModel):
    """The `[scale]` table."""

    kind: Kind = Field(description="What the scores mean: two values, ordered steps, a measure, or words.")
    min: Number | None = Field(None, description="The lowest score.")
    max: Number | None = Field(None, description="The highest score.")
    values: list[Number] | None = Field(None, description="All scores, as numbers.")
    labels: list[Word] | None = Field(None, description="All labels, as words.")
    pass_: Number | Word | None = Field(None, alias="pass", description="The score from which it counts as good.")
    ungradable: Number | Word | None = Field(None, description="What the grader says when it cannot grade.")
    tie: Word | None = Field(None, description="The label that means a tie; `tie` if absent.")

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        fault = next(self._faults(), None)
        if fault is not None:
            raise PydanticCustomError("scale", "[scale]: {fault}", {"fault": fault})
        return self

    def allows(self, value: float | str) -> bool:
        """Whether the value is on the scale, as far as the scale says.

        >>> scale = ScaleSpec.model_validate({"kind": "ordinal", "min": -3, "max": 3})
        >>> scale.allows(3), scale.allows(4), scale.allows("good")
        (True, False, False)
        """
        if isinstance(value, str):
            if self.labels is None:
                return self.values is None and self.min is None and self.max is None
            return value.casefold() in (label.casefold() for label in self.labels)
        if self.labels is not None:
            return False
        if self.values is not None:
            return value in self.values
        return (self.min is None or value >= self.min) and (self.max is None or value <= self.max)

    def _faults(self) -> Iterator[str]:
        yield from self._misplaced()
        yield from self._bad_lists()
        yield from self._bad_bounds()
        yield from self._bad_marks()

    def _misplaced(self) -> Iterator[str]:
        """Each kind is described in its own way; what it does not use would be ignored silently."""
        numeric = self.values is not None or self.min is not None or self.max is not None
        if self.labels is not None and numeric:
            yield "`labels` are words: give them, or `values`, or `min` and `max`"
        if self.kind == "categorical" and numeric:
            yield "a categorical scale has `labels`, not numbers"
        if self.kind in ("ordinal", "continuous") and self.labels is not None:
            yield f"a scale of kind {self.kind} has numbers, not `labels`"
        if self.kind == "continuous" and self.values is not None:
            yield "a continuous scale has `min` and `max`, not `values`"
        if self.tie is not None and self.kind != "categorical":
            yield "`tie` belongs to a categorical scale"

    def _bad_lists(self) -> Iterator[str]:
        for name, items in (("values", self.values), ("labels", self.labels)):
            if items is None:
                continue
            distinct = {item.casefold() if isinstance(item, str) else item for item in items}
            if len(distinct) < len(items):
                yield f"`{name}` names a value twice"
            elif len(items) < 2:
                yield f"`{name}` needs at least two"
            elif self.kind == "binary" and len(items) != 2:
                yield f"a binary scale has two {name}, not {len(items)}"

    def _bad_bounds(self) -> Iterator[str]:
        low, high = self.min, self.max
        if low is not None and high is not None and low >= high:
            yield "`min` must be less than `max`"
        if self.values is not None:
            if low not in (None, min(self.values)) or high not in (None, max(self.values)):
                yield "`min` and `max` do not agree with `values`"
        elif self.kind in ("binary", "ordinal"):
            if (low is None) != (high is None):
                yield "give `min` and `max`, or neither"
            elif any(bound is not None and bound != int(bound) for bound in (low, high)):
                yield f"`min` and `max` of a scale of kind {self.kind} are whole numbers; or list the `values`"
            elif self.kind == "binary" and low is not None and high is not None and high - low != 1:
                yield "a binary scale has two values; list them in `values`"

    def _bad_marks(self) -> Iterator[str]:
        if self.pass_ is not None:
            if self.kind == "continuous" and isinstance(self.pass_, str):
                yield "`pass` must be a number"
            elif not self._can_pass(self.pass_):
                yield f"`pass` is not on the scale: {self.pass_!r}"
            if _same(self.pass_, self.ungradable):
                yield "`pass` and `ungradable` are the same value"
        if self.tie is not None and self.labels is not None and not self.allows(self.tie):
            yield f"`tie` is not one of the labels: {self.tie!r}"

    def _can_pass(self, value: float | str) -> bool:
        """A number may lie between two steps: 0.5 parts 0 from 1."""
        if self.values is not None and not isinstance(value, str):
            return min(self.values) <= value <= max(self.values)
        return self.allows(value)


def _same(left: float | str | None, right: float | str | None) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return left.casefold() == right.casefold()
    return left is not None and left == right
