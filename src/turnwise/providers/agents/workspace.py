"""The folder of an agent: fresh for each request, with a HOME beside it, and removed whole when nobody needs it."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock
from typing import Any

from ...errors import SetupError
from ...programs.places import leave_place, make_place
from .revision import checked_out
from .template import TemplateCopy

__all__ = ["Workspace", "WorkspaceMaker"]


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
        self._copies = TemplateCopy(target.name)
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

    def make(self, stop: Event | None = None) -> Workspace:
        """A workspace; `stop` ends the making. Raises `SetupError` if it cannot be made."""
        self.check()
        base = _temporary("turnwise-agent-")
        workspace = Workspace(base, self._cwd or base / "workspace")
        try:
            for folder in (workspace.home, workspace.temp, workspace.scratch):
                folder.mkdir()
            if self._cwd is None:
                self._fill(workspace.folder, stop or Event())
        except BaseException:
            leave_place(base)
            raise
        return workspace

    def close(self) -> None:
        """Remove what was kept for the workspaces to come."""
        if self._pristine is not None:
            leave_place(self._pristine)
            self._pristine = None

    def _fill(self, folder: Path, stop: Event) -> None:
        if self._template is None:
            folder.mkdir()
        elif self._revision is not None:
            checked_out(self._template, self._revision, folder, self._name, stop)
        else:
            self._copies.copy(self._taken(self._template, stop), folder, stop)

    def _taken(self, template: Path, stop: Event) -> Path:
        """The template as it was when first needed: an agent that finds its way to the original changes nothing."""
        with self._taking:  # workspaces are made by several threads
            if self._pristine is None:
                kept = _temporary("turnwise-template-")
                try:
                    TemplateCopy(self._name).copy(template, kept / "template", stop)
                except BaseException:
                    leave_place(kept)
                    raise
                self._pristine = kept
            return self._pristine / "template"


def _temporary(prefix: str) -> Path:
    try:
        return make_place(prefix)
    except OSError as error:
        message = f"no folder for an agent can be made in {tempfile.gettempdir()}: {error.strerror}"
        raise SetupError(message, hint="is there room? another place can be named by the variable TMPDIR") from error


def _folder(written: str | None, root: Path) -> Path | None:
    return None if written is None else (root / Path(written).expanduser()).resolve()
