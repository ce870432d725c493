"""A folder copied so that nothing in the copy leads back to the original, and checked to be the same each time."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Event

from ...errors import SetupError

__all__ = ["TemplateCopy"]

_BLOCK = 1 << 20


class TemplateCopy:
    """Copies of one folder. The first copy says what it holds; a later one that holds anything else is refused."""

    def __init__(self, name: str) -> None:
        self._what = f"target {name!r}: `workspace_template`"
        self._digests: dict[str, str] | None = None

    def copy(self, source: Path, folder: Path, stop: Event) -> None:
        """Copy the folder, unless it is stopped. Raises `SetupError` for what cannot be copied, or leads out of it."""
        digests: dict[str, str] = {}
        try:
            folder.mkdir()
            shutil.copystat(source, folder)
            for entry, relative in _walk(source):
                if stop.is_set():
                    raise SetupError(f"{self._what} was not copied: nobody waits for it any more")
                digests[relative] = self._copied(entry, source, folder / relative)
        except OSError as error:
            hint = "can its files be read, and is there room for a copy?"
            raise SetupError(f"{self._what} cannot be copied: {error}", hint=hint) from error
        if self._digests is None:
            self._digests = digests
        elif digests != self._digests:
            self._refuse_changed(digests)

    def _copied(self, entry: os.DirEntry[str], source: Path, place: Path) -> str:
        if entry.is_symlink():
            return self._linked(Path(entry.path), source, place)
        if entry.is_dir():
            place.mkdir()
            shutil.copystat(entry.path, place)
            place.chmod(place.stat().st_mode | 0o700)  # what is in it is still to be written
            return "folder"
        if not entry.is_file():
            return "special"  # a socket or a pipe, which belongs to a program
        if entry.name == ".git":
            self._refuse_pointer(Path(entry.path), source)
        return _copied_file(Path(entry.path), place)

    def _linked(self, link: Path, source: Path, place: Path) -> str:
        """Within the template, a link leads to the same place of the copy; a file elsewhere is copied; anything else
        would let a case change what it leads to."""
        target = Path(os.path.realpath(link))  # which takes a loop for what it is
        if target.is_relative_to(source):
            relative = os.path.relpath(target, link.parent)
            place.symlink_to(relative)
            return f"link:{relative}"
        if target.is_file() and not target.is_symlink():
            return _copied_file(target, place)
        raise SetupError(
            f"{self._what} holds a link that leads out of it: {link} → {target}",
            hint="a case could change what is there for the next one: put a copy in its place",
        )

    def _refuse_pointer(self, pointer: Path, source: Path) -> None:
        """The `.git` of a worktree or a submodule is a file that names the repository."""
        words = pointer.read_text("utf-8", "replace").partition("gitdir:")
        leads_to = (pointer.parent / words[2].strip()).resolve()
        if words[1] and not leads_to.is_relative_to(source):
            raise SetupError(
                f"{self._what} belongs to a repository outside of it: {pointer} names {leads_to}",
                hint="what an agent commits would be there for the next case: name the repository itself, and a "
                "`workspace_revision`; or use a copy without .git",
            )

    def _refuse_changed(self, digests: dict[str, str]) -> None:
        before = self._digests or {}
        other = sorted(path for path in before.keys() | digests.keys() if before.get(path) != digests.get(path))
        raise SetupError(
            f"{self._what}: the copy of it that is kept for this run was changed meanwhile: {other[0]}",
            hint="an agent has left its workspace; see the results before this one",
        )


def _walk(folder: Path) -> Iterator[tuple[os.DirEntry[str], str]]:
    """Everything below a folder, folders before what is in them, without recursion."""
    waiting = [(str(folder), "")]
    while waiting:
        place, prefix = waiting.pop()
        with os.scandir(place) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            yield entry, f"{prefix}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                waiting.append((entry.path, f"{prefix}{entry.name}/"))


def _copied_file(source: Path, place: Path) -> str:
    digest = hashlib.blake2b(digest_size=20)
    with source.open("rb") as read, place.open("wb") as written:
        while block := read.read(_BLOCK):
            digest.update(block)
            written.write(block)
    shutil.copystat(source, place)
    return f"{digest.hexdigest()}:{source.stat().st_mode:o}"
