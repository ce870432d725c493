"""Which class asks which agent. Each is imported when a target wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...targets.resolve import ResolvedTarget
    from ..base import Provider
    from .base import Surroundings
    from .kind import AgentKind

__all__ = ["AGENTS", "agent_kind", "open_agent"]

AGENTS = frozenset({"claude-code", "cli", "codex", "pi", "vscode", "vscode-insiders"})
"""The providers that run agents."""


def open_agent(resolved: ResolvedTarget, around: Surroundings) -> Provider:
    """The provider of an agent's target. Raises `UsageError` or `SetupError` if it cannot be made."""
    from .base import AgentProvider

    return AgentProvider(agent_kind(resolved.target), resolved, around)


def agent_kind(target: Any) -> AgentKind:  # noqa: ARG001
    """What is known of the agent of a target."""
    from .codex import Codex

    return Codex()
