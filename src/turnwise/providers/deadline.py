"""Until when somebody waits for an answer: for providers that can end in order before they are ended."""

from __future__ import annotations

from contextvars import ContextVar

__all__ = ["seconds_left", "wait_until"]

_GRACE_SECONDS = 1.0
_LEAST_SECONDS = 0.1

_until: ContextVar[float | None] = ContextVar("until", default=None)


def wait_until(when: float | None) -> None:
    """Say until when this task waits, by the clock of the event loop; None for as long as it takes."""
    _until.set(when)


def seconds_left(limit: float) -> float:
    """The seconds that an answer may take: `limit`, or a moment less than somebody waits for it."""
    import asyncio

    until = _until.get()
    if until is None:
        return limit
    return min(limit, max(until - asyncio.get_running_loop().time() - _GRACE_SECONDS, _LEAST_SECONDS))
