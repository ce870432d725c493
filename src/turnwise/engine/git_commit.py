"""The commit of a project, read from its files: starting git would take longer than all the rest of a start."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["git_commit"]

_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


def git_commit(folder: Path) -> str | None:
    """The commit that is checked out around a folder; None if there is none, or none that can be told."""
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            try:
                return _head(_git_folder(candidate / ".git"))
            except (OSError, UnicodeDecodeError):
                return None
    return None


def _git_folder(path: Path) -> Path:
    """A work tree and a submodule have a file in its place, which says where the folder is."""
    if path.is_dir():
        return path
    return path.parent / path.read_text("utf-8").removeprefix("gitdir:").strip()


def _head(git: Path) -> str | None:
    head = (git / "HEAD").read_text("utf-8").strip()
    if not head.startswith("ref:"):
        return _commit(head)
    name = head.removeprefix("ref:").strip()
    shared = git / "commondir"
    common = git / shared.read_text("utf-8").strip() if shared.is_file() else git
    for place in (git / name, common / name):
        if place.is_file():
            return _commit(place.read_text("utf-8").strip())
    return _packed(common / "packed-refs", name)


def _packed(path: Path, name: str) -> str | None:
    if not path.is_file():
        return None
    with open(path, encoding="utf-8") as file:
        for line in file:
            commit, _, ref = line.strip().partition(" ")
            if ref == name:
                return _commit(commit)
    return None


def _commit(text: str) -> str | None:
    return text if _COMMIT.fullmatch(text) else None
