"""Programs that a `cli` target can name by `recipe`, instead of writing their command. Each is imported when wanted."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..kind import AgentKind

__all__ = ["RECIPES", "recipe_kind"]

RECIPES = {
    "aider": ("aider", "Aider"),
    "copilot": ("copilot", "Copilot"),
    "gemini-cli": ("gemini_cli", "GeminiCli"),
    "opencode": ("opencode", "OpenCode"),
}
"""The module and the class of each recipe."""


def recipe_kind(name: str) -> AgentKind:
    """What is known of the program of a recipe.

    >>> recipe_kind("gemini-cli").program
    'gemini'
    """
    module, kind = RECIPES[name]
    made: AgentKind = getattr(import_module(f".{module}", __name__), kind)()
    return made
