"""Runs the `code` command. It may start VS Code, which must live on: nothing of that is bounded or ended here.

That is why it is not run like other programs, whose whole process group ends with them. Its output goes to files, not
to pipes: a VS Code that it starts may keep them open.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic
from typing import IO, TYPE_CHECKING

from ....programs.own_thread import in_own_thread

if TYPE_CHECKING:
    from threading import Event

__all__ = ["Called", "call"]

_MOST_READ = 1024 * 1024
_MOST_WRITTEN = 64 * 1024 * 1024
_LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Called:
    """How a command went; `status` is None if it was ended because it took too long, or wrote too much."""

    status: int | None
    output: str
    complaint: str


async def call(command: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float) -> Called:
    """Run a command to its end. If this is cancelled, the command is ended first. Raises `OSError` or `ValueError` if
    it cannot be started."""
    import asyncio
    from threading import Event

    stop = Event()
    running = asyncio.ensure_future(
        in_own_thread(lambda: _called(command, folder, environment, seconds, stop), "turnwise-code")
    )
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([running])
        raise


def _called(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float, stop: Event
) -> Called:
    with TemporaryFile() as output, TemporaryFile() as complaint:
        process = subprocess.Popen(  # noqa: S603
            command,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=complaint,
            start_new_session=True,  # Ctrl-C in the terminal is for us, not for VS Code
        )
        status = _ended(process, monotonic() + seconds, stop, (output, complaint))
        return Called(status, _read(output), _read(complaint))


def _ended(process: subprocess.Popen[bytes], deadline: float, stop: Event, written: Sequence[IO[bytes]]) -> int | None:
    while monotonic() < deadline and not stop.is_set() and not any(map(_is_too_long, written)):
        with suppress(subprocess.TimeoutExpired):
            return process.wait(_LOOK_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return None


def _is_too_long(file: IO[bytes]) -> bool:
    return os.fstat(file.fileno()).st_size > _MOST_WRITTEN


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_MOST_READ).decode("utf-8", "replace")
