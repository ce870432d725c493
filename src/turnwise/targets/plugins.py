"""Providers of other packages, announced as entry points of the group `turnwise.providers`."""

from __future__ import annotations

from typing import Any, Protocol

from ..plugins import PluginGroup
from .settings import TargetBase

__all__ = ["PROVIDER_GROUP", "ProviderPlugin", "find_plugin", "plugin_names"]

PROVIDER_GROUP = "turnwise.providers"


class ProviderPlugin(Protocol):
    """What an entry point leads to: an object, a class or a module."""

    target_model: type[TargetBase]
    """The settings that the provider's targets take."""

    def open(self, resolved: Any, providers: Any) -> Any:
        """A `turnwise.providers.base.Provider` for a `ResolvedTarget`; `providers` shares its connections."""
        ...


_PLUGINS = PluginGroup(PROVIDER_GROUP, "provider", model="target_model", function="open")


def plugin_names() -> list[str]:
    """The names of all providers that installed packages announce."""
    return _PLUGINS.names()


def find_plugin(name: str) -> ProviderPlugin | None:
    """The provider of that name, or None if no package announces it. Raises `UsageError` if it cannot be used."""
    plugin: ProviderPlugin | None = _PLUGINS.find(name, TargetBase)
    return plugin
