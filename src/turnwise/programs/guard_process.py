"""The program of the guard: it reads which groups of processes and folders to watch, and ends what is left at the end.

Run by path, with nothing of Turnwise imported.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from typing import Any

__all__ = ["guard_all"]

_GRACE_SECONDS = 1.0


def guard_all() -> None:
    """Until the input ends, keep account; then ask the groups that are left to end, and make them; then remove the
    folders that are left."""
    watched: dict[str, set[Any]] = {"group": set(), "folder": set()}
    for line in sys.stdin:
        if not line.endswith("\n"):
            break  # who wrote it was killed in the middle
        verb, kind, which = json.loads(line)
        watched[kind].add(which) if verb == "watch" else watched[kind].discard(which)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for group in watched["group"]:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)
        if watched["group"] and number == signal.SIGTERM:
            time.sleep(_GRACE_SECONDS)
    for folder in watched["folder"]:
        if not os.path.islink(folder):
            with suppress(RecursionError):
                shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    guard_all()
