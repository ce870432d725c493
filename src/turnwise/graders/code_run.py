"""Programs of graders beside the event loop: a few at a time, each gone when nobody waits for it any more."""

from __future__ import annotations

import asyncio
import os
from threading import Event
from weakref import WeakKeyDictionary

from .base import GradeError
from .own_thread import in_own_thread
from .program import Program, Ran, run_program

__all__ = ["ran", "waiting_room"]

_SHARED = ""

_rooms: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, int], asyncio.Semaphore]] = WeakKeyDictionary()


def waiting_room(name: str, workers: int | None) -> asyncio.Semaphore:
    """Where to wait until there is a place. All graders share as many as there are cores; one that says how many
    `workers` it wants has places under its own name."""
    rooms = _rooms.setdefault(asyncio.get_running_loop(), {})
    key = (_SHARED, os.cpu_count() or 1) if workers is None else (name, workers)
    return rooms.setdefault(key, asyncio.Semaphore(key[1]))


async def ran(program: Program, given: bytes) -> Ran | GradeError:
    """Run a program. If this is cancelled, the program is ended first, and then it is as cancelled as it should be."""
    if os.name != "posix":
        return GradeError("not-available", "graders of the kind `code` need Linux or macOS; `python` works everywhere")
    if not program.folder.is_dir():
        return GradeError("not-found", f"there is no folder {program.folder} to run the grader in; check its `cwd`")
    stop = Event()
    running = asyncio.ensure_future(in_own_thread(lambda: _ran(program, given, stop), "turnwise-code-grader"))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([running])
        raise


def _ran(program: Program, given: bytes, stop: Event) -> Ran | GradeError:
    try:
        return run_program(program, given, stop)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return GradeError("cannot-start", f"the system starts no process for the grader: {reason}")
