"""Where things are in a file: the line and column of a path in its data, found only when there is something to say."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import Any, Protocol

import yaml

from ..diagnostics import NOWHERE, Place
from .paths import DataPath
from .yaml_reader import YamlLoader, shield_breaks

__all__ = ["JsonSource", "LineSource", "Source", "WholeFile", "YamlSource"]


class Source(Protocol):
    """A file that knows where its data stand. `file` is the name that people see."""

    @property
    def file(self) -> str: ...

    def place(self, path: DataPath, key: bool = False) -> Place:
        """The place of the value at `path`, or of its key; the nearest thing above it if it is not there."""
        ...


class YamlSource:
    """A YAML text."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text

    def place(self, path: DataPath, key: bool = False) -> Place:
        node = self._root
        if node is None:
            return self.at(0)
        mark = node.start_mark
        for depth, step in enumerate(path):
            pair = _yaml_child(node, step)
            if pair is None:
                break
            key_node, node = pair
            mark = (key_node if key and depth == len(path) - 1 and key_node is not None else node).start_mark
        return self.at(mark.index)

    def at(self, offset: int) -> Place:
        """The place of a character offset."""
        line = bisect_right(self._line_starts, offset)
        return Place.in_line(self.text, line, self._line_starts[line - 1], offset)

    @cached_property
    def _line_starts(self) -> list[int]:
        return _line_starts(self.text)

    @cached_property
    def _root(self) -> Any:
        try:
            return yaml.compose(shield_breaks(self.text)[0], Loader=YamlLoader)
        except yaml.YAMLError:
            return None


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\n", text))]


def _yaml_child(node: Any, step: str | int) -> tuple[Any, Any] | None:
    if isinstance(node, yaml.SequenceNode):
        return (None, node.value[step]) if isinstance(step, int) and step < len(node.value) else None
    if not isinstance(node, yaml.MappingNode):
        return None
    merged: list[Any] = []
    for key_node, value_node in node.value:
        if key_node.value == step:
            return key_node, value_node
        if key_node.value == "<<":
            merged += value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]
    return next((found for other in merged if (found := _yaml_child(other, step))), None)


class JsonSource:
    """A JSON text, or one line of a JSONL file."""

    def __init__(self, file: str, text: str, first_line: int = 1) -> None:
        self.file = file
        self.text = text
        self.first_line = first_line

    def place(self, path: DataPath, key: bool = False) -> Place:
        from .json_reader import locate_json

        return self.at(locate_json(self._index, path, key) if path else len(self.text) - len(self.text.lstrip()))

    def at(self, offset: int) -> Place:
        """The place of a character offset."""
        line = bisect_right(self._line_starts, offset)
        return Place.in_line(self.text, self.first_line + line - 1, self._line_starts[line - 1], offset)

    @cached_property
    def _line_starts(self) -> list[int]:
        return _line_starts(self.text)

    @cached_property
    def _index(self) -> dict[DataPath, tuple[int, int]]:
        from .json_reader import index_json

        return index_json(self.text)


# More than a person is ever shown of a line, and far less than a line may be.
_LONGEST_KEPT = 401


class LineSource:
    """A file of which only the line is known: a row of a CSV file."""

    __slots__ = ("_line", "_source", "file")

    def __init__(self, file: str, line: int, source: str | None = None) -> None:
        self.file = file
        self._line = line
        self._source = None if source is None else source[:_LONGEST_KEPT]

    def place(self, path: DataPath, key: bool = False) -> Place:  # noqa: ARG002  (a row has no finer places)
        return Place(self._line, 1, self._source).shortened()


class WholeFile:
    """A file of which only the name is known: a dataset that is a suite of its own."""

    def __init__(self, file: str) -> None:
        self.file = file

    def place(self, path: DataPath, key: bool = False) -> Place:  # noqa: ARG002
        return NOWHERE
