"""What an agent still needs before it can be asked, as far as can be told without starting anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import SetupError
from .checking import NO_KEY, access_of, finder_of
from .opening import agent_kind

if TYPE_CHECKING:
    from ...targets.resolve import ResolvedTarget
    from .base import Surroundings

__all__ = ["AgentNeed", "agent_need"]

_VSCODE = ("vscode", "vscode-insiders")


@dataclass(frozen=True, slots=True)
class AgentNeed:
    """What is missing, in a few words, and what to do about it."""

    what: str
    hint: str | None = None


def agent_need(resolved: ResolvedTarget, around: Surroundings) -> AgentNeed | None:
    """What the target's agent lacks: its program or a key. None if nothing is known to be missing."""
    target: Any = resolved.target
    finder = finder_of(target, around)
    try:
        if finder is not None:
            finder.path()
    except SetupError as error:
        return _not_there(target, error)
    if access_of(resolved, around.environment) == NO_KEY:
        return AgentNeed(NO_KEY, agent_kind(target).signs_in)
    return None


def _not_there(target: Any, error: SetupError) -> AgentNeed:
    install = "" if target.provider in _VSCODE else agent_kind(target).install
    if install:
        return AgentNeed(f"not installed: {install}")
    return AgentNeed(f"not found: {str(error).rpartition(': ')[2]}", error.hint)
