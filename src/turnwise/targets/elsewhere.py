"""Settings that other providers have: a key that is right elsewhere deserves more than "unknown key"."""

from __future__ import annotations

from dataclasses import replace

from ..diagnostics import Diagnostic
from .agentv import in_snake_case
from .models import PROVIDERS

__all__ = ["providers_with", "said_of_provider"]

_MOST_NAMED = 8


def providers_with(setting: str) -> list[str]:
    """The providers that take a setting, sorted.

    >>> providers_with("thinking_budget")
    ['anthropic', 'gemini']
    """
    return sorted(name for name, model in PROVIDERS.items() if setting in model.model_fields)


def said_of_provider(diagnostic: Diagnostic, provider: str, target_path: str) -> Diagnostic:
    """An unknown key of a target, said in the provider's words if other providers know the key."""
    key = diagnostic.path.removeprefix(f"{target_path}.")
    elsewhere = providers_with(in_snake_case(key)) if diagnostic.code == "unknown-key" else []
    if not elsewhere:
        return diagnostic
    named = elsewhere if len(elsewhere) <= _MOST_NAMED else [*elsewhere[:_MOST_NAMED], "others"]
    hint = f"remove it; it is a setting of {', '.join(named)}"
    return replace(diagnostic, message=f"{provider} takes no `{key}`", hint=hint)
