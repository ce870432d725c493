"""The model of each provider's targets, by the provider's name; a module is imported for the one that is asked for.

There are many of them, a project uses one or two, and to define them all takes longer than to read its files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .format import Target

__all__ = ["PROVIDERS"]

_HOMES = {
    "openai": ("chat_completions", "OpenAITarget"),
    "openai-responses": ("vendor_apis", "OpenAIResponsesTarget"),
    "azure": ("vendor_apis", "AzureTarget"),
    "anthropic": ("vendor_apis", "AnthropicTarget"),
    "gemini": ("vendor_apis", "GeminiTarget"),
    "bedrock": ("vendor_apis", "BedrockTarget"),
    "openrouter": ("chat_completions", "OpenRouterTarget"),
    "ollama": ("chat_completions", "OllamaTarget"),
    "http": ("applications", "HttpTarget"),
    "python": ("applications", "PythonTarget"),
    "local": ("local_model", "LocalTarget"),
    "mock": ("stand_ins", "MockTarget"),
    "replay": ("stand_ins", "ReplayTarget"),
    "cli": ("agents", "CliTarget"),
    "codex": ("agents", "CodexTarget"),
    "claude-code": ("agents", "ClaudeCodeTarget"),
    "pi": ("agents", "PiTarget"),
    "vscode": ("agents", "VSCodeTarget"),
    "vscode-insiders": ("agents", "VSCodeInsidersTarget"),
}


class _Models(Mapping[str, "type[Target]"]):
    """Looks like a dictionary of classes."""

    def __getitem__(self, provider: str) -> type[Target]:
        module, name = _HOMES[provider]
        model: type[Target] = getattr(import_module(f".{module}", __package__), name)
        return model

    def __contains__(self, provider: object) -> bool:
        return provider in _HOMES

    def __iter__(self) -> Iterator[str]:
        return iter(_HOMES)

    def __len__(self) -> int:
        return len(_HOMES)


PROVIDERS: Mapping[str, type[Target]] = _Models()
