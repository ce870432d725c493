"""What an API refuses and no rewrite can mend: names of tools, and types of images."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import PromptError
from ..base import Tool
from .turns import Notes, Pass, Turn

__all__ = ["COMMON_IMAGES", "OPENAI_NAMES", "NameRule", "called_names", "declared_names", "image_types"]

COMMON_IMAGES = ("png", "jpeg", "gif", "webp")


@dataclass(frozen=True, slots=True)
class NameRule:
    """How an API wants tools to be called; `form` says it in words."""

    pattern: re.Pattern[str]
    form: str

    def fits(self, name: Any) -> bool:
        """Whether the API takes the name.

        >>> OPENAI_NAMES.fits("get_weather"), OPENAI_NAMES.fits("get weather")
        (True, False)
        """
        # A name that is no text at all goes to the server, which says so in its own words.
        return not isinstance(name, str) or self.pattern.fullmatch(name) is not None


OPENAI_NAMES = NameRule(re.compile(r"[a-zA-Z0-9_-]{1,64}"), "1 to 64 letters, digits, `_` and `-`")


def called_names(rule: NameRule) -> Pass:
    """A pass that refuses calls of tools whose names the API does not take."""

    def check(turns: list[Turn], notes: Notes) -> list[Turn]:
        for turn in turns:
            for call in turn.calls:
                if not rule.fits(call.name):
                    said = f"message {turn.index + 1} calls {_quoted(call.name)}"
                    raise _bad_name(said, rule, notes, turn.index)
        return turns

    return check


def declared_names(tools: Sequence[Tool], rule: NameRule, notes: Notes) -> None:
    """Raise `PromptError` for a declared tool whose name the API does not take."""
    for number, tool in enumerate(tools, 1):
        if not rule.fits(tool.name):
            raise _bad_name(f"tool {number} of `tools` is called {_quoted(tool.name)}", rule, notes, None)


def _quoted(name: str) -> str:
    return f"`{name if len(name) <= 80 else name[:79] + '…'}`" if name else "nothing: it has no name"


def _bad_name(said: str, rule: NameRule, notes: Notes, index: int | None) -> PromptError:
    return PromptError(
        "tool name",
        f"{said}; {notes.api} takes names of {rule.form}",
        hint="rename the tool, in `tools` and in every call",
        message_index=index,
    )


def image_types(*forms: str) -> Pass:
    """A pass that refuses images of other types."""
    taken = {f"image/{form}" for form in forms}

    def check(turns: list[Turn], notes: Notes) -> list[Turn]:
        for turn in turns:
            for part in turn.parts:
                if part["type"] == "image" and part["media_type"] not in taken:
                    raise PromptError(
                        "image type",
                        f"message {turn.index + 1} holds an image of the type {part['media_type'][:80]!r}; "
                        f"{notes.api} takes {', '.join(forms)}",
                        hint="convert the image, to PNG for example",
                        message_index=turn.index,
                    )
        return turns

    return check
