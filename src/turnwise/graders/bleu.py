"""The kind `bleu`: BLEU of one answer against the text that was expected, from 0 to 1, as sacrebleu counts it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from pydantic import Field, model_validator

from ..conversation.authored import FormatModel
from .base import Grade, GradeError, GraderSettings, Submission
from .packages import require_package
from .reference import texts_to_compare

__all__ = ["Bleu", "BleuGrader"]


class Bleu(FormatModel):
    """The answer is worded like this text."""

    value: str | None = Field(None, description="The text to compare with; the reference answer if absent.")

    @model_validator(mode="after")
    def _has_its_package(self) -> Self:
        require_package("bleu", "sacrebleu")
        return self


@dataclass(frozen=True, slots=True)
class BleuGrader:
    """Sentence BLEU: runs of up to four words, or fewer if the texts are shorter, smoothed."""

    options: Bleu
    settings: GraderSettings

    async def grade(self, submission: Submission) -> Grade:
        """Judge an answer."""
        texts = texts_to_compare("bleu", self.options.value, submission)
        if isinstance(texts, GradeError):
            return self.settings.ungraded(texts)
        answer, wanted = texts
        if not wanted.strip():
            message = "the text to compare with is blank: `bleu` has nothing to count"
            return self.settings.ungraded(GradeError("no-words", message))
        from sacrebleu.metrics.bleu import BLEU

        # Without it, a sentence of three words could never have a score: it has no run of four.
        metric = BLEU(effective_order=True)
        found = metric.sentence_score(answer, [wanted])
        score = min(max(found.score / 100, 0.0), 1.0)
        evidence = {
            "precisions": [round(each / 100, 6) for each in found.precisions],
            "brevity_penalty": round(found.bp, 6),
            "signature": str(metric.get_signature()),
        }
        return self.settings.graded(score, f"BLEU {score:.3f} (brevity penalty {found.bp:.3f})", evidence)
