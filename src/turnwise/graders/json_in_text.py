"""JSON objects and lists among the words of an answer. The time is bounded, whatever the answer holds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from .base import GradeError
from .json_values import why_not_json

__all__ = ["json_texts"]

# An attempt that fails costs what it has read. This many readings of the whole text are enough for any honest one.
_READINGS = 20
_DEEP = 10_000
_ATTEMPT = 100
_OPENING = re.compile(r"[\[{]")
_WINDOW = 4096


def json_texts(text: str) -> Iterator[str | GradeError]:
    """Every object and list that no other one holds, as it is written; a whole answer that is JSON is the only one.

    The last item is an error if the text has too many brackets to be read to its end.

    >>> list(json_texts('Here: {"a": [1]} and [2].'))
    ['{"a": [1]}', '[2]']
    """
    if why_not_json(text) is None:
        yield text
        return
    budget = _READINGS * len(text) + _DEEP
    rest, position = text, 0
    while (opening := _OPENING.search(rest, position)) is not None:
        if budget <= 0:
            yield GradeError("too-long", "the answer has too many brackets to be searched for JSON")
            return
        # An error of the decoder counts all lines before it: there must not be many.
        start = opening.start()
        if start > _WINDOW:
            rest, start = rest[start:], 0
        end, cost = _end(rest, start)
        budget -= cost
        if end is not None:
            yield rest[start:end]
        position = start + 1 if end is None else end


def _end(text: str, start: int) -> tuple[int | None, int]:
    """Where the value that begins at `start` ends, if it is one, and how much was read for it."""
    try:
        _, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return None, max(_ATTEMPT, error.pos - start)
    except (ValueError, RecursionError):
        return None, _DEEP
    return end, end - start


def _refused(name: str) -> Any:
    raise ValueError(name)


# Numbers are read as texts: one of a million digits is JSON as well.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refused)
