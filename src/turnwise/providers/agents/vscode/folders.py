"""Where the agents of VS Code work: a folder for each window, below a root that VS Code lets agents edit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....errors import SetupError
from ....programs.removal import removed
from ....targets.on_disk import hidden_part, home_of

__all__ = ["AgentFolder", "agent_root", "gone"]

_USUAL_ROOT = "turnwise-agents"


@dataclass(frozen=True, slots=True)
class AgentFolder:
    """The folder of one window. All that is in it is ours: it is emptied for each request."""

    path: Path

    @property
    def name(self) -> str:
        """Its name, which is also the window's."""
        return self.path.name

    @property
    def workspace_file(self) -> Path:
        """What VS Code opens."""
        return self.path / f"{self.name}.code-workspace"

    @property
    def lock(self) -> Path:
        """Held by whoever has claimed the folder; also the sign that the folder is ours. It is not in the folder, where
        an agent could replace it."""
        return self.path.parent / "locks" / f"{self.name}.lock"

    @property
    def unanswered(self) -> Path:
        """Says which answers VS Code may still be at work on."""
        return self.path / "unanswered.json"

    @property
    def woken(self) -> Path:
        """There once the agent of this folder has shown a sign of life."""
        return self.path / "woken"

    @property
    def messages(self) -> Path:
        """Requests and answers."""
        return self.path / "messages"

    @property
    def kept(self) -> Path:
        """Requests whose answers nobody waits for."""
        return self.path / "kept"

    @property
    def archive(self) -> Path:
        """Where these go when the folder is used again: no request may see another."""
        return self.path.parent / "kept"

    @property
    def modes(self) -> Path:
        """Where VS Code looks for chat modes of this workspace."""
        return self.path / ".github" / "agents"

    def is_work(self, relative: str) -> bool:
        """Whether a path in the folder is the agent's work, and not our own book-keeping.

        >>> folder = AgentFolder(Path("/agents/agent-1"))
        >>> folder.is_work("src/a.py"), folder.is_work("messages/1_res.md"), folder.is_work("woken")
        (True, False, False)
        """
        ours = (self.unanswered, self.woken, self.messages, self.kept, self.workspace_file)
        return relative.partition("/")[0] not in {each.name for each in ours}

    def empty(self) -> None:
        """Remove what the request before left; what nobody waited for goes to the archive. Raises `SetupError`."""
        self._archive()
        # VS Code has the workspace file and the modes open: these are changed only where they must.
        staying = {self.unanswered, self.woken, self.workspace_file, self.modes.parent}
        for path in self.path.iterdir():
            if path not in staying and not gone(path):
                raise SetupError(
                    f"{path} was left by an earlier request, and cannot be removed",
                    hint="remove it by hand; no request may see the files of another",
                )
        self.messages.mkdir()

    def _archive(self) -> None:
        if self.kept.is_dir() and not self.kept.is_symlink():
            self.archive.mkdir(exist_ok=True)
            for each in self.kept.iterdir():
                each.rename(self.archive / each.name)


def agent_root(target: Any, project: Path, environment: Mapping[str, str]) -> Path:
    """The folder for the agents' folders. Raises `SetupError` for one in which VS Code would ask for each edit."""
    home = home_of(environment)
    usual = home / _USUAL_ROOT / target.provider
    root = usual if target.agent_root is None else (project / _at_home(target.agent_root, home)).resolve()
    hidden = hidden_part(root, home)
    if hidden is not None:
        raise SetupError(
            f"target {target.name!r}: `agent_root` {root} is in the hidden folder {hidden!r}: VS Code asks for "
            "permission for each edit there, and nobody would answer",
            hint=f"choose a folder without a dot, such as {usual}",
        )
    return root


def _at_home(written: str, home: Path) -> Path:
    """`~` is the HOME of the run's environment."""
    first, _, rest = written.partition("/")
    return home / rest if first == "~" else Path(written)


def gone(path: Path) -> bool:
    """Remove whatever is there, and no more than that: a link goes, not what it leads to. Says whether it is gone."""
    if path.is_dir() and not path.is_symlink():
        return removed(path)
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return False
    return True
