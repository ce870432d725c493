"""A folder as it is at one moment, as far as that can be known in bounded time, memory and reading."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

__all__ = ["Picture", "Seen", "picture"]

_MOST_FILES = 50_000
_MOST_TEXT = 64 * 1024
_MOST_TEXT_IN_ALL = 32 * 1024 * 1024
_MOST_READ = 16 * 1024 * 1024
_MOST_READ_IN_ALL = 1024 * 1024 * 1024
_SECONDS = 30.0
_NOT_LOOKED_AT = frozenset({".git", "node_modules", "__pycache__", ".venv"})


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as it was. `text` is kept of small text files, to show what became of it."""

    digest: str
    size: int
    text: str | None


@dataclass(slots=True)
class Picture:
    """The files of a folder, by path. `missing` says why there may be more; None if this is all."""

    files: dict[str, Seen] = field(default_factory=dict)
    missing: str | None = None

    def without(self, is_left_out: Callable[[str], bool]) -> Picture:
        """The same without some of its files."""
        return Picture({path: seen for path, seen in self.files.items() if not is_left_out(path)}, self.missing)


def picture(folder: Path, is_over: Callable[[], bool] = lambda: False) -> Picture:
    """What is there now. Repositories' own files and installed packages are not looked at. Ends early if it `is_over`,
    and says so."""
    taken, book = Picture(), _Book(monotonic() + _SECONDS)
    for path, entry in _entries(folder, taken):
        if is_over() or monotonic() > book.deadline:
            taken.missing = f"the workspace was looked at for {_SECONDS:g} s only"
            break
        if len(taken.files) >= _MOST_FILES:
            taken.missing = f"only {_MOST_FILES:,} files of the workspace were looked at"
            break
        if (seen := book.seen(entry)) is not None:
            taken.files[path] = seen
    return taken


def _entries(folder: Path, taken: Picture) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """All files and links, with their paths in the folder; however deep, without recursion."""
    if folder.is_symlink():
        return  # an agent may put a link to anywhere in the place of its workspace
    waiting = [("", str(folder))]
    while waiting:
        prefix, place = waiting.pop()
        try:
            with os.scandir(place) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            taken.missing = f"a folder of the workspace could not be looked at: {error.strerror}"
            continue
        below = [(f"{prefix}{entry.name}/", entry.path) for entry in entries if _is_folder(entry)]
        waiting.extend(reversed(below))
        yield from ((f"{prefix}{entry.name}", entry) for entry in entries if not entry.is_dir(follow_symlinks=False))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and entry.name not in _NOT_LOOKED_AT


@dataclass(slots=True)
class _Book:
    """How much may still be read and kept."""

    deadline: float
    text_left: int = _MOST_TEXT_IN_ALL
    read_left: int = _MOST_READ_IN_ALL

    def seen(self, entry: os.DirEntry[str]) -> Seen | None:
        """A file or link; None for what is neither."""
        try:
            if entry.is_symlink():
                target = os.readlink(entry.path)
                return Seen(f"link:{target}", 0, f"link to {target}\n")
            if not entry.is_file(follow_symlinks=False):
                return None  # a socket or a pipe
            state = entry.stat(follow_symlinks=False)
            if state.st_size > min(_MOST_READ, self.read_left):
                # Too long to be read: that it is another one shows in its size and the time of its last change.
                return Seen(f"state:{state.st_size}:{state.st_mtime_ns}", state.st_size, None)
            return self._read(entry.path, state.st_size)
        except OSError:
            return Seen("unreadable", 0, None)

    def _read(self, path: str, size: int) -> Seen:
        # Neither a link that has just been put there is followed, nor a pipe waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            data = file.read(_MOST_READ)
        self.read_left -= len(data)
        text = _text(data) if size <= min(_MOST_TEXT, self.text_left) else None
        self.text_left -= len(text or "")
        return Seen(hashlib.blake2b(data, digest_size=20).hexdigest(), len(data), text)


def _text(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text
