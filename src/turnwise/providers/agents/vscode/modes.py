"""The chat mode of a target: one that VS Code knows by name, or a file of the project that describes one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ....errors import SetupError
from ..leftovers import read_at_most
from .dispatching import AGENT_MODE
from .folders import AgentFolder, gone

__all__ = ["Mode", "mode_of"]

_ENDINGS = (".md", ".agent", ".chatmode")


@dataclass(frozen=True, slots=True)
class Mode:
    """A chat mode; `file` describes it, if it is none of VS Code's own."""

    name: str
    file: Path | None = None

    def install(self, folder: AgentFolder) -> bool:
        """Put its file, and no other, where VS Code looks for it. Says whether VS Code must find a new one, which takes
        it seconds: so one that is there stays. Raises `OSError`."""
        wanted = {} if self.file is None else {folder.modes / f"{self.name}.agent.md": self.file.read_bytes()}
        place = folder.modes.parent
        if not place.is_symlink() and _holds(place, wanted):
            return False
        gone(place)
        folder.modes.mkdir(parents=True)
        for path, data in wanted.items():
            path.write_bytes(data)
        return bool(wanted)


def mode_of(target: Any, project: Path) -> Mode:
    """The mode of a target: agent mode if it names none. Raises `SetupError` for a file that is not there."""
    written: str = target.mode or AGENT_MODE
    if not written.endswith(".md"):
        return Mode(written)
    file = project / Path(written).expanduser()
    if not file.is_file():
        message = f"target {target.name!r}: there is no file {file} for its `mode`"
        raise SetupError(message, hint="paths start at the project; a mode of VS Code's own has no `.md` in its name")
    name = file.name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return Mode(name, file)


def _holds(folder: Path, wanted: Mapping[Path, bytes]) -> bool:
    """Whether these files, and no others, are in a folder; an agent may have left anything there."""
    found = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    if set(islice(found, len(wanted) + 1)) != set(wanted):
        return False
    return all(read_at_most(path, len(data)) == data for path, data in wanted.items())
