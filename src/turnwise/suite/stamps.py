"""What tells that a file has changed, without reading it."""

from __future__ import annotations

import os
from pathlib import Path

from ..diagnostics import Diagnostic
from ..errors import SuiteError

__all__ = ["Stamp", "file_stamp", "refuse_changed_file"]

Stamp = tuple[int, int, int] | None


def file_stamp(path: Path) -> Stamp:
    """Its place on the disk, its size and when it was written; None if it cannot be found."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def refuse_changed_file(path: Path, stamp: Stamp, file: str) -> None:
    """Raise `SuiteError` if a file is not what it was when it was read."""
    if file_stamp(path) != stamp:
        message = "the file has changed since it was read"
        hint = "undo the change and resume the run, or start a new one"
        raise SuiteError([Diagnostic("error", "file-changed", message, file, hint=hint)])
