"""JSON values of answers: read with care, compared by type, and shown in few words."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

from .base import GradeError
from .check import shown

__all__ = ["NotJson", "brief", "covers", "read_json", "same_value", "why_not_json"]

_LONGEST_INTEGER = 300
_LONGEST_SHOWN = 200
_FENCE = "```"


class NotJson(Exception):  # noqa: N818  (it is an answer, not a failure)
    """The text is no JSON; `str()` says why."""


def why_not_json(text: str) -> str | GradeError | None:
    """What keeps a text from being JSON; None if it is.

    >>> why_not_json("[1, 2]"), why_not_json("")
    (None, 'it is empty')
    """
    if not text.strip():
        return "it is empty"
    try:
        # Numbers are read as texts: one of a million digits is JSON as well.
        json.loads(text, parse_int=str, parse_float=str, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        return _explained(text, f"{error.msg.lower()} in line {error.lineno}, column {error.colno}")
    except _NoSuchNumberError as error:
        return f"{error} is no number of JSON"
    except RecursionError:
        return GradeError("too-deep", "the answer is nested too deeply to be read as JSON")
    return None


class _NoSuchNumberError(Exception):
    """NaN and infinity, which Python reads and writes, but JSON has not."""


def _refuse(name: str) -> NoReturn:
    raise _NoSuchNumberError(name)


def _explained(text: str, syntax: str) -> str:
    if text.lstrip().startswith(_FENCE):
        return "it stands inside a Markdown fence (```), and only the bare JSON is accepted"
    if _FENCE in text:
        return f"there are words around a Markdown fence (```), and only the bare JSON is accepted; {syntax}"
    return f"{syntax}; it starts with {shown(text.strip()[:40])}"


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
