"""The `code` command: whether it is there, and the few things that it is asked to do. No shell is between."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....errors import ApplicationError, ProviderTimeoutError, SetupError
from ....programs.environment import environment
from ....programs.words import how_it_ended, stderr_tail
from ..program_finder import unusable, version_in
from .calling import Called, call
from .folders import AgentFolder

if TYPE_CHECKING:
    from ..base import Surroundings

__all__ = ["TITLES", "CodeCommand", "code_environment", "shows_window"]

TITLES = {"vscode": "VS Code", "vscode-insiders": "VS Code Insiders"}
_PROGRAMS = {"vscode": "code", "vscode-insiders": "code-insiders"}
_SECONDS = 60.0
# What a program with windows needs. Keys for models are not among them.
_DESKTOP = re.compile(
    r"DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|SHELL|SSH_AUTH_SOCK|DBUS_SESSION_BUS_ADDRESS|DESKTOP_SESSION|"
    r"(?:HTTPS?|ALL|NO)_PROXY|(?:https?|all|no)_proxy|NODE_EXTRA_CA_CERTS|(?:VSCODE|XDG|ELECTRON|WSL)_\w+"
)


class CodeCommand:
    """The command of one target."""

    def __init__(self, target: Any, around: Surroundings) -> None:
        self.title = TITLES[target.provider]
        self.name: str = target.executable or _PROGRAMS[target.provider]
        self._root = around.root
        self._environment = code_environment(around.environment)
        self._version: str | None = None

    def path(self) -> str:
        """Where it is. Raises `SetupError`, with how to get it, if it is nowhere."""
        wanted = str(self._root / Path(self.name).expanduser()) if "/" in self.name else self.name
        found = shutil.which(wanted, path=self._environment.get("PATH"))
        if found is None and "/" in self.name:
            raise unusable(self.title, Path(wanted), "executable")
        if found is None:
            raise SetupError(
                f"{self.title} cannot be reached: there is no program {self.name!r} on the PATH",
                hint="run “Shell Command: Install 'code' command in PATH” in VS Code's command palette, "
                "or name the command in the target's `executable`",
            )
        return found

    async def version(self) -> str | None:
        """Its version, asked once; None if it does not say."""
        if self._version is None:
            said = await self._called(("--version",), self._root)
            self._version = version_in(said.output) if said.status == 0 else None
        return self._version

    async def is_open(self, folder: AgentFolder) -> bool:
        """Whether a window has the folder's workspace open."""
        said = await self._called(("--status",), folder.path)
        return said.status == 0 and shows_window(said.output, folder.name)

    async def open(self, folder: AgentFolder) -> str:
        """Open the folder's workspace, or bring its window to the front; what the command said."""
        return await self._done((str(folder.workspace_file),), folder, "WORKSPACE")

    async def chat(self, folder: AgentFolder, mode: str, files: Sequence[Path], prompt: str) -> str:
        """Start a chat in the window that was opened or brought to the front last; what the command said."""
        attached = [word for file in files for word in ("-a", str(file))]
        return await self._done(("-r", "chat", "-m", mode, *attached, prompt), folder, "chat")

    async def _done(self, arguments: Sequence[str], folder: AgentFolder, what: str) -> str:
        said = await self._called(arguments, folder.path)
        tail = stderr_tail(said.complaint)
        if said.status is None:
            message = f"`{self.name} {what}` did not end within {_SECONDS:g} s, or wrote too much, and was ended{tail}"
            raise ProviderTimeoutError(
                message, retryable=False, hint=f"is {self.title} waiting for an answer of yours?"
            )
        if said.status:
            message = f"`{self.name} {what}` {how_it_ended(said.status)}{tail}"
            raise ApplicationError(message, hint=f"`{self.name} chat` needs {self.title} 1.102 or later")
        return said.output + said.complaint

    async def _called(self, arguments: Sequence[str], folder: Path) -> Called:
        command = self.path()
        try:
            return await call((command, *arguments), folder, self._environment, _SECONDS)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise SetupError(f"{self.name!r} cannot be started: {reason}", hint="try it in a terminal") from error


def code_environment(known: Mapping[str, str]) -> dict[str, str]:
    """The variables for the command: those that a program with windows needs.

    >>> sorted(code_environment({"HOME": "/h", "DISPLAY": ":0", "OPENAI_API_KEY": "sk-1", "VSCODE_IPC_HOOK_CLI": "/s"}))
    ['DISPLAY', 'HOME', 'VSCODE_IPC_HOOK_CLI']
    """
    return environment({}, [name for name in known if _DESKTOP.fullmatch(name)], known)


def shows_window(status: str, name: str) -> bool:
    """Whether `code --status` tells of a window of that name.

    >>> shows_window("|  Window (agent-10 (Workspace) - Visual Studio Code)", "agent-1")
    False
    >>> shows_window("|  Window (a.md - agent-1 (Workspace) - Visual Studio Code)", "agent-1")
    True
    """
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", status) is not None
