"""Processes that left the group of the program that started them: found by a mark in their environment, and ended.

Tools of agents start sessions of their own, which no signal to the group reaches. What they inherit is the environment.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from time import monotonic, sleep

__all__ = ["MARK", "end_strays", "marked"]

MARK = "TURNWISE_PROGRAM"
"""The variable whose value is another one for each program."""

_SECONDS = 2.0
_PAUSE_SECONDS = 0.02


def end_strays(mark: str) -> bool:
    """End every process with that mark; whether none is left. Where the system does not tell environments, nothing is
    found. One that has cleared its environment is not found either."""
    end = monotonic() + _SECONDS
    while found := marked(mark):
        if monotonic() > end:
            return False
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        sleep(_PAUSE_SECONDS)
    return True


def marked(mark: str) -> list[int]:
    """The processes that were started with the mark, and are more than a line in the system's table."""
    wanted = f"{MARK}={mark}".encode()
    try:
        names = [name for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return []
    return [int(name) for name in names if int(name) != os.getpid() and _has(name, wanted)]


def _has(pid: str, wanted: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return wanted in file.read().split(b"\0")  # of a process that has ended, it is empty
    except OSError:
        return False  # it has just ended, or is another user's
