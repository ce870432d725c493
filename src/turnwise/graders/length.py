"""The kind `length`: the answer is neither too short nor too long."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from ..conversation.authored import FormatModel
from .base import GradeError, Submission
from .check import Verdict

__all__ = ["Length"]

Count = Annotated[int, Field(ge=0)]
Unit = Literal["characters", "words", "lines", "tokens"]


class Length(FormatModel):
    """The answer has at least `min` and at most `max` of a unit."""

    min: Count | None = Field(None, description="The least; no bound if absent.")
    max: Count | None = Field(None, description="The most; no bound if absent.")
    unit: Unit = Field("characters", description="What is counted: `characters`, `words`, `lines` or `tokens`.")

    @model_validator(mode="after")
    def _has_bounds(self) -> Self:
        if self.min is None and self.max is None:
            hint = "write `max: 200`, and `unit: words` if it is words"
            raise PydanticCustomError("grader_options", "`length` needs `min` or `max`", {"hint": hint})
        if self.min is not None and self.max is not None and self.min > self.max:
            rule = "`min` is more than `max`: no answer has such a length"
            raise PydanticCustomError("grader_options", rule, {"hint": "swap them"})
        return self

    async def check(self, submission: Submission) -> Verdict | GradeError:
        """Count."""
        count = _counted(submission, self.unit)
        if isinstance(count, GradeError):
            return count
        short, long = self.min is not None and count < self.min, self.max is not None and count > self.max
        bound = f", fewer than {self.min:,}" if short else f", more than {self.max:,}" if long else ""
        unit = self.unit.removesuffix("s") if count == 1 else self.unit
        return Verdict(not (short or long), f"the answer has {count:,} {unit}{bound}", {"count": count})


def _counted(submission: Submission, unit: Unit) -> int | GradeError:
    match unit:
        case "characters":
            return len(submission.text)
        case "words":
            return len(submission.text.split())
        case "lines":
            return len(submission.text.splitlines())
        case "tokens":
            tokens = None if submission.usage is None else submission.usage.output_tokens
            return GradeError("unknown-tokens", _UNCOUNTED) if tokens is None else tokens


_UNCOUNTED = "the target did not say how many tokens the answer has: count `words` or `characters` instead"
