"""The program of the guard: it reads which groups of processes to watch, and ends those that are left at the end.

Run by path, with nothing of Turnwise imported.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress

__all__ = ["guard_groups"]

_GRACE_SECONDS = 1.0


def guard_groups() -> None:
    """Until the input ends, keep account; then ask what is left to end, and make it."""
    groups: set[int] = set()
    for line in sys.stdin:
        number = int(line[1:])
        groups.add(number) if line[0] == "+" else groups.discard(number)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for group in groups:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)
        if groups and number == signal.SIGTERM:
            time.sleep(_GRACE_SECONDS)


if __name__ == "__main__":
    guard_groups()
