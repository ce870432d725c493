"""What can be said of an agent before it is asked: where its program is, its version, and how it gets at its model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from .opening import agent_kind
from .program_finder import ProgramFinder

if TYPE_CHECKING:
    from ...targets.resolve import ResolvedTarget
    from .base import Surroundings

__all__ = ["NO_KEY", "AgentState", "access_of", "agent_state", "finder_of"]

NO_KEY = "no key"


@dataclass(frozen=True, slots=True)
class AgentState:
    """An agent that was found. `access` says where its key or sign-in comes from, never what it is; None is unknown."""

    program: str
    version: str | None
    access: str | None

    def text(self) -> str:
        """In one line.

        >>> AgentState("/usr/bin/codex", "0.166.0", "key from OPENAI_API_KEY").text()
        'found /usr/bin/codex 0.166.0, key from OPENAI_API_KEY'
        """
        found = f"found {self.program}" + (f" {self.version}" if self.version else "")
        return f"{found}, {self.access}" if self.access else found

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Access:
    """The variables of an agent's keys, and the files of a sign-in: a variable that leads to the folder, the folder in
    HOME, and the file."""

    keys: tuple[str, ...]
    place: str
    folder: str
    file: str


_VENDORS = ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY")
_CLAUDE = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
_COPILOT = ("COPILOT_PROVIDER_API_KEY", "COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")
_ACCESS = {
    "aider": _Access((*_VENDORS, "AIDER_API_KEY"), "", "", ".aider.conf.yml"),
    "claude-code": _Access(_CLAUDE, "CLAUDE_CONFIG_DIR", ".claude", ".credentials.json"),
    "codex": _Access(("CODEX_API_KEY", "OPENAI_API_KEY"), "CODEX_HOME", ".codex", "auth.json"),
    "copilot": _Access(_COPILOT, "COPILOT_HOME", ".copilot", "config.json"),
    "gemini-cli": _Access(("GEMINI_API_KEY", "GOOGLE_API_KEY"), "", ".gemini", "oauth_creds.json"),
    "opencode": _Access(_VENDORS, "", ".local/share/opencode", "auth.json"),
    "pi": _Access(_VENDORS, "PI_CODING_AGENT_DIR", ".pi/agent", "auth.json"),
}


class _Finder(Protocol):
    def path(self) -> str: ...

    async def version(self) -> str | None: ...


async def agent_state(resolved: ResolvedTarget, around: Surroundings) -> AgentState | None:
    """What is known of the target's agent. None for one that `finder_of` does not look for. Raises
    `SetupError`, with the command that installs it, if its program is not there."""
    finder = finder_of(resolved.target, around)
    if finder is None:
        return None
    path = finder.path()
    return AgentState(path, await finder.version(), access_of(resolved, around.environment))


def finder_of(target: Any, around: Surroundings) -> _Finder | None:
    """What finds the program of a target; None for a command of one's own that only the workspace has, and for a
    VS Code to which nothing is sent."""
    if getattr(target, "dry_run", False) is True:
        return None
    if target.provider in ("vscode", "vscode-insiders"):
        from .vscode.command import CodeCommand

        return CodeCommand(target, around)
    kind = agent_kind(target)
    return ProgramFinder(kind, target, around) if kind.program else None


def access_of(resolved: ResolvedTarget, environment: Mapping[str, str]) -> str | None:
    """Where the agent's key or sign-in comes from, in words; None if nobody knows."""
    target: Any = resolved.target
    access = _ACCESS.get(getattr(target, "recipe", None) or target.provider)
    if access is None:
        return None
    if target.api_key:
        variable = resolved.variables.get("api_key")
        return f"key from {variable}" if variable else "key in the target"
    if (name := _given_key(access, target, environment)) is not None:
        return f"key from {name}"
    if target.inherit_config is True:
        return _signed_in(access, environment)
    return f"{NO_KEY}, for a server of your own" if target.base_url else NO_KEY


def _given_key(access: _Access, target: Any, environment: Mapping[str, str]) -> str | None:
    """The first variable of a key that the agent sees."""
    passed = {name for name in target.pass_env or () if environment.get(name)}
    seen = passed | {name for name, value in (target.env or {}).items() if value}
    return next((name for name in access.keys if name in seen), None)


def _signed_in(access: _Access, environment: Mapping[str, str]) -> str:
    """A sign-in may also be where no file tells of it, such as the system's key ring."""
    own = environment.get(access.place) if access.place else None
    folder = Path(own) if own else Path(environment.get("HOME") or Path.home()) / access.folder
    file = folder / access.file
    return f"signed in by {file}" if file.is_file() else f"sign-in unknown: there is no {file}"
