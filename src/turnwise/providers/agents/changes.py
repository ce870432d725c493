"""What an agent changed in its workspace: a picture of the folder before, and the difference to it after."""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

__all__ = ["Change", "Changes", "Seen", "changes_between", "changes_since", "picture"]

ChangeKind = Literal["added", "modified", "deleted"]

_MOST_FILES = 50_000
_MOST_TEXT = 64 * 1024
_MOST_TEXT_IN_ALL = 32 * 1024 * 1024
_MOST_DIFF = 100_000
_NOT_LOOKED_AT = frozenset({".git", "node_modules", "__pycache__", ".venv"})


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as it was. `text` is kept of small text files, to show what became of it."""

    digest: str
    size: int
    text: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """A file that is not what it was."""

    path: str
    kind: ChangeKind


@dataclass(frozen=True, slots=True)
class Changes:
    """All files that changed, and the difference as a unified diff. `note` says what is not in it, and why."""

    files: tuple[Change, ...] = ()
    diff: str = ""
    note: str | None = None


def picture(folder: Path) -> dict[str, Seen]:
    """The files of a folder, by path. Repositories' own files and installed packages are not looked at."""
    left = _MOST_TEXT_IN_ALL
    seen: dict[str, Seen] = {}
    for path in _files(folder):
        found = _seen(path, keep=left > 0)
        if found is not None:
            seen[path.relative_to(folder).as_posix()] = found
            left -= len(found.text or "")
        if len(seen) >= _MOST_FILES:
            break
    return seen


def changes_since(before: Mapping[str, Seen], folder: Path) -> Changes:
    """What is other than in the picture."""
    return changes_between(before, picture(folder))


def changes_between(before: Mapping[str, Seen], after: Mapping[str, Seen]) -> Changes:
    """What is other in the second picture than in the first."""
    found = [Change(path, _kind(path, before, after)) for path in sorted(before.keys() | after.keys())
             if path not in before or path not in after or before[path].digest != after[path].digest]  # fmt: skip
    parts: list[str] = []
    size = unshown = 0
    for change in found:
        part = _part(change, before.get(change.path), after.get(change.path))
        if size + len(part) > _MOST_DIFF:
            unshown += 1
            continue
        parts.append(part)
        size += len(part)
    return Changes(tuple(found), "".join(parts), _note(unshown, len(before), len(after)))


def _note(unshown: int, *counts: int) -> str | None:
    notes = []
    if unshown:
        notes.append(f"{unshown} changed {'file is' if unshown == 1 else 'files are'} too long to be shown in the diff")
    if max(counts) >= _MOST_FILES:
        notes.append(f"only the first {_MOST_FILES:,} files of the workspace were looked at")
    return "; ".join(notes) or None


def _kind(path: str, before: Mapping[str, Seen], after: Mapping[str, Seen]) -> ChangeKind:
    if path not in before:
        return "added"
    return "modified" if path in after else "deleted"


def _files(folder: Path) -> Iterator[Path]:
    if folder.is_symlink():
        return  # an agent may put a link to anywhere in the place of its workspace
    for root, folders, files in os.walk(folder):
        linked = [name for name in folders if os.path.islink(os.path.join(root, name))]
        folders[:] = sorted(name for name in folders if name not in _NOT_LOOKED_AT and name not in linked)
        for name in sorted([*files, *linked]):
            yield Path(root, name)


def _seen(path: Path, *, keep: bool) -> Seen | None:
    try:
        if path.is_symlink():
            target = os.readlink(path)
            return Seen(f"link:{target}", 0, f"link to {target}\n")
        if not path.is_file():
            return None  # a socket or a pipe
        size = path.stat().st_size
        if size > _MOST_TEXT or not keep:
            with path.open("rb") as file:
                return Seen(hashlib.file_digest(file, "sha256").hexdigest(), size, None)
        data = path.read_bytes()
    except OSError:
        return Seen("unreadable", 0, None)
    return Seen(hashlib.sha256(data).hexdigest(), len(data), _text(data))


def _text(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _part(change: Change, before: Seen | None, after: Seen | None) -> str:
    old, new = (None if before is None else f"a/{change.path}"), (None if after is None else f"b/{change.path}")
    if (before is not None and before.text is None) or (after is not None and after.text is None):
        sizes = f"{'nothing' if before is None else f'{before.size:,} bytes'} → " + (
            "nothing" if after is None else f"{after.size:,} bytes"
        )
        return f"--- {old or '/dev/null'}\n+++ {new or '/dev/null'}\n(not shown: {sizes})\n"
    lines = difflib.unified_diff(
        _lines(before), _lines(after), old or "/dev/null", new or "/dev/null", n=3, lineterm="\n"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(seen: Seen | None) -> list[str]:
    return [] if seen is None or seen.text is None else seen.text.splitlines(keepends=True)
