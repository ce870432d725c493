"""Graders of other packages may raise anything: here it becomes a grade without a score."""

from __future__ import annotations

from ..providers.python_import import raised_at, shown_error
from .base import Grade, GradeError, Grader, GraderSettings, Submission

__all__ = ["guarded"]


async def guarded(grader: Grader, submission: Submission) -> Grade:
    """What a grader says; the error `crash` if it raises."""
    try:
        return await grader.grade(submission)
    except Exception as error:  # noqa: BLE001  (a grader of another package may raise anything)
        settings = getattr(grader, "settings", None)
        if not isinstance(settings, GraderSettings):
            settings = GraderSettings(name=type(grader).__name__, kind=type(grader).__name__)
        return settings.ungraded(GradeError("crash", f"{shown_error(error)} ({raised_at(error)})"))
