"""Waits that are cut short when a run stops: who waits to send loses that request, and not what it has already."""

from __future__ import annotations

import asyncio
from typing import Any
from weakref import WeakKeyDictionary

from ..errors import NotAwaitedError, ProviderError

__all__ = ["cut_short", "cut_short_by"]

_Task = asyncio.Task[Any]
# What the last attempt of each task has brought; None if nothing was sent.
_cut: WeakKeyDictionary[_Task, ProviderError | None] = WeakKeyDictionary()


def cut_short(task: _Task, error: ProviderError | None) -> None:
    """End the wait of a task that has nothing under way: all of it, unless it asks `cut_short_by` what happened."""
    _cut[task] = error
    task.cancel()


def cut_short_by() -> ProviderError | None:
    """Why the wait of this task has ended, where a `CancelledError` was caught: the task then goes on. None if it was
    cancelled as a whole, and must end.

    A task that is not cancelled itself has waited for a request that it shares, by the cache, with others.
    """
    task = asyncio.current_task()
    assert task is not None
    error: ProviderError | None = None
    if task in _cut:
        error = _cut.pop(task)
        task.uncancel()
    return None if task.cancelling() else error or _unsent()


def _unsent() -> ProviderError:
    error = NotAwaitedError("the run was stopped while the request waited to be sent", hint="ask again")
    error.attempts = 0
    return error
