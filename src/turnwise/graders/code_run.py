"""Programs of graders: a few at a time."""

from __future__ import annotations

import asyncio
import os
from weakref import WeakKeyDictionary

from ..programs.program import Program, Ran
from ..programs.running import ran
from .base import GradeError

__all__ = ["code_ran", "waiting_room"]

_SHARED = ""

_rooms: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, int], asyncio.Semaphore]] = WeakKeyDictionary()


def waiting_room(name: str, workers: int | None) -> asyncio.Semaphore:
    """Where to wait until there is a place. All graders share as many as there are cores; one that says how many
    `workers` it wants has places under its own name."""
    rooms = _rooms.setdefault(asyncio.get_running_loop(), {})
    key = (_SHARED, os.cpu_count() or 1) if workers is None else (name, workers)
    return rooms.setdefault(key, asyncio.Semaphore(key[1]))


async def code_ran(program: Program, given: bytes) -> Ran | GradeError:
    """Run a grader's program, or say why that cannot be."""
    if os.name != "posix":
        return GradeError("not-available", "graders of the kind `code` need Linux or macOS; `python` works everywhere")
    if not program.folder.is_dir():
        return GradeError("not-found", f"there is no folder {program.folder} to run the grader in; check its `cwd`")
    try:
        return await ran(program, given)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return GradeError("cannot-start", f"the system starts no process for the grader: {reason}")
