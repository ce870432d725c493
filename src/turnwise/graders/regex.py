"""The kind `regex`: a pattern of the author's is found in the answer.

Python's own engine can take longer than the universe lasts, and cannot be interrupted: the search runs in a process
that is ended when its time is over. The answer is then ungraded, since nobody knows whether it matches.
"""

from __future__ import annotations

import re
import warnings
from typing import Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from ..conversation.authored import FormatModel, Word
from .base import GradeError, Submission
from .bounded import bounded
from .check import Verdict, shown

__all__ = ["LONGEST_TEXT", "SECONDS", "Regex", "why_not_regex"]

LONGEST_TEXT = 100_000
"""Characters of an answer that a pattern is tried on. A longer one is not cut: the end of it may decide."""

SECONDS = 2.0
_LONGEST_PATTERN = 10_000


class Regex(FormatModel):
    """A match of this regular expression is found anywhere in the answer."""

    value: Word = Field(
        description="A regular expression, as Python's `re` has them; it may match any part of the answer."
    )
    case_sensitive: bool = Field(True, description="Whether capital and small letters differ.")

    @model_validator(mode="after")
    def _can_be_compiled(self) -> Self:
        reason = why_not_regex(self.value)
        if reason is not None:
            hint = "a literal bracket is written \\( or \\["
            raise PydanticCustomError(
                "bad_pattern", "`value` is not a regular expression: {reason}", {"reason": reason, "hint": hint}
            )
        return self

    async def check(self, submission: Submission) -> Verdict | GradeError:
        """Search the answer."""
        text = submission.text
        if len(text) > LONGEST_TEXT:
            return GradeError(
                "too-long",
                f"the answer has {len(text):,} characters, and `regex` searches at most {LONGEST_TEXT:,}",
            )
        job = {"do": "search", "pattern": self.value, "text": text, "case_sensitive": self.case_sensitive}
        answer = await bounded(job, SECONDS)
        if isinstance(answer, GradeError):
            return _explained(answer, self.value)
        if answer["found"] is None:
            return Verdict(False, f"nothing in the answer matches {shown(self.value)}")
        start, end, matched = answer["found"]
        reason = f"{shown(matched)} matches {shown(self.value)}"
        return Verdict(True, reason, {"start": start, "end": end, "match": matched})


def why_not_regex(pattern: str) -> str | None:
    if len(pattern) > _LONGEST_PATTERN:
        return f"it has {len(pattern):,} characters, at most {_LONGEST_PATTERN:,} are read"
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return str(error)
    return None


def _explained(error: GradeError, pattern: str) -> GradeError:
    if error.kind != "timeout":
        return error
    return GradeError(
        "timeout",
        f"the search for {shown(pattern)} was stopped after {SECONDS:g} seconds: the pattern tries too many ways to "
        "match; write it without repetitions inside repetitions, such as (a+)+",
    )
