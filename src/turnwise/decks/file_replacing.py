"""A file is replaced whole or not at all, and only by what was read back and found right."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..conversation.files import shown_file
from ..errors import UsageError

__all__ = ["alone", "replace_file"]


def replace_file(path: Path, data: bytes, check: Callable[[Path], None]) -> None:
    """Put `data` into the file, which keeps its mode; a link keeps leading where it led.

    `check` is given a draft of the same name, and raises if it must not take the file's place. Raises `UsageError` if
    the file cannot be written.
    """
    goal = Path(os.path.realpath(path))
    try:
        folder = Path(tempfile.mkdtemp(prefix=".turnwise-", dir=goal.parent))
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        draft = folder / path.name
        try:
            _write(draft, data, goal)
            check(draft)
            os.replace(draft, goal)
            _sync(goal.parent)
        except OSError as error:
            raise _unwritable(path, error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Two that change files of one folder do so one after the other. The lock is the kernel's, on the folder."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    try:
        folder = os.open(Path(os.path.realpath(path)).parent, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _write(draft: Path, data: bytes, goal: Path) -> None:
    with open(draft, "wb") as file:
        if goal.exists():
            os.chmod(file.fileno(), stat.S_IMODE(goal.stat().st_mode))
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Or the old file could be back after a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unwritable(path: Path, error: OSError) -> UsageError:
    reason = error.strerror or str(error)
    return UsageError(f"{shown_file(path)} cannot be written: {reason}", "check the permissions and the space there")
