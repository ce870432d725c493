"""The kind `rouge-n`: how many runs of n words the answer and the text that was expected have in common.

The figures are those of the package rouge-score. Its own words are those of a to z only, which leaves nothing of a
Russian answer: words of all scripts are counted here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import Field, model_validator

from ..conversation.authored import FormatModel
from .base import Grade, GradeError, GraderSettings, Submission
from .packages import require_package
from .reference import texts_to_compare

__all__ = ["RougeN", "RougeNGrader", "words_of"]

_WORD = re.compile(r"[^\W_]+")


class RougeN(FormatModel):
    """The answer uses the words of this text."""

    value: str | None = Field(None, description="The text to compare with; the reference answer if absent.")
    n: Annotated[int, Field(ge=1, le=9)] = Field(1, description="How many words in a row are compared, from 1 to 9.")

    @model_validator(mode="after")
    def _has_its_package(self) -> Self:
        require_package("rouge-n", "rouge_score")
        return self


def words_of(text: str) -> list[str]:
    """Letters and digits in a row, in small letters.

    >>> words_of("Die Straße, 2 km!")
    ['die', 'straße', '2', 'km']
    """
    return _WORD.findall(text.lower())


class _Words:
    """What rouge-score asks for the words of a text."""

    def tokenize(self, text: str) -> list[str]:
        return words_of(text)


@dataclass(frozen=True, slots=True)
class RougeNGrader:
    """The F1 of precision and recall."""

    options: RougeN
    settings: GraderSettings

    async def grade(self, submission: Submission) -> Grade:
        """Judge an answer."""
        texts = texts_to_compare("rouge-n", self.options.value, submission)
        if isinstance(texts, GradeError):
            return self.settings.ungraded(texts)
        answer, wanted = texts
        n = self.options.n
        if len(words_of(wanted)) < n:
            message = f"the text to compare with has fewer than {n} words: `rouge-n` with n = {n} has nothing to count"
            return self.settings.ungraded(GradeError("no-words", message))
        from rouge_score.rouge_scorer import RougeScorer

        name = f"rouge{n}"
        found = RougeScorer([name], tokenizer=_Words()).score(wanted, answer)[name]
        evidence = {"n": n, "precision": round(found.precision, 6), "recall": round(found.recall, 6)}
        reason = f"ROUGE-{n} F1 {found.fmeasure:.3f} (precision {found.precision:.3f}, recall {found.recall:.3f})"
        return self.settings.graded(min(max(found.fmeasure, 0.0), 1.0), reason, evidence)
