"""Signals to a run under way: the first lets what is under way finish, the second does not."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..engine.runner import Runner

__all__ = ["until_signalled"]


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

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, hear)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
