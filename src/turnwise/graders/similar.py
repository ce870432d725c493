"""The kind `similar`: how near the meanings of the answer and of a text are, by the vectors of an embedding model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from ..conversation.authored import FormatModel
from .base import Grade, GradeError, GraderSettings, Submission
from .reference import texts_to_compare

if TYPE_CHECKING:
    from .embedding import EmbeddingAnswer

__all__ = ["DEFAULT_SIMILARITY", "Similar", "SimilarGrader", "cosine"]

DEFAULT_SIMILARITY = 0.75
"""The similarity from which the grader passes where it sets no threshold."""


class Similar(FormatModel):
    """The answer means nearly the same as this text."""

    value: str | None = Field(None, description="The text to compare with; the reference answer if absent.")


@dataclass(frozen=True, slots=True)
class SimilarGrader:
    """Asks an embedding model for both vectors, and takes the cosine of their angle."""

    options: Similar
    settings: GraderSettings

    def wanted_embedder(self) -> str | None:
        """The target that is asked for vectors."""
        return self.settings.target

    async def grade(self, submission: Submission) -> Grade:
        """Judge an answer."""
        texts = texts_to_compare("similar", self.options.value, submission)
        if isinstance(texts, GradeError):
            return self.settings.ungraded(texts)
        if not all(text.strip() for text in texts):
            return self.settings.ungraded(GradeError("empty-text", "a text without words has no meaning to compare"))
        target, judges = self.settings.target or "", submission.judges
        embed = None if judges is None else judges.embedder(target)
        if embed is None:
            return self.settings.ungraded(GradeError("not-available", f"nobody is there to embed with {target!r}"))
        answer = await embed(texts)
        evidence = _evidence(target, answer)
        if answer.failure is not None:
            message = f"no vectors of {target}: {answer.failure.message}"
            return self.settings.ungraded(GradeError(answer.failure.kind, message), evidence)
        similarity = cosine(*answer.vectors)
        if isinstance(similarity, GradeError):
            return self.settings.ungraded(similarity, evidence)
        return self._graded(similarity, evidence)

    def _graded(self, similarity: float, evidence: Mapping[str, Any]) -> Grade:
        bar = DEFAULT_SIMILARITY if self.settings.threshold is None else self.settings.threshold
        score = max(0.0, similarity)
        reason = f"similarity {similarity:.3f}, {bar:g} passes"
        found = {"similarity": round(similarity, 6), **evidence}
        return self.settings.graded(score, reason, found, passed=score >= bar)


def cosine(one: Sequence[float], other: Sequence[float]) -> float | GradeError:
    """The cosine of the angle between two vectors, from -1 to 1, or why there is none.

    >>> cosine([1.0, 0.0], [1.0, 1.0])
    0.7071067811865475
    """
    if len(one) != len(other):
        return GradeError("bad-vectors", f"the vectors have {len(one)} and {len(other)} numbers: they must be as long")
    if not all(map(math.isfinite, (*one, *other))):
        return GradeError("bad-vectors", "a vector holds a number that is not finite")
    # By its largest number first: squares of very large or small ones would not fit.
    scaled = [_scaled(vector) for vector in (one, other)]
    if not all(scaled):
        return GradeError("bad-vectors", "a vector is all zeros, and has no direction")
    lengths = [math.hypot(*vector) for vector in scaled]
    product = math.fsum(a * b for a, b in zip(*scaled, strict=True))
    return max(-1.0, min(1.0, product / lengths[0] / lengths[1]))


def _scaled(vector: Sequence[float]) -> list[float]:
    largest = max(map(abs, vector), default=0.0)
    return [each / largest for each in vector] if largest else []


def _evidence(target: str, answer: EmbeddingAnswer) -> dict[str, Any]:
    """Who gave the vectors, and what it took."""
    return {
        "judge": target,
        "model": answer.model,
        "usage": None if answer.usage is None else asdict(answer.usage),
        "cost_usd": answer.cost_usd,
        "latency_ms": answer.latency_ms,
        "attempts": answer.attempts,
    }
