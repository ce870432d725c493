"""Time that passes at once: an event loop whose clock jumps to the next timer when nothing else is left to do.

A loop asks its selector to wait until the next timer is due. Here the selector looks whether anything is ready, and if
not, moves the clock on by as long as it was asked to wait, instead of waiting. Nothing of asyncio is replaced but the
clock and the wait, so tasks, timeouts and locks behave as ever. Threads and other processes live in real time: a loop
that waits for them alone has no timer, and waits for them really.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["VirtualLoop", "run_at_once"]

T = TypeVar("T")
_BEGIN = 1000.0


class _JumpingSelector(selectors.DefaultSelector):
    """Never waits for a timer: the clock goes to it."""

    now = _BEGIN

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready now; if nothing is, `timeout` seconds have passed."""
        if timeout is None:
            ready: list[tuple[selectors.SelectorKey, int]] = super().select(None)
            return ready
        ready = super().select(0)
        if not ready:
            self.now += max(timeout, 0.0)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in simulated time. `elapsed` are the seconds that have passed in it."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        """The simulated time."""
        return self._jumping.now

    @property
    def elapsed(self) -> float:
        """Simulated seconds since the loop was made."""
        return self._jumping.now - _BEGIN


def run_at_once(main: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run`, in simulated time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
