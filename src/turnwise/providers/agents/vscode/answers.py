"""Answers of VS Code's agent: files that appear. What is in them is foreign, so reading is bounded."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from time import monotonic

from ....errors import ProtocolError, ProviderTimeoutError
from .texts import Letter

__all__ = ["appeared", "awaited_answer", "read_answer"]

_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 1.0
_GROWTH = 1.25
_SETTLE_SECONDS = 0.1
_EMPTY_SECONDS = 1.0
_MOST_BYTES = 16 * 1024 * 1024


async def appeared(path: Path, seconds: float) -> bool:
    """Wait until there is a file, and it has stopped growing; False if there is none in time.

    A file that is renamed is whole at once; an agent that writes under the final name may still be writing.
    """
    import asyncio

    deadline, pause = monotonic() + seconds, _FIRST_PAUSE
    while True:
        if (size := _size(path)) is not None:
            await asyncio.sleep(_SETTLE_SECONDS if size else _EMPTY_SECONDS)
            if _size(path) == size:
                return True
        left = deadline - monotonic()
        if left <= 0:
            return False
        await asyncio.sleep(min(pause, left))
        pause = min(pause * _GROWTH, _LONGEST_PAUSE)


async def awaited_answer(letter: Letter, seconds: float, title: str) -> str:
    """The text of the answer. Raises `ProviderTimeoutError` or `ProtocolError` if there is none."""
    if not await appeared(letter.answer, seconds):
        raise _late(letter, seconds, title)
    text = read_answer(letter.answer)
    if not text.strip():
        raise ProtocolError(f"{title} wrote an empty answer, {letter.answer.name}", hint="its chat shows what it did")
    return text


def read_answer(path: Path) -> str:
    """What a file says. Raises `ProtocolError` for what is no text, and for what is no file: no link is followed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ProtocolError(f"the answer {path} cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ProtocolError(f"the answer {path} is not a plain file")
    with open(descriptor, "rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ProtocolError(f"the answer {path} is longer than {_MOST_BYTES:,} bytes")
    try:
        return data.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise ProtocolError(f"the answer {path} is not UTF-8 text") from error


def _late(letter: Letter, seconds: float, title: str) -> ProviderTimeoutError:
    if letter.unfinished.exists():
        return ProviderTimeoutError(
            f"{title} wrote {letter.unfinished.name} within {seconds:g} s, and never renamed it: {letter.answer.name}",
            retryable=False,
            hint="may its agent run commands in the terminal without asking? its chat shows what it waits for",
        )
    return ProviderTimeoutError(
        f"{title} gave no answer within {seconds:g} s: there is no {letter.answer.name} in {letter.folder}",
        retryable=False,
        hint="its chat shows what it does or waits for; raise the target's `timeout` if it needs longer",
    )


def _size(path: Path) -> int | None:
    """How long a file is; None if there is none. A link that leads nowhere is there."""
    try:
        return path.lstat().st_size
    except OSError:
        return None
