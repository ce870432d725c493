"""What other packages add: entry points of a group, found by name, loaded when needed, and checked for their shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["PluginGroup", "plugins_are_loaded"]

_loaded_here: set[str] = set()


def plugins_are_loaded() -> bool:
    """Whether code of other packages is in this process by now."""
    return bool(_loaded_here)


@dataclass(frozen=True)
class PluginGroup:
    """The entry points of one group. What each leads to has a `model` of its settings, and a `function`.

    `word` is what such a thing is called in messages.
    """

    group: str
    word: str
    model: str
    function: str

    def names(self) -> list[str]:
        """The names that installed packages announce."""
        return sorted({point.name for point in self._points()})

    def find(self, name: str, base: type) -> Any:
        """What is announced under a name, or None. Its model must be a class derived from `base`.

        Raises `UsageError` for a package that cannot be imported, or whose plugin is not of the right shape.
        """
        point = next((point for point in self._points() if point.name == name), None)
        return None if point is None else self._loaded(point, base)

    def _points(self) -> list[EntryPoint]:
        from importlib.metadata import entry_points

        return list(entry_points(group=self.group))

    def _loaded(self, point: EntryPoint, base: type) -> Any:
        _loaded_here.add(point.value)
        try:
            plugin = point.load()
        except Exception as error:
            # Whatever another package does when it is imported.
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise self._unusable(point, f"cannot be imported: {reason[:300]}") from error
        model = getattr(plugin, self.model, None)
        if not (isinstance(model, type) and issubclass(model, base)):
            raise self._unusable(point, f"has no `{self.model}` that is a class derived from {base.__name__}")
        if not callable(getattr(plugin, self.function, None)):
            raise self._unusable(point, f"has no function `{self.function}`")
        return plugin

    def _unusable(self, point: EntryPoint, reason: str) -> UsageError:
        package = point.dist.name if point.dist is not None else point.value
        return UsageError(
            f"the {self.word} {point.name!r} of the package {package!r} {reason}",
            f"update or uninstall {package}, or install what it needs",
        )
