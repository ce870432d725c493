"""Filling `{{ name }}` from `vars`: plain substitution, no expressions, and what is filled in is never read again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..conversation.authored import MessageDict, Segment, TextSegment
from ..errors import Problem
from .sources import DataPath

__all__ = ["Filler"]

_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")


class Filler:
    """Fills texts from one set of values and collects the names that it does not know.

    >>> filler = Filler({"city": "Oslo", "days": 3})
    >>> filler.text("Weather in {{ city }} for {{days}} days?", ("outcome",))
    'Weather in Oslo for 3 days?'
    >>> _ = filler.text("{{ town }}", ("outcome",))
    >>> filler.problems[0].message
    'unknown variable `town`'
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.problems: list[Problem] = []

    def text(self, text: str, path: DataPath) -> str:
        """The text with every placeholder filled; an unknown one stays and is remembered as a problem."""
        if "{{" not in text:
            return text
        return _PLACEHOLDER.sub(lambda match: self._value(match, path), text)

    def messages(self, messages: Sequence[MessageDict], field: str) -> list[MessageDict]:
        """The messages with their texts and file paths filled."""
        return [
            {**message, "content": self._content(message.get("content"), (field, index, "content"))}
            for index, message in enumerate(messages)
        ]

    def _content(self, content: str | list[Segment] | None, path: DataPath) -> str | list[Segment] | None:
        if content is None:
            return None
        if isinstance(content, str):
            return self.text(content, path)
        return [self._segment(segment, (*path, index)) for index, segment in enumerate(content)]

    def _segment(self, segment: Segment, path: DataPath) -> Segment:
        if isinstance(segment, str):
            return self.text(segment, path)
        if isinstance(segment, TextSegment) and segment.text is not None:
            return segment.model_copy(update={"text": self.text(segment.text, (*path, "text"))})
        return segment.model_copy(update={"value": self.text(segment.value or "", (*path, "value"))})

    def _value(self, match: re.Match[str], path: DataPath) -> str:
        name = match[1].strip()
        if name not in self.values:
            from .explain import did_you_mean

            hint = did_you_mean(name, list(self.values), "the case has these `vars`")
            self.problems.append(Problem(path, "unknown-variable", f"unknown variable `{name}`", hint))
            return match[0]
        value = self.values[name]
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
