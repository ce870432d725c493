"""Signals to a run under way: the first lets what is under way finish, the second does not."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..engine.runner import Runner

from .interrupts import end_on, leave_on

__all__ = ["until_signalled"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def until_signalled(runner: Runner) -> Iterator[None]:
    """Have SIGINT and SIGTERM stop the runner: gently at first, then at once."""
    loop = asyncio.get_running_loop()
    heard = 0

    def hear() -> None:
        nonlocal heard
        heard += 1
        if heard == 1:
            runner.stop()
        else:
            runner.abort()

    for number in _SIGNALS:
        loop.add_signal_handler(number, hear)
    try:
        yield
    finally:
        # Between two handlers there is Python's own, which raises: nothing may come just then.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
        if heard:
            leave_on(*_SIGNALS)
        else:
            end_on(*_SIGNALS)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
