"""The program that another program starts as: it sets bounds, and becomes the other one.

Run by path, with nothing of Turnwise imported. Setting bounds between fork and exec of the parent would not be safe
beside its threads.
"""

from __future__ import annotations

import os
import resource
import signal
import sys

__all__ = ["FAILED", "become"]

FAILED = 127
_MORE_PROCESSES = 512


def become(marker: str, cpu_seconds: int, command: list[str]) -> None:
    """Replace this process by the command. If that fails, the error's number follows the marker on stderr."""
    _bound(resource.RLIMIT_CORE, 0)
    _bound(resource.RLIMIT_CPU, cpu_seconds)
    threads = _threads_of_the_system()
    if threads is not None:
        # The system counts all that the user runs, whatever started it: the bound is on top of what there is.
        _bound(resource.RLIMIT_NPROC, threads + _MORE_PROCESSES)
    # Python ignores these, and what is ignored stays so: a program in a pipeline would go on when nobody reads.
    for each in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(each, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606
    except OSError as error:
        os.write(2, f"{marker}{error.errno}\n".encode())
        os._exit(FAILED)


def _bound(what: int, most: int) -> None:
    """Lower a bound; what is lower already stays so."""
    _, hard = resource.getrlimit(what)
    value = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (value, value))


def _threads_of_the_system() -> int | None:
    """How many threads there are now, of all users; None where the system does not tell."""
    try:
        with open("/proc/loadavg", encoding="ascii") as file:
            return int(file.read().split()[3].partition("/")[2])
    except (OSError, ValueError, IndexError):
        return None


if __name__ == "__main__":
    become(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
