"""What an agent changed in its workspace: the difference between two pictures of it. Pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Literal

from .picture import Picture, Seen

__all__ = ["Change", "Changes", "changes_between"]

ChangeKind = Literal["added", "modified", "deleted"]

_MOST_NAMED = 1_000
_MOST_DIFF = 100_000
# Comparing takes time by the product of both lengths: a file of many lines in another order takes seconds.
_MOST_COMPARED = 4_000_000
_SECONDS = 10.0
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Change:
    """A file that is not what it was."""

    path: str
    kind: ChangeKind


@dataclass(frozen=True, slots=True)
class Changes:
    """The files that changed, and the difference as a unified diff. `note` says what is not in it, and why."""

    files: tuple[Change, ...] = ()
    diff: str = ""
    note: str | None = None


def changes_between(before: Picture, after: Picture, is_over: Callable[[], bool] = lambda: False) -> Changes:
    """What is other in the second picture than in the first. Of a picture that may lack files, nothing is concluded
    from what is not in it."""
    found = [Change(path, kind) for path in sorted(before.files.keys() | after.files.keys())
             if (kind := _kind(path, before, after)) is not None]  # fmt: skip
    parts: list[str] = []
    room, unshown, deadline = _MOST_DIFF, 0, monotonic() + _SECONDS
    for change in found:
        is_late = room <= 0 or is_over() or monotonic() > deadline
        part = "" if is_late else _part(change, before.files.get(change.path), after.files.get(change.path))
        if is_late or len(part) > room:
            unshown += 1
            continue
        parts.append(part)
        room -= len(part)
    return Changes(tuple(found[:_MOST_NAMED]), "".join(parts), _note(unshown, len(found), before, after))


def _kind(path: str, before: Picture, after: Picture) -> ChangeKind | None:
    old, new = before.files.get(path), after.files.get(path)
    if old is None:
        return "added" if before.missing is None else None
    if new is None:
        return "deleted" if after.missing is None else None
    return None if old.digest == new.digest else "modified"


def _note(unshown: int, count: int, *pictures: Picture) -> str | None:
    notes = [each.missing for each in pictures if each.missing is not None]
    if unshown:
        notes.append(f"{unshown} changed {'file does' if unshown == 1 else 'files do'} not fit into the diff")
    if count > _MOST_NAMED:
        notes.append(f"{count:,} files changed, of which {_MOST_NAMED:,} are named")
    return "; ".join(dict.fromkeys(notes)) or None


def _part(change: Change, before: Seen | None, after: Seen | None) -> str:
    old, new = (
        ("/dev/null" if before is None else f"a/{change.path}"),
        ("/dev/null" if after is None else f"b/{change.path}"),
    )
    if (before is not None and before.text is None) or (after is not None and after.text is None):
        return f"--- {old}\n+++ {new}\n(not shown: {_size(before)} → {_size(after)})\n"
    first, second = _lines(before), _lines(after)
    if len(first) * len(second) > _MOST_COMPARED:
        return f"--- {old}\n+++ {new}\n(not shown: {len(first):,} → {len(second):,} lines)\n"
    lines = difflib.unified_diff(first, second, old, new, n=3, lineterm="\n")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _size(seen: Seen | None) -> str:
    return "nothing" if seen is None else f"{seen.size:,} bytes"


def _lines(seen: Seen | None) -> list[str]:
    """Split at line feeds alone: other characters that part lines are part of them."""
    return [] if seen is None or seen.text is None else _LINE.findall(seen.text)
