"""Graders of other packages, announced as entry points of the group `turnwise.graders`."""

from __future__ import annotations

from typing import Any, Protocol

from ..conversation.authored import FormatModel
from ..plugins import PluginGroup
from .base import Grader, GraderSettings

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


_PLUGINS = PluginGroup(GRADER_GROUP, "grader", model="options_model", function="make")


def plugin_names() -> list[str]:
    """The names of all graders that installed packages announce."""
    return _PLUGINS.names()


def find_plugin(name: str) -> GraderPlugin | None:
    """The grader of that name, or None if no package announces it. Raises `UsageError` if it cannot be used."""
    plugin: GraderPlugin | None = _PLUGINS.find(name, FormatModel)
    return plugin
