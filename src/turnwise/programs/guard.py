"""A small process that outlives us, to end the programs that we can no longer end ourselves.

Whoever is killed cannot tidy up. The guard is told of each group of processes that we start; when its pipe closes,
because we have ended in whatever way, it ends the groups that are left, and removes the folders that were ours.
"""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock

__all__ = ["Guard", "guard"]

_END_SECONDS = 5.0
_PROGRAM = Path(__file__).with_name("guard_process.py")


class Guard:
    """Started with the first group. One that cannot be started, or has ended, guards nothing: programs run all the
    same, and end with us unless we are killed."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._tried = False

    def watch(self, group: int) -> None:
        """End the group when we are gone."""
        self._tell("watch", "group", group)

    def forget(self, group: int) -> None:
        """The group has ended: its number may soon be somebody else's."""
        self._tell("forget", "group", group)

    def watch_place(self, folder: Path) -> None:
        """End what has the folder's name as its mark, and remove the folder, when we are gone."""
        self._tell("watch", "place", str(folder))

    def forget_place(self, folder: Path) -> None:
        """The folder is gone, or is to stay."""
        self._tell("forget", "place", str(folder))

    def close(self) -> None:
        """Let it end what is left, and itself."""
        with self._lock:
            process, self._process = self._process, None
            if process is not None and process.stdin is not None:
                with suppress(OSError):
                    process.stdin.close()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_END_SECONDS)

    def _tell(self, verb: str, kind: str, which: int | str) -> None:
        line = json.dumps([verb, kind, which]).encode("ascii") + b"\n"
        with self._lock, suppress(OSError):
            if not self._tried:
                self._tried = True
                self._process = _started()
            if self._process is not None and self._process.stdin is not None:
                self._process.stdin.write(line)


def _started() -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-I", "-S", str(_PROGRAM)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        start_new_session=True,  # what ends our group must not end it
    )


@cache
def guard() -> Guard:
    """The guard of this process."""
    made = Guard()
    atexit.register(made.close)
    return made
