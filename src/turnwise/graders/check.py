"""Graders that answer yes or no: a check states a fact about the answer, and the `not-` form turns it round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from .base import Grade, GradeError, GraderSettings, Submission

__all__ = ["Check", "CheckGrader", "Verdict", "shown"]

_LONGEST_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a check holds. `reason` states what was found, so that it is true of the `not-` form as well."""

    holds: bool
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict)


class Check(Protocol):
    """The options of a kind, as a suite gives them, which know how to check an answer."""

    async def check(self, submission: Submission) -> Verdict | GradeError:
        """Whether the answer is as it should be, or why that cannot be told."""
        ...


@dataclass(frozen=True, slots=True)
class CheckGrader:
    """The grader of a check: 1 if it holds and 0 if not, or the other way round if it is `negated`."""

    check: Check
    settings: GraderSettings
    negated: bool = False

    async def grade(self, submission: Submission) -> Grade:
        """Judge an answer."""
        verdict = await self.check.check(submission)
        if isinstance(verdict, GradeError):
            return self.settings.ungraded(verdict)
        score = 1.0 if verdict.holds is not self.negated else 0.0
        return self.settings.graded(score, verdict.reason, verdict.evidence)


def shown(text: str) -> str:
    """A text for a reason: quoted, and not longer than a line.

    >>> shown("yes"), len(shown("y" * 1_000))
    ("'yes'", 83)
    """
    return repr(text) if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]!r}…"
