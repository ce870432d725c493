"""The `not-` form of kinds that give scores between 0 and 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .base import Grade, Grader, GraderSettings, Submission

__all__ = ["NegatedGrader", "negated"]


@dataclass(frozen=True, slots=True)
class NegatedGrader:
    """Turns a grader round: it passes where that one fails. What cannot be graded stays ungraded."""

    grader: Grader
    settings: GraderSettings

    async def grade(self, submission: Submission) -> Grade:
        """Judge an answer."""
        grade = await self.grader.grade(submission)
        if grade.score is None:
            return grade
        reason = f"{grade.reason}; `{self.settings.kind}` turns that round"
        return replace(grade, score=1 - grade.score, passed=not grade.passed, reason=reason)


def negated(make: Callable[..., Grader]) -> Callable[..., Grader]:
    """How to make the `not-` form of graders that are made so."""

    def made(options: Any, settings: GraderSettings) -> Grader:
        return NegatedGrader(make(options, settings), settings)

    return made
