"""Graders of other packages, announced as entry points of the group `turnwise.graders`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from ..conversation.authored import FormatModel
from ..errors import UsageError
from .base import Grader, GraderSettings

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["GRADER_GROUP", "GraderPlugin", "find_plugin", "plugin_names"]

GRADER_GROUP = "turnwise.graders"


class GraderPlugin(Protocol):
    """What an entry point leads to: an object, a class or a module. The entry point's name is the kind.

    `asks_model = True` beside these allows the setting `target`.
    """

    options_model: type[FormatModel]
    """The keys that the kind takes besides those of every grader; `kind: x` is short for `value: x`."""

    def make(self, options: Any, settings: GraderSettings) -> Grader:
        """A grader, for options that the model has validated."""
        ...


def plugin_names() -> list[str]:
    """The kinds that installed packages announce."""
    return sorted({point.name for point in _entry_points()})


def find_plugin(name: str) -> GraderPlugin | None:
    """The kind of that name, or None if no package announces one.

    Raises `UsageError` for a package that cannot be imported, or whose grader is not of the right shape.
    """
    for point in _entry_points():
        if point.name == name:
            return _loaded(point)
    return None


def _entry_points() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return list(entry_points(group=GRADER_GROUP))


def _loaded(point: EntryPoint) -> GraderPlugin:
    try:
        plugin = point.load()
    except Exception as error:
        # Whatever another package does when it is imported.
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise _unusable(point, f"cannot be imported: {reason[:300]}") from error
    model = getattr(plugin, "options_model", None)
    if not (isinstance(model, type) and issubclass(model, FormatModel)):
        raise _unusable(point, "has no `options_model` that is a class derived from FormatModel")
    if not callable(getattr(plugin, "make", None)):
        raise _unusable(point, "has no function `make`")
    return cast(GraderPlugin, plugin)


def _unusable(point: EntryPoint, reason: str) -> UsageError:
    package = point.dist.name if point.dist is not None else point.value
    return UsageError(
        f"the grader {point.name!r} of the package {package!r} {reason}",
        f"update or uninstall {package}, or install what it needs",
    )
