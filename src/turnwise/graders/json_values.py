"""JSON values of answers: read with care, compared by type, and shown in few words."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from .base import GradeError
from .is_json import why_not_json

__all__ = ["NotJson", "brief", "covers", "read_json", "same_value"]

_LONGEST_INTEGER = 300
_LONGEST_SHOWN = 200


class NotJson(Exception):  # noqa: N818  (it is an answer, not a failure)
    """The text is no JSON; `str()` says why."""


def read_json(text: str) -> Any:
    """The value of a text that is JSON and nothing else. Numbers that are too large for a computer's stay texts.

    Raises `NotJson`, and `RecursionError` where the text is nested too deeply to tell.

    >>> read_json('{"total": 2.50}')
    {'total': 2.5}
    """
    why_not = why_not_json(text)
    if isinstance(why_not, GradeError):
        raise RecursionError(why_not.message)
    if why_not is not None:
        raise NotJson(why_not)
    return json.loads(text, parse_int=_integer, parse_float=_number)


def same_value(one: Any, other: Any) -> bool:
    """Whether two values are equal in JSON: `1` and `1.0` are, `1` and `true` are not, and `1` and `"1"` are not.

    >>> same_value({"a": [1]}, {"a": [1.0]}), same_value(1, True)
    (True, False)
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same_value(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same_value, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def covers(found: Any, expected: Any) -> bool:
    """Whether a value has all that is expected of it: mappings may have further keys, at every depth.

    >>> covers({"city": "Oslo", "unit": "C"}, {"city": "Oslo"}), covers([1, 2], [1])
    (True, False)
    """
    if isinstance(expected, Mapping):
        return isinstance(found, Mapping) and all(
            key in found and covers(found[key], value) for key, value in expected.items()
        )
    if isinstance(expected, list | tuple) and isinstance(found, list | tuple):
        return len(found) == len(expected) and all(map(covers, found, expected))
    return same_value(found, expected)


def brief(value: Any) -> Any:
    """A value for evidence: itself if it is small, and else the beginning of its JSON text.

    >>> brief([1, 2]), len(brief("x" * 1_000))
    ([1, 2], 201)
    """
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, ValueError, TypeError):
        return "a value that cannot be shown"
    return value if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"


def _integer(text: str) -> int | str:
    """Python refuses to read an integer of thousands of digits."""
    return int(text) if len(text) <= _LONGEST_INTEGER else text


def _number(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text
