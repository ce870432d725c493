"""Providers of other packages, announced as entry points of the group `turnwise.providers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from ..errors import UsageError
from .settings import TargetBase

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["PROVIDER_GROUP", "ProviderPlugin", "find_plugin", "plugin_names"]

PROVIDER_GROUP = "turnwise.providers"


class ProviderPlugin(Protocol):
    """What an entry point leads to: an object, a class or a module."""

    target_model: type[TargetBase]
    """The settings that the provider's targets take."""

    def open(self, resolved: Any, providers: Any) -> Any:
        """A `turnwise.providers.base.Provider` for a `ResolvedTarget`; `providers` shares its connections."""
        ...


def plugin_names() -> list[str]:
    """The names of all providers that installed packages announce."""
    return sorted({point.name for point in _entry_points()})


def find_plugin(name: str) -> ProviderPlugin | None:
    """The provider of that name, or None if no package announces one.

    Raises `UsageError` for a package that cannot be imported, or whose provider is not of the right shape.
    """
    for point in _entry_points():
        if point.name == name:
            return _loaded(point)
    return None


def _entry_points() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return list(entry_points(group=PROVIDER_GROUP))


def _loaded(point: EntryPoint) -> ProviderPlugin:
    try:
        plugin = point.load()
    except Exception as error:
        # Whatever another package does when it is imported.
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise _unusable(point, f"cannot be imported: {reason[:300]}") from error
    model = getattr(plugin, "target_model", None)
    if not (isinstance(model, type) and issubclass(model, TargetBase)):
        raise _unusable(point, "has no `target_model` that is a class derived from TargetBase")
    if not callable(getattr(plugin, "open", None)):
        raise _unusable(point, "has no function `open`")
    return cast(ProviderPlugin, plugin)


def _unusable(point: EntryPoint, reason: str) -> UsageError:
    package = point.dist.name if point.dist is not None else point.value
    return UsageError(
        f"the provider {point.name!r} of the package {package!r} {reason}",
        f"update or uninstall {package}, or install what it needs",
    )
