"""JSON objects in the text of a model: alone, in a code fence, or among words. Linear in time, and never raises."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

__all__ = ["Found", "JsonObject", "bare_text", "has_open_object", "last_object", "strict_json"]

_LONGEST_INTEGER = 300
# A failed attempt costs what it has read. This many readings of the whole text are enough for any honest one.
_READINGS = 20
_DEEP = 10_000
_ATTEMPT = 100
# Judges like to write `"score": +2`, which is no JSON. Inside of a JSON string the quotes would be escaped.
_PLUS = re.compile(r'("(?:score|label)"[ \t]{0,9}:[ \t]{0,9})\+(?=[0-9.])', re.IGNORECASE)
_NAMED = re.compile(
    r"(?:final |overall )?(?:score|label|verdict|grade|rating|answer)[*_]{0,3}\s?[:=]\s?", re.IGNORECASE
)
_OPENING = re.compile(r"\{(?=\s*+[\"}])")
_WINDOW = 4096
_FENCE = "```"
_BLANK = " \t\r\n\ufeff"


class JsonObject(dict[str, Any]):
    """An object of JSON; `twice` are the keys that were given more than once, of which the last counts."""

    twice: frozenset[str] = frozenset()


class Found(NamedTuple):
    """The object that counts, if there is one; the repairs that it took to read it; how many objects there were; and
    whether the text breaks off inside of another one after it."""

    value: JsonObject | None
    repairs: tuple[str, ...]
    met: int
    breaks_off: bool = False


def strict_json(text: str) -> Any:
    """The value of a text that is JSON and nothing else; `...` if it is not. Numbers without bound are infinite.

    >>> strict_json('{"score": 2}'), strict_json("Score: 2")
    ({'score': 2}, Ellipsis)
    """
    try:
        return _STRICT.decode(text.strip(_BLANK))
    except (ValueError, RecursionError):
        return ...


def last_object(text: str, is_wanted: Callable[[JsonObject], bool]) -> Found:
    """The last complete object that is wanted and that no other object holds.

    >>> last_object('First {"score": 1}, no: {"score": +2}!', lambda found: "score" in found)
    Found(value={'score': 2}, repairs=('prose', 'plus_sign', 'several_objects'), met=2, breaks_off=False)
    """
    written = _PLUS.sub(r"\1", text)
    value, span, count, wanted = None, (0, 0), 0, 0
    for found, start, end in _objects(written):
        count += 1
        if is_wanted(found):
            value, span, wanted = found, (start, end), wanted + 1
    if value is None:
        return Found(None, (), count)
    repairs = list(_repairs(written, *span))
    if written != text:
        repairs.append("plus_sign")
    if wanted > 1:
        repairs.append("several_objects")
    return Found(value, tuple(repairs), count, has_open_object(written[span[1] :]))


def has_open_object(text: str) -> bool:
    """Whether the text breaks off inside of what was to be an object.

    >>> has_open_object('{"score": 2, "reason": "The ans'), has_open_object("{{{")
    (True, False)
    """
    start = text.rfind("{")
    return start >= 0 and text.find("}", start) < 0 and text[start + 1 :].lstrip(_BLANK).startswith('"')


def bare_text(text: str) -> str:
    """What is left of a short answer without its fence, its marks of emphasis, and the word before it.

    >>> bare_text("**Score: 2**"), bare_text("```json\\n-3\\n```"), bare_text(".5")
    ('2', '-3', '.5')
    """
    left = text.strip(_BLANK)
    if left.startswith(_FENCE):
        first, _, rest = left.partition("\n")
        left = rest or first
    left = _undecorated(left)
    named = _NAMED.match(left)
    return _undecorated(left[named.end() :]) if named else left


def _undecorated(text: str) -> str:
    return text.strip(_BLANK + "\"'`*_[]").rstrip(".")


def _objects(text: str) -> Iterator[tuple[JsonObject, int, int]]:
    budget = _READINGS * len(text) + _DEEP
    rest, offset, position = text, 0, 0
    while budget > 0 and (opening := _OPENING.search(rest, position)) is not None:
        start = opening.start()
        if start > _WINDOW:
            # An error of the decoder counts all lines before it: there must not be many.
            rest, offset, start = rest[start:], offset + start, 0
        value, end, cost = _read_object(rest, start)
        budget -= cost
        position = start + 1
        if value is not None:
            position = end
            yield value, offset + start, offset + end


def _read_object(text: str, start: int) -> tuple[JsonObject | None, int, int]:
    """The object that begins at `start`, where it ends, and how much was read for it."""
    try:
        value, end = _LENIENT.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return None, start, max(_ATTEMPT, error.pos - start)
    except (ValueError, RecursionError):
        return None, start, _DEEP
    return value, end, end - start


def _repairs(text: str, start: int, end: int) -> Iterator[str]:
    before, after = text[:start].rstrip(_BLANK), text[end:].lstrip(_BLANK)
    opening = before[before.rfind("\n") + 1 :].lstrip(_BLANK)
    if opening.startswith(_FENCE) and after.startswith(_FENCE):
        yield "fence"
        before = before[: before.rfind("\n") + 1].rstrip(_BLANK)
        after = after.removeprefix(_FENCE).strip(_BLANK)
    if before or after:
        yield "prose"
    if strict_json(text[start:end]) is ...:
        yield "control_characters"


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    value = JsonObject(pairs)
    if len(value) < len(pairs):
        value.twice = frozenset(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
    return value


def _integer(text: str) -> float:
    """Python refuses to read an integer of thousands of digits."""
    return int(text) if len(text) <= _LONGEST_INTEGER else math.copysign(math.inf, -1 if text[0] == "-" else 1)


def _decoder(strict: bool) -> json.JSONDecoder:
    return json.JSONDecoder(strict=strict, object_pairs_hook=_object, parse_int=_integer)


_STRICT = _decoder(strict=True)
_LENIENT = _decoder(strict=False)
