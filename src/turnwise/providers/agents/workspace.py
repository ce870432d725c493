"""The folder of an agent: fresh for each request, with a HOME beside it, and removed whole when nobody needs it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from ...errors import SetupError

__all__ = ["Workspace", "WorkspaceMaker", "removed"]

_GIT_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Workspace:
    """The places of one request. `base` holds all of them but a `folder` that is the user's own."""

    base: Path
    folder: Path

    @property
    def home(self) -> Path:
        """The HOME of the agent."""
        return self.base / "home"

    @property
    def temp(self) -> Path:
        """Its folder for temporary files."""
        return self.base / "tmp"

    @property
    def scratch(self) -> Path:
        """Files of ours."""
        return self.base / "turnwise"


class WorkspaceMaker:
    """Makes workspaces for one target. What the template holds is taken once: no case can change it for the next."""

    def __init__(self, target: Any, root: Path) -> None:
        self._name = target.name
        self._cwd = _folder(target.cwd, root)
        self._template = _folder(target.workspace_template, root)
        self._revision: str | None = target.workspace_revision
        self._pristine: Path | None = None
        self._taking = Lock()

    @property
    def is_fresh(self) -> bool:
        """Whether each request has a folder of its own."""
        return self._cwd is None

    def check(self) -> None:
        """Raise `SetupError` for folders that are not there."""
        for key, folder in (("cwd", self._cwd), ("workspace_template", self._template)):
            if folder is not None and not folder.is_dir():
                what = "is not a folder" if folder.exists() else "does not exist"
                raise SetupError(f"target {self._name!r}: `{key}` {what}: {folder}", hint="paths start at the project")
        if self._revision is not None and self._template is None:
            raise SetupError(
                f"target {self._name!r}: `workspace_revision` needs `workspace_template`, the repository",
                hint="add `workspace_template: PATH`",
            )

    def make(self) -> Workspace:
        """A workspace. Raises `SetupError` if it cannot be made."""
        self.check()
        base = Path(tempfile.mkdtemp(prefix="turnwise-agent-")).resolve()
        workspace = Workspace(base, self._cwd or base / "workspace")
        try:
            for folder in (workspace.home, workspace.temp, workspace.scratch):
                folder.mkdir()
            if self._cwd is None:
                self._fill(workspace.folder)
        except BaseException:
            removed(base)
            raise
        return workspace

    def close(self) -> None:
        """Remove what was kept for the workspaces to come."""
        if self._pristine is not None:
            removed(self._pristine)
            self._pristine = None

    def _fill(self, folder: Path) -> None:
        if self._template is None:
            folder.mkdir()
        elif self._revision is not None:
            _checked_out(self._template, self._revision, folder, self._name)
        else:
            self._copied(self._taken(self._template), folder)

    def _taken(self, template: Path) -> Path:
        """The template as it was when first needed: an agent that finds its way to the original changes nothing."""
        with self._taking:  # workspaces are made by several threads
            if self._pristine is None:
                kept = Path(tempfile.mkdtemp(prefix="turnwise-template-")).resolve()
                try:
                    self._copied(template, kept / "template")
                except BaseException:
                    removed(kept)
                    raise
                self._pristine = kept
            return self._pristine / "template"

    def _copied(self, source: Path, folder: Path) -> None:
        try:
            shutil.copytree(source, folder, symlinks=True, ignore=_special_files)
        except (shutil.Error, OSError) as error:
            message = f"target {self._name!r}: `workspace_template` cannot be copied: {_first(error)}"
            raise SetupError(
                message, hint="check that its files can be read, and that there is room for a copy"
            ) from error


def removed(folder: Path) -> bool:
    """Remove a folder whatever an agent did to it; says whether it is gone."""

    def make_writable(_call: Callable[..., Any], path: str, _error: object) -> None:
        # A folder that cannot be written to keeps its files. What still cannot be removed is told by the answer.
        with suppress(OSError):
            for each in (os.path.dirname(path), path):
                if not os.path.islink(each):
                    os.chmod(each, stat.S_IRWXU)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)

    shutil.rmtree(folder, onerror=make_writable)
    return not folder.exists()


def _folder(written: str | None, root: Path) -> Path | None:
    return None if written is None else (root / Path(written).expanduser()).resolve()


def _special_files(folder: str, names: list[str]) -> set[str]:
    """Sockets and pipes, which cannot be copied."""
    paths = {name: Path(folder, name) for name in names}
    return {name for name, path in paths.items() if not (path.is_symlink() or path.is_file() or path.is_dir())}


def _checked_out(repository: Path, revision: str, folder: Path, name: str) -> None:
    """A working tree at a revision, with a repository of its own that borrows the other's objects: what an agent
    commits, stashes or configures stays in it."""

    def git(*arguments: str) -> str:
        return _git(arguments, name, repository, revision)

    # A branch of the original is none of the clone's.
    commit = git("-C", str(repository), "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    git("clone", "--quiet", "--shared", "--no-checkout", "--", str(repository), str(folder))
    git("-C", str(folder), "checkout", "--quiet", "--detach", commit)
    git("-C", str(folder), "remote", "remove", "origin")


def _git(arguments: tuple[str, ...], name: str, repository: Path, revision: str) -> str:
    quiet = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_LFS_SKIP_SMUDGE": "1"}
    quiet = {key: value for key, value in quiet.items() if key not in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")}
    try:
        done = subprocess.run(  # noqa: S603
            ["git", *arguments],  # noqa: S607
            env=quiet, stdin=subprocess.DEVNULL, capture_output=True, timeout=_GIT_SECONDS, check=False,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise SetupError(f"target {name!r}: `workspace_revision` needs git", hint="install git") from error
    except subprocess.TimeoutExpired as error:
        raise SetupError(f"target {name!r}: git took longer than {_GIT_SECONDS:g} s", hint="try it by hand") from error
    if done.returncode:
        said = " ".join(done.stderr.decode("utf-8", "replace").split())[-300:]
        message = f"target {name!r}: there is no working tree of {revision!r} of {repository}: {said}"
        raise SetupError(message, hint="`workspace_template` must be a git repository that has `workspace_revision`")
    return done.stdout.decode("utf-8", "replace").strip()


def _first(error: Exception) -> str:
    """The first reason of an error that may hold thousands."""
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list) and error.args[0]:
        source, _, reason = error.args[0][0]
        return f"{source}: {reason}"
    return str(error)
