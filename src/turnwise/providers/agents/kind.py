"""What the base knows of one kind of agent: how it is started, and how its output is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ...programs.program import Ran
    from ..base import ProviderRequest
    from .document import Mirrored
    from .session import Session

__all__ = ["AgentKind", "Start", "Task"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One request, and where the agent works on it.

    `prompt` is the agent document. `folder` is the workspace, where the agent starts; `home` its HOME; `scratch` a
    folder for files of ours that are none of the workspace's. `target` is resolved: it holds secrets.
    """

    prompt: str
    folder: Path
    home: Path
    scratch: Path
    target: Any = field(repr=False)
    request: ProviderRequest
    files: tuple[Mirrored, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How the program is started. `command` begins with the program; `given` is its input; `variables` are set for it,
    and `files` written before it starts."""

    command: tuple[str, ...]
    given: bytes = b""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    files: Mapping[Path, str] = field(default_factory=dict, repr=False)


class AgentKind(Protocol):
    """One kind of agent. Pure: the base does what it says.

    `title` names it in messages, `program` is its usual executable, `install` the command that installs it.
    `signs_in` says what to do about one that has no key.
    """

    title: str
    program: str
    install: str
    signs_in: str

    @property
    def config_variables(self) -> tuple[str, ...]:
        """The variables that lead to the user's own configuration."""

    def start(self, task: Task) -> Start:
        """How the program is started for a task. Raises `SetupError` for settings that do not fit it."""

    def read(self, ran: Ran, task: Task) -> Session:
        """What the program said and did. Never raises for what it wrote."""
