"""Files that an agent left: whatever it put in their place, they are read within bounds, and never waited for."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO

__all__ = ["plain_file", "read_at_most"]


def plain_file(path: Path) -> IO[bytes] | None:
    """A plain file, opened for reading; None if there is none, or a link, a pipe or a folder in its place. Raises
    `OSError` if it cannot be looked at."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    # Before it is opened as a file, which a folder cannot be.
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    return open(descriptor, "rb")


def read_at_most(path: Path, longest: int) -> bytes | None:
    """What a plain file holds; None if there is none, or if it is longer than `longest` bytes."""
    file = plain_file(path)
    if file is None:
        return None
    with file:
        data = file.read(longest + 1)
    return data if len(data) <= longest else None
