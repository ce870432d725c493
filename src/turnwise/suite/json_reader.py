"""JSON in, plain values out, with the same promises as YAML: no duplicate key is lost, nesting is bounded."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from .text_problem import TextProblem

__all__ = ["DataPath", "index_json", "locate_json", "read_json"]

DataPath = tuple[str | int, ...]

_WHITE_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F])|\\.")
_MAX_DEPTH = 100
_NOT_NUMBERS = ("NaN", "Infinity", "-Infinity")
_JSON_HINT = "keys and texts need double quotes, items a comma between them, and none after the last; no comments"


class _DuplicateKeyError(ValueError):
    pass


class _TooLargeError(ValueError):
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) != len(pairs):
        raise _DuplicateKeyError
    return built


def _constant(name: str) -> Any:
    raise ValueError(name)


def _float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _TooLargeError(digits)
    return number


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
_plain_decoder = json.JSONDecoder()


def read_json(text: str) -> Any:
    """The value of a JSON text. Raises `TextProblem`.

    >>> read_json('{"a": [1, 2]}')
    {'a': [1, 2]}
    """
    try:
        value = _decoder.decode(text)
    except json.JSONDecodeError as error:
        raise TextProblem("bad-json", f"not valid JSON: {error.msg}", _JSON_HINT, min(error.pos, len(text))) from None
    except RecursionError:
        raise _too_deep(text) from None
    except _DuplicateKeyError:
        key, offset = _find_duplicate(text)
        raise TextProblem("duplicate-key", f"the key {key!r} appears twice", "remove one of them", offset) from None
    except _TooLargeError as error:
        message, hint = "the number is too large", "quote it if it is text"
        raise TextProblem("bad-number", message, hint, _find(text, re.escape(str(error)))) from None
    except ValueError as error:
        # NaN and Infinity are not JSON; an integer of thousands of digits is refused by Python.
        word = str(error)
        if word in _NOT_NUMBERS:
            hint = "quote it if it is text"
            raise TextProblem("bad-number", f"not a JSON number: {word}", hint, _find(text, word)) from None
        message, hint = "the number has too many digits", "quote it if it is text"
        raise TextProblem("bad-number", message, hint, _find(text, r"-?\d{4000,}")) from None
    if text.count("[") + text.count("{") > _MAX_DEPTH and _is_too_deep(value):
        raise _too_deep(text)
    if "\\u" in text and _SURROGATE_ESCAPE.search(text):
        _refuse_lone_surrogates(value, text)
    return value


def locate_json(index: Mapping[DataPath, tuple[int, int]], path: DataPath, key: bool = False) -> int:
    """The character offset of the value at `path` (of its key, with `key`), or of the nearest thing above it.

    >>> locate_json(index_json('{"a": [1, {"b": 2}]}'), ("a", 1, "b"))
    16
    """
    while path not in index:
        path, key = path[:-1], False
    return index[path][0 if key else 1]


def index_json(text: str) -> dict[DataPath, tuple[int, int]]:
    """The offsets of the key and of the value of everything in a JSON text."""
    found: dict[DataPath, tuple[int, int]] = {}

    def walk(offset: int, path: DataPath) -> int:
        """Index what begins at `offset`, and say where it ends."""
        opening = text[offset : offset + 1]
        if opening not in ("{", "["):
            return int(_plain_decoder.raw_decode(text, offset)[1])
        position = _skip(text, offset + 1)
        index = 0
        while text[position : position + 1] not in ("}", "]", ""):
            key_offset = position
            name: str | int = index
            if opening == "{":
                name, position = scanstring(text, position + 1)
                position = _skip(text, _skip(text, position) + 1)
            found[(*path, name)] = (key_offset, position)
            position = _skip(text, walk(position, (*path, name)))
            if text[position : position + 1] == ",":
                position = _skip(text, position + 1)
            index += 1
        return position + 1

    start = _skip(text, 0)
    found[()] = (start, start)
    walk(start, ())
    return found


def _skip(text: str, offset: int) -> int:
    match = _WHITE_SPACE.match(text, offset)
    return match.end() if match else offset


def _find_duplicate(text: str) -> tuple[str, int]:
    """The first key that repeats one of its own object, by a walk over all strings outside of values."""
    seen: list[set[str] | None] = []
    position = 0
    expect_key = False
    while position < len(text):
        character = text[position]
        if character == '"':
            start = position
            value, position = scanstring(text, position + 1)
            if expect_key and seen and (keys := seen[-1]) is not None:
                if value in keys:
                    return value, start
                keys.add(value)
            expect_key = False
            continue
        if character in "{[":
            seen.append(set() if character == "{" else None)
            expect_key = character == "{"
        elif character in "}]":
            seen.pop()
        elif character == ",":
            expect_key = bool(seen) and seen[-1] is not None
        position += 1
    return "?", 0


def _is_too_deep(value: Any) -> bool:
    """Whether containers nest beyond the bound, told level by level: the decoder's own bound is far higher."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(_MAX_DEPTH):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _too_deep(text: str) -> TextProblem:
    depth = offset = 0
    for match in re.finditer(rf"{_STRING}|[\[{{\]}}]", text):
        character = match[0]
        depth += (character in "[{") - (character in "]}")
        if depth > _MAX_DEPTH:
            offset = match.start()
            break
    return TextProblem("too-deep", f"nested more than {_MAX_DEPTH} levels deep", "flatten it", offset)


def _find(text: str, pattern: str) -> int:
    """Where something first stands outside of strings."""
    for match in re.finditer(rf"{_STRING}|({pattern})", text):
        if match[1] is not None:
            return match.start()
    return 0


def _refuse_lone_surrogates(value: Any, text: str) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise TextProblem(
            "lone-surrogate",
            "an escape holds half of a character (a lone surrogate)",
            "write both halves (\\ud83d\\ude00), or the character itself",
            next((match.start() for match in _ESCAPE.finditer(text) if match[1]), 0),
        ) from None
