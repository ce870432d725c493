"""Folders for programs: each with a name that is also the mark of what is started in it, and gone when we are."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .guard import guard
from .removal import removed
from .strays import end_strays

__all__ = ["leave_place", "make_place", "place"]


def make_place(prefix: str) -> Path:
    """A fresh folder. If we are killed, what was started with its name as mark is ended, and it is removed. Raises
    `OSError` if it cannot be made."""
    folder = Path(tempfile.mkdtemp(prefix=prefix)).resolve()
    guard().watch_place(folder)
    return folder


def leave_place(folder: Path, *, keep: bool = False) -> bool:
    """End what is still at work there, and remove it, unless it is to stay; says whether it is still there."""
    end_strays(folder.name)
    is_there = keep or not removed(folder)
    guard().forget_place(folder)
    return is_there


@contextmanager
def place(prefix: str) -> Iterator[Path]:
    """A folder for what is done within."""
    folder = make_place(prefix)
    try:
        yield folder
    finally:
        leave_place(folder)
