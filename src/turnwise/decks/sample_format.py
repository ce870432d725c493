"""The sample format: schema and validator at once, except for the messages, whose errors have fixed words."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, WithJsonSchema, field_validator, model_validator
from pydantic_core import PydanticCustomError

from ..conversation.authored import FormatModel
from ..suite.explain import described

__all__ = ["ExpectedSpec", "LabelSpec", "SampleSpec"]

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
# Longer than any score, and short enough for Python to read as an integer.
_LONGEST_NUMBER = 300

Word = Annotated[str, Field(min_length=1)]


def _finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _score(value: Any) -> Any:
    """A number; `"+2"` is the number 2."""
    if isinstance(value, str) and len(value) <= _LONGEST_NUMBER and _NUMBER.fullmatch(value.strip()):
        number = float(value)
        value = int(number) if number.is_integer() and abs(number) < 2**53 else number
    if isinstance(value, bool) or not isinstance(value, int | float) or not _finite(value):
        context = {"found": described(value), "hint": "a word or true/false is a `label`"}
        raise PydanticCustomError("bad_score", "a score must be a finite number, found {found}", context)
    return value


def _label(value: Any) -> Any:
    """A word or a number; `true` is the word `true`."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, int | float) and _finite(value):
        return value
    found = "an empty text" if isinstance(value, str) else described(value)
    raise PydanticCustomError("bad_label", "a label must be a text or a finite number, found {found}", {"found": found})


Score = Annotated[Any, AfterValidator(_score), WithJsonSchema({"type": ["number", "string"]})]
Label = Annotated[Any, AfterValidator(_label), WithJsonSchema({"type": ["string", "number", "boolean"]})]


class ExpectedSpec(FormatModel):
    """The human label of a sample."""

    score: Score | None = Field(None, description="The label as a number.")
    label: Label | None = Field(None, description="The label as a word.")
    reason: str | None = Field(None, description="Why, in the rater's words.")

    @model_validator(mode="after")
    def _has_one_value(self) -> Self:
        if self.score is not None and self.label is not None:
            raise PydanticCustomError("two_labels", "give `score` or `label`, not both")
        return self


class LabelSpec(ExpectedSpec):
    """The label that one of several people gave."""

    rater: Word = Field(description="Who gave it.")

    @model_validator(mode="after")
    def _has_a_value(self) -> Self:
        if self.score is None and self.label is None:
            raise PydanticCustomError("no_label", "a label needs `score` or `label`")
        return self


def _form(value: Any) -> str:
    return "a mapping" if isinstance(value, dict) else "a bare value"


Expected = Annotated[
    Annotated[ExpectedSpec, Tag("a mapping")] | Annotated[Label, Tag("a bare value")], Discriminator(_form)
]
Messages = Annotated[
    Any,
    WithJsonSchema(
        {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {key: {"type": "string", "minLength": 1} for key in ("role", "content", "name")},
                "required": ["role", "content"],
                "additionalProperties": False,
            },
        }
    ),
]


class SampleSpec(FormatModel):
    """A conversation that people have labelled."""

    id: Word | None = Field(None, description="Names the sample; `<file stem>-<index>` if absent.")
    messages: Messages = Field(None, description="The conversation: `role` and `content` of each turn.")
    expected: Expected | None = Field(
        None, description="The human label: `{score or label, reason}`, or the bare value."
    )
    score: Score | None = Field(None, description="Short for `expected = { score = … }`.")
    labels: list[LabelSpec] | None = Field(None, description="The labels of several people.")
    cluster: Word | None = Field(None, description="Samples that belong together share it.")
    tags: list[Word] | None = Field(None, description="Words to select and group samples by.")
    name: Any = Field(None, description="A title for people.")
    description: Any = Field(None, description="What the sample is about, for people.")
    metadata: Any = Field(None, description="Anything else.")

    @field_validator("labels")
    @classmethod
    def _has_each_rater_once(cls, labels: list[LabelSpec] | None) -> list[LabelSpec] | None:
        seen: set[str] = set()
        for label in labels or ():
            if label.rater in seen:
                context = {"rater": label.rater, "hint": "keep one of the labels, or name the other person"}
                raise PydanticCustomError("rater_twice", "two labels are of the same rater, `{rater}`", context)
            seen.add(label.rater)
        return labels

    @model_validator(mode="after")
    def _is_labelled_once(self) -> Self:
        expected = self.expected
        is_labelled = expected is not None
        if isinstance(expected, ExpectedSpec):
            is_labelled = expected.score is not None or expected.label is not None
        if self.score is not None and is_labelled:
            raise PydanticCustomError("two_labels", "give `score` or `expected`, not both: one is short for the other")
        return self
