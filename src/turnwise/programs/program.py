"""A foreign program, run within bounds: of time, of output, and of what it leaves behind.

Plain processes in threads rather than those of asyncio: they belong to no event loop, so they can also be ended when
the interpreter exits, and it is known when they are gone.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Literal

from .guard import guard
from .pipes import Pipes
from .strays import MARK, end_strays

if TYPE_CHECKING:
    from threading import Event

__all__ = ["Program", "Ran", "run_program"]

_LAUNCHER = Path(__file__).with_name("launcher.py")
_LOOK_SECONDS = 0.05
_GRACE_SECONDS = 1.0
# What a dead program wrote is in its pipes already; a child that left its group may hold them open for ever.
_DRAIN_SECONDS = 0.2
_BURIAL_SECONDS = 10.0

Ending = Literal["timeout", "too-much-output", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What to run. `most_bytes` bounds what it may write, to its output and to stderr each. `complaint_bytes` of
    stderr are kept, from its end. With a `mark`, which no
    other program has, processes that leave its group are ended, too."""

    command: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]
    seconds: float
    most_bytes: int
    complaint_bytes: int = 4096
    mark: str | None = None


@dataclass(frozen=True, slots=True)
class Ran:
    """How it went. `status` is negative for a signal; `ended` says why we ended it, `unstarted` why it did not start:
    an error number of the system's. `complaint` is the end of what it wrote to stderr."""

    status: int
    output: bytes = b""
    complaint: bytes = b""
    ended: Ending | None = None
    unstarted: int | None = None


def run_program(program: Program, given: bytes, stop: Event) -> Ran:
    """Run it to its end, with `given` as its input. When this returns, nothing of its process group is alive.

    Raises `OSError` or `ValueError` if there is no process to be had.
    """
    marker = f"launcher-{os.urandom(16).hex()}:"
    process = _started(program, marker)
    with _ended_at_last(process), closing(Pipes(process, given, program.most_bytes, program.complaint_bytes)) as pipes:
        ended = _watched(process, pipes, program.seconds, stop)
        _end(process)  # before its pipes are closed: writing to a closed one would kill it before it has tidied up
        if program.mark is not None:
            end_strays(program.mark)
    unstarted = None
    if pipes.complaint.startswith(marker.encode()):
        unstarted = int(pipes.complaint.decode().partition(":")[2])
    return Ran(process.returncode, bytes(pipes.output), pipes.complaint, ended, unstarted)


def _started(program: Program, marker: str) -> subprocess.Popen[bytes]:
    # If nobody is left to end it, the system does, unless it only sleeps.
    cpu_seconds = ceil(program.seconds * (os.cpu_count() or 1)) + 1
    launcher = [sys.executable, "-I", "-S", str(_LAUNCHER), marker, str(cpu_seconds)]
    return subprocess.Popen(  # noqa: S603
        [*launcher, *program.command],
        cwd=program.folder,
        env={**program.environment, **({} if program.mark is None else {MARK: program.mark})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        # A group of its own can be ended whole; and Ctrl-C in the terminal is for us.
        start_new_session=True,
    )


def _watched(process: subprocess.Popen[bytes], pipes: Pipes, seconds: float, stop: Event) -> Ending | None:
    deadline = monotonic() + seconds
    while process.poll() is None:
        left = deadline - monotonic()
        if pipes.is_too_much:
            return "too-much-output"
        if stop.is_set():
            return "stopped"
        if left <= 0:
            return "timeout"
        _wait(process, pipes, min(left, _LOOK_SECONDS))
    _signal(process, signal.SIGKILL)  # children that it left behind
    pipes.drain(monotonic() + _DRAIN_SECONDS)
    return "too-much-output" if pipes.is_too_much else None


def _wait(process: subprocess.Popen[bytes], pipes: Pipes, seconds: float) -> None:
    if pipes.are_open:
        pipes.serve(seconds)
    else:
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)


@contextmanager
def _ended_at_last(process: subprocess.Popen[bytes]) -> Iterator[None]:
    alive = _alive()
    alive.add(process)
    guard().watch(process.pid)
    try:
        yield
    finally:
        _end(process)
        alive.discard(process)
        guard().forget(process.pid)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask the group to end, and then make it."""
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_SECONDS)
    _signal(process, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):  # a process that hangs in the system's own code cannot be ended
        process.wait(_BURIAL_SECONDS)


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    # Safe after the leader is gone: its number is not given anew while its group has members, nor soon after.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


@cache
def _alive() -> set[subprocess.Popen[bytes]]:
    """The processes that run now; they end with the interpreter."""
    processes: set[subprocess.Popen[bytes]] = set()

    def kill_all() -> None:
        for process in list(processes):
            _signal(process, signal.SIGKILL)

    atexit.register(kill_all)
    return processes
