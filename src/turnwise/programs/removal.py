"""Removing a folder, whatever an agent did to it, and nothing above or beside it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import Any

__all__ = ["removed"]

_TRIES = 3
_PAUSE_SECONDS = 0.1
_RM_SECONDS = 60.0


def removed(folder: Path) -> bool:
    """Remove a folder; says whether it is gone. A link in its place is removed, and not what it leads to."""
    for attempt in range(_TRIES):
        if attempt:
            sleep(_PAUSE_SECONDS)  # somebody may still be writing there
        if folder.is_symlink():
            with suppress(OSError):
                folder.unlink()
        elif folder.exists():
            _remove(folder)
        if not os.path.lexists(folder):
            return True
    return False


def _remove(folder: Path) -> None:
    top = str(folder)  # a text, as everything below is given to the handler

    def make_writable(_call: Callable[..., Any], path: str, _error: object) -> None:
        # A folder that cannot be written to keeps its files. What is above ours is none of our business.
        with suppress(OSError):
            for each in (os.path.dirname(path), path):
                if (each == top or each.startswith(f"{top}{os.sep}")) and not os.path.islink(each):
                    os.chmod(each, stat.S_IRWXU)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)

    try:
        shutil.rmtree(top, onerror=make_writable)
    except RecursionError:
        # Deeper than Python's own way can follow.
        with suppress(OSError, subprocess.TimeoutExpired):
            command = ["rm", "-rf", "--", top]
            subprocess.run(command, check=False, timeout=_RM_SECONDS, capture_output=True)  # noqa: S603
