"""The program of an agent: whether it is there, and which version it is; looked up once."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import SetupError
from .failures import not_installed
from .surroundings import agent_environment

if TYPE_CHECKING:
    import asyncio

    from .base import Surroundings
    from .kind import AgentKind

__all__ = ["ProgramFinder", "unusable", "version_in"]

_SECONDS = 30.0
_MOST_OUTPUT = 64 * 1024
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?[\w.+-]*")


class ProgramFinder:
    """Finds the program of a target."""

    def __init__(self, kind: AgentKind, target: Any, around: Surroundings) -> None:
        self._kind = kind
        self._target = target
        self._around = around
        self._version: asyncio.Task[str | None] | None = None

    @property
    def name(self) -> str:
        """The program as the target calls it."""
        return getattr(self._target, "executable", None) or self._kind.program

    def path(self) -> str:
        """Where the program is. Raises `SetupError`, with the command that installs it, if it is nowhere."""
        given = {**self._around.environment, **(self._target.env or {})}
        is_path = "/" in self.name
        wanted = str(self._around.root / Path(self.name).expanduser()) if is_path else self.name
        found = shutil.which(wanted, path=given.get("PATH"))
        if found is None and is_path:
            raise unusable(self._kind.title, Path(wanted), "executable" if self._kind.install else "command")
        if found is None:
            raise not_installed(self._kind, self.name)
        return found

    async def version(self) -> str | None:
        """Its version; None if it does not say. Raises `SetupError` if there is no such program."""
        import asyncio

        if not self._kind.install:
            return None  # nobody knows what such a program does with `--version`
        if self._version is None:
            self._version = asyncio.ensure_future(self._asked_version())
        return await asyncio.shield(self._version)

    async def _asked_version(self) -> str | None:
        from asyncio import to_thread

        from ...programs.places import leave_place, make_place
        from ...programs.program import Program
        from ...programs.running import ran

        path = self.path()
        try:
            home = await to_thread(make_place, "turnwise-version-")
        except OSError:
            return None
        given = agent_environment(
            self._target, self._around.environment, home=home, temp=home, variables={}
        )  # fmt: skip
        program = Program(
            command=(path, "--version"),
            folder=home,
            environment=given,
            seconds=_SECONDS,
            most_bytes=_MOST_OUTPUT,
            mark=home.name,
        )
        try:
            done = await ran(program)
        except (OSError, ValueError):
            return None
        finally:
            await to_thread(leave_place, home)
        return version_in((done.output + b"\n" + done.complaint).decode("utf-8", "replace"))


def unusable(title: str, path: Path, setting: str) -> SetupError:
    """The error for a path that leads to no program."""
    if not path.exists():
        return SetupError(f"{title} cannot be started: there is no file {path}", hint=f"correct `{setting}`")
    if path.is_dir():
        return SetupError(f"{title} cannot be started: {path} is a folder", hint=f"name the program in `{setting}`")
    return SetupError(
        f"{title} cannot be started: {path} may not be executed", hint=f"`chmod +x {path}`, or correct `{setting}`"
    )


def version_in(text: str) -> str | None:
    """The first thing in a text that looks like a version.

    >>> version_in("codex-cli 0.166.0"), version_in("2.1.197 (Claude Code)"), version_in("usage: …")
    ('0.166.0', '2.1.197', None)
    """
    found = _VERSION.search(text)
    return None if found is None else found[0].rstrip(".-+")
