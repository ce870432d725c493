"""What targets need of the disk before anything is asked: folders and files that they name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UsageError
from .settings import TargetBase

__all__ = ["DiskProblem", "check_disk", "disk_problems", "hidden_part", "home_of"]

_EDITORS = ("vscode", "vscode-insiders")
_FROM_PROJECT = "paths start at the project"


@dataclass(frozen=True, slots=True)
class DiskProblem:
    """What is wrong with a setting; `hint` says what to do."""

    setting: str
    message: str
    hint: str


def check_disk(target: TargetBase, root: Path, environment: Mapping[str, str]) -> None:
    """Raise `UsageError` for the first thing that is wrong."""
    problem = next(disk_problems(target, root, environment), None)
    if problem is not None:
        raise UsageError(f"target {target.name!r}: {problem.message}", problem.hint)


def disk_problems(target: TargetBase, root: Path, environment: Mapping[str, str]) -> Iterator[DiskProblem]:
    """All that is wrong with the files and folders of a target, in the project at `root`. Of settings that hold
    variables, nothing is said."""
    if target.provider in _EDITORS:
        yield from _of_editor(target, root, environment)
    elif target.provider == "replay":
        yield from _no_folder(target, "sessions", root)
    elif "workspace_template" in type(target).model_fields:
        yield from _no_folder(target, "cwd", root)
        yield from _no_folder(target, "workspace_template", root)


def hidden_part(folder: Path, home: Path) -> str | None:
    """The hidden folder that a folder is in, or is; what is above the user's own folder does not count.

    >>> hidden_part(Path("/home/a/.x/agents"), Path("/home/a")), hidden_part(Path("/home/.a/b"), Path("/home/.a"))
    ('.x', None)
    """
    below = folder.relative_to(home) if folder.is_relative_to(home) else folder
    return next((part for part in below.parts if part.startswith(".")), None)


def home_of(environment: Mapping[str, str]) -> Path:
    """The user's own folder."""
    return Path(environment["HOME"] if environment.get("HOME") else Path.home()).resolve()


def _no_folder(target: Any, setting: str, root: Path) -> Iterator[DiskProblem]:
    path = _path(target, setting, root)
    if path is not None and not path.is_dir():
        what = "is not a folder" if path.exists() else "does not exist"
        yield DiskProblem(setting, f"`{setting}` {what}: {path}", _FROM_PROJECT)


def _of_editor(target: Any, root: Path, environment: Mapping[str, str]) -> Iterator[DiskProblem]:
    template = _path(target, "workspace_template", root)
    if template is not None and not template.exists():
        yield DiskProblem("workspace_template", f"`workspace_template` does not exist: {template}", _FROM_PROJECT)
    mode = _path(target, "mode", root)
    if mode is not None and mode.name.endswith(".md") and not mode.is_file():
        hint = f"{_FROM_PROJECT}; a mode of VS Code's own has no `.md` in its name"
        yield DiskProblem("mode", f"there is no file {mode} for `mode`", hint)
    agents = _path(target, "agent_root", root)
    if agents is not None and agents.exists() and not agents.is_dir():
        yield DiskProblem("agent_root", f"`agent_root` is not a folder: {agents}", "name a folder, which may be new")
    if agents is not None and (hidden := hidden_part(agents.resolve(), home_of(environment))) is not None:
        message = f"`agent_root` is in the hidden folder {hidden!r}: VS Code asks for permission for each edit there"
        yield DiskProblem("agent_root", message, "choose a folder without a dot")


def _path(target: Any, setting: str, root: Path) -> Path | None:
    written: str | None = getattr(target, setting)
    return None if written is None or "${{" in written else root / Path(written).expanduser()
