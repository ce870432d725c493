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

    if resolved.target.provider == "cli":
        from .cli import open_cli

        return open_cli(resolved, around)
    if resolved.target.provider in ("vscode", "vscode-insiders"):
        from .vscode.provider import VSCodeProvider

        return VSCodeProvider(resolved, around)
    return AgentProvider(agent_kind(resolved.target), resolved, around)


def agent_kind(target: Any) -> AgentKind:
    """What is known of the agent of a target."""
    if target.provider == "cli" and target.command is not None:
        from .cli import Cli

        return Cli(target)
    if target.provider == "cli":
        from .recipes import recipe_kind

        return recipe_kind(target.recipe)
    from .claude_code import ClaudeCode
    from .codex import Codex
    from .pi import Pi

    kinds: dict[str, type[ClaudeCode | Codex | Pi]] = {"claude-code": ClaudeCode, "codex": Codex, "pi": Pi}
    return kinds[target.provider]()
