"""Work that may never end, in a process that can be ended: the only way to stop a regular expression in Python.

A few processes for all graders, started when they are first needed, ended with the interpreter. A job that takes too
long costs its process; the next job starts another one. They are asked through threads and belong to no event loop.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from queue import LifoQueue
from threading import Event, Lock, Timer
from typing import Any

from ..programs.own_thread import in_own_thread
from .base import GradeError

__all__ = ["Worker", "Workers", "bounded", "shared_workers"]

_START_SECONDS = 30.0
_GRACE_SECONDS = 1.0
_MOST_WORKERS = 4
_PROGRAM = Path(__file__).with_name("worker_process.py")


async def bounded(job: Mapping[str, Any], seconds: float) -> dict[str, Any] | GradeError:
    """Have one of the shared workers do a job; the event loop goes on meanwhile. A job that nobody waits for any more
    is not begun."""
    import asyncio

    cancelled = Event()
    try:
        return await in_own_thread(lambda: shared_workers().call(job, seconds, cancelled), "turnwise-worker")
    except asyncio.CancelledError:
        cancelled.set()
        raise


@cache
def shared_workers() -> Workers:
    """The workers of this program. `close` ends their processes before the interpreter does; they may be used again."""
    workers = Workers(min(_MOST_WORKERS, os.cpu_count() or 1))
    atexit.register(workers.close)
    return workers


class Workers:
    """Some workers, each a process that is started when it is first needed: one that is slow does not hold up all."""

    def __init__(self, count: int) -> None:
        self._all = [Worker() for _ in range(count)]
        self._free: LifoQueue[Worker] = LifoQueue()
        for worker in reversed(self._all):
            self._free.put(worker)

    def call(
        self, job: Mapping[str, Any], seconds: float, cancelled: Event | None = None
    ) -> dict[str, Any] | GradeError:
        """The answer to a job, by whichever worker is free; waiting does not count as its time."""
        worker = self._free.get()
        try:
            if cancelled is not None and cancelled.is_set():
                return GradeError("worker", "nobody waits for it any more")
            return worker.call(job, seconds)
        finally:
            self._free.put(worker)

    def close(self) -> None:
        """End the processes."""
        for worker in self._all:
            worker.close()


class Worker:
    """A process that does one job at a time, each within its time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def call(self, job: Mapping[str, Any], seconds: float) -> dict[str, Any] | GradeError:
        """The answer to a job; waiting for other jobs does not count as its time."""
        with self._lock:
            if self._process is None:
                failure = self._start()
                if failure is not None:
                    return failure
            return self._ask(job, seconds)

    def close(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            self._drop()

    def _start(self) -> GradeError | None:
        try:
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-I", "-S", "-W", "ignore", str(_PROGRAM)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            return GradeError("worker", f"the process that this grader needs cannot be started: {error.strerror}")
        ready = self._ask({"do": "start", "path": [each for each in sys.path if each]}, _START_SECONDS)
        return ready if isinstance(ready, GradeError) else None

    def _ask(self, job: Mapping[str, Any], seconds: float) -> dict[str, Any] | GradeError:
        process = self._process
        assert process is not None
        line, expired = _exchange(process, json.dumps({**job, "seconds": seconds}).encode("ascii") + b"\n", seconds)
        if expired or not line.endswith(b"\n"):
            self._drop()
        if not line.endswith(b"\n"):
            return _too_long(seconds) if expired else GradeError("worker", "the process that this grader needs ended")
        answer: dict[str, Any] = json.loads(line)
        return GradeError("worker", str(answer["failed"])) if "failed" in answer else answer

    def _drop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(OSError):  # closing sends what an ended process never read
            process.stdin.close()
        try:
            process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _exchange(process: subprocess.Popen[bytes], request: bytes, seconds: float) -> tuple[bytes, bool]:
    """The line that answers a request, or less of it if the process ended; and whether its time was over."""
    assert process.stdin is not None
    assert process.stdout is not None
    expired = Event()

    def end() -> None:
        expired.set()
        process.kill()

    timer = Timer(seconds, end)
    timer.daemon = True
    timer.start()
    line = b""
    try:
        with suppress(OSError):  # a pipe that broke is an answer that does not come
            process.stdin.write(request)
            process.stdin.flush()
            line = process.stdout.readline()
    finally:
        timer.cancel()
        timer.join()
    return line, expired.is_set()


def _too_long(seconds: float) -> GradeError:
    return GradeError("timeout", f"the check did not end within {seconds:g} seconds and was stopped")
