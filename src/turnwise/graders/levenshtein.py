"""The kind `levenshtein`: how many characters must be changed to make the answer the text that was expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import Field, model_validator

from ..conversation.authored import FormatModel
from .base import Grade, GradeError, GraderSettings, Submission
from .packages import require_package
from .reference import texts_to_compare
from .text import comparable

__all__ = ["Levenshtein", "LevenshteinGrader"]


class Levenshtein(FormatModel):
    """The answer is nearly this text."""

    value: str | None = Field(None, description="The text to compare with; the reference answer if absent.")
    max: Annotated[int, Field(ge=0)] | None = Field(
        None, description="The most changes: the score is 1 up to here and else 0. Without it, it is the similarity."
    )
    case_sensitive: bool = Field(True, description="Whether capital and small letters differ.")
    trim: bool = Field(True, description="Whether white space around the texts is left out of the comparison.")

    @model_validator(mode="after")
    def _has_its_package(self) -> Self:
        require_package("levenshtein", "rapidfuzz")
        return self


@dataclass(frozen=True, slots=True)
class LevenshteinGrader:
    """Counts insertions, deletions and replacements of characters."""

    options: Levenshtein
    settings: GraderSettings

    async def grade(self, submission: Submission) -> Grade:
        """Judge an answer."""
        from rapidfuzz.distance import Levenshtein as Distance

        options = self.options
        texts = texts_to_compare("levenshtein", options.value, submission)
        if isinstance(texts, GradeError):
            return self.settings.ungraded(texts)
        one, other = (comparable(text, case_sensitive=options.case_sensitive, trim=options.trim) for text in texts)
        distance = Distance.distance(one, other)
        longest = max(len(one), len(other))
        similarity = 1.0 if longest == 0 else 1 - distance / longest
        evidence = {"distance": distance, "similarity": round(similarity, 6), "characters": [len(one), len(other)]}
        if options.max is None:
            return self.settings.graded(similarity, f"similarity {similarity:.3f}: {_counted(distance)}", evidence)
        bound = f"{_counted(distance)} from the text, at most {options.max} allowed"
        return self.settings.graded(1.0 if distance <= options.max else 0.0, bound, evidence)


def _counted(changes: int) -> str:
    return "1 change" if changes == 1 else f"{changes:,} changes"
