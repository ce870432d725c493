"""Graders that are not for every answer: one whose condition does not hold is left out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from .base import Grade, GradeError, Grader, GraderSettings, Submission
from .json_values import brief, same_value

if TYPE_CHECKING:
    from ..suite.when import WhenSpec

__all__ = ["Conditional", "why_not_applicable"]

_OF_CASE = ("tags", "metadata")


@dataclass(frozen=True, slots=True)
class Conditional:
    """A grader with a condition."""

    grader: Grader
    when: WhenSpec
    settings: GraderSettings

    async def grade(self, submission: Submission) -> Grade:
        """Judge an answer that the grader is for."""
        return self.unused(submission) or await self.grader.grade(submission)

    def unused(self, submission: Submission) -> Grade | None:
        """The grade for an answer that the grader is not for, or where nobody can tell; None if it is to be used."""
        when, gone = self.when, submission.is_case_gone
        unknown = [name for name in _OF_CASE if gone and getattr(when, name) is not None]
        why = why_not_applicable(when.model_copy(update=dict.fromkeys(unknown)), submission)
        if why is not None:
            return self.settings.not_applicable(why)
        return self.settings.ungraded(_unknown(unknown)) if unknown else None


def _unknown(names: Sequence[str]) -> GradeError:
    what = " and ".join(names)
    message = f"whether `when` holds is not known: the case is gone, and its {what} with it"
    return GradeError("unknown-condition", message)


def why_not_applicable(when: WhenSpec, submission: Submission) -> str | None:
    """What keeps a grader from being used for an answer; None if it is to be used.

    >>> from ..suite.when import WhenSpec
    >>> why_not_applicable(WhenSpec(target="gpt-*"), Submission(question="", text="", target="claude"))
    "not for this answer: it is for the target 'gpt-*', and this is 'claude'"
    """
    reason = _why_not(when, submission)
    return None if reason is None else f"not for this answer: it is for {reason}"


def _why_not(when: WhenSpec, submission: Submission) -> str | None:
    if when.tags is not None and not set(when.tags) & set(submission.tags):
        return f"cases tagged {' or '.join(when.tags)}, and this one has {', '.join(submission.tags) or 'no tags'}"
    if when.target is not None and not fnmatchcase(submission.target or "", when.target):
        return f"the target {when.target!r}, and this is {submission.target!r}"
    if when.variant is not None and when.variant != submission.variant:
        return f"the variant {when.variant!r}, and this is {submission.variant!r}"
    for key, value in (when.metadata or {}).items():
        if key not in submission.metadata or not same_value(value, submission.metadata[key]):
            found = _as_json(submission.metadata[key]) if key in submission.metadata else "not there"
            return f"cases whose metadata has {key}: {_as_json(value)}, and here it is {found}"
    return None


def _as_json(value: Any) -> str:
    """A value as suites write it: a text has quotes, since `"1"` is not `1`."""
    short = brief(value)
    return json.dumps(short, ensure_ascii=False, default=str) if short is value else str(short)
