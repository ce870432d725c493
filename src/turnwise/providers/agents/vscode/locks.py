"""A file that one process at a time can hold.

The lock is the kernel's (`flock`): taking it is atomic, it ends with its process, however that ends, so there is no
stale one to be told from a live one by guesswork, and a file system that several hosts share keeps it for all of them.
The file itself is never removed: two processes could then each hold a lock on a file of the same name.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from ....errors import SetupError

__all__ = ["HeldLock", "take_lock"]

_TAKEN = frozenset({errno.EAGAIN, errno.EACCES})


class HeldLock:
    """A lock that is held until it is released."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    @property
    def is_held(self) -> bool:
        """Whether it is not released yet."""
        return self._descriptor is not None

    def release(self) -> None:
        """Let go of it; a second time does nothing."""
        if self._descriptor is not None:
            # Before it is free, or the note of the next holder would be lost.
            with suppress(OSError):
                os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None


def take_lock(path: Path) -> HeldLock | None:
    """The lock of a file, which is made if need be; None if another holds it. Raises `SetupError` where files cannot
    be locked."""
    try:
        # No link is followed: what an agent left there leads nowhere.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _sign(descriptor)
    except OSError as error:
        os.close(descriptor)
        if error.errno in _TAKEN:
            return None
        raise _unusable(path, error) from error
    except BaseException:
        os.close(descriptor)
        raise
    if not _is_at(descriptor, path):
        os.close(descriptor)
        return None
    return HeldLock(descriptor)


def _sign(descriptor: int) -> None:
    """Who holds it, for people; nothing is decided by it."""
    holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": datetime.now(UTC).isoformat()}
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps(holder).encode() + b"\n", 0)


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether the file that was locked is still the one of that name: an agent may have replaced it meanwhile."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def _unusable(path: Path, error: OSError) -> SetupError:
    return SetupError(
        f"{path} cannot be locked: {error.strerror}",
        hint="choose an `agent_root` that you may write to, on a disk of this machine",
    )
