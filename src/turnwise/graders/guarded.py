"""A grader that raises, or takes more time than is left, grades nothing: it breaks no run, and costs no answer."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

from ..providers.python_import import raised_at, shown_error
from .base import Grade, GradeError, Grader, GraderSettings, Submission

if TYPE_CHECKING:
    from asyncio import Timeout

__all__ = ["grade_until", "guarded"]

_until: ContextVar[float | None] = ContextVar("grade_until", default=None)
_around: ContextVar[Timeout | None] = ContextVar("limit_around", default=None)


def grade_until(moment: float) -> None:
    """Let graders of the present piece of work take no longer than to that time of the loop."""
    _until.set(moment)


async def guarded(grader: Grader, submission: Submission) -> Grade:
    """What a grader says; the error `crash` if it raises, and `timeout` if no time is left for it."""
    try:
        until = _until.get()
        return await grader.grade(submission) if until is None else await _in_time(grader, submission, until)
    except Exception as error:  # noqa: BLE001  (a grader of another package may raise anything)
        return _settings(grader).ungraded(GradeError("crash", f"{shown_error(error)} ({raised_at(error)})"))


async def _in_time(grader: Grader, submission: Submission, until: float) -> Grade:
    """What a grader says by then. One that waits for nothing is done in any case."""
    import asyncio

    if (around := _around.get()) is not None:
        around.reschedule(None)  # the graders inside of a grader keep the time: what others of them say is not lost
    try:
        async with asyncio.timeout_at(until) as limit:
            token = _around.set(limit)
            try:
                return await grader.grade(submission)
            finally:
                _around.reset(token)
    except TimeoutError:
        if limit.expired():
            return _late(grader)
        raise


def _late(grader: Grader) -> Grade:
    message = "not done within the time that one result may take; raise --timeout"
    return _settings(grader).ungraded(GradeError("timeout", message))


def _settings(grader: Grader) -> GraderSettings:
    settings = getattr(grader, "settings", None)
    if isinstance(settings, GraderSettings):
        return settings
    return GraderSettings(name=type(grader).__name__, kind=type(grader).__name__)
