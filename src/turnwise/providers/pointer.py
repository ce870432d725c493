"""JSON pointers (RFC 6901): a path into JSON data, such as `/choices/0/message/content`."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["PointerError", "resolve_pointer"]

_INDEX = re.compile(r"0|[1-9][0-9]*", re.ASCII)
_BAD_ESCAPE = re.compile(r"~(?![01])")
_MOST_KEYS = 12
_LONGEST_KEY = 40


class PointerError(LookupError):
    """A pointer that leads nowhere; the message says how far it led and what is there."""


def resolve_pointer(data: Any, pointer: str) -> Any:
    """The value that a pointer leads to. Raises `PointerError`.

    >>> resolve_pointer({"choices": [{"a/b": "yes"}]}, "/choices/0/a~1b")
    'yes'
    >>> resolve_pointer({"answer": "yes"}, "/reply")
    Traceback (most recent call last):
    ...
    turnwise.providers.pointer.PointerError: there is no `reply` in the whole value; its keys: `answer`
    """
    value = data
    walked = ""
    for step in _steps(pointer):
        value = _child(value, _unescaped(step, pointer), walked)
        walked += f"/{step}"
    return value


def _steps(pointer: str) -> list[str]:
    if pointer and not pointer.startswith("/"):
        raise PointerError(f"the JSON pointer `{pointer}` does not start with `/`")
    return pointer.split("/")[1:]


def _unescaped(step: str, pointer: str) -> str:
    if _BAD_ESCAPE.search(step):
        raise PointerError(f"the JSON pointer `{pointer}` has a `~` that is not part of `~0` or `~1`")
    return step.replace("~1", "/").replace("~0", "~")


def _child(value: Any, step: str, walked: str) -> Any:
    where = f"`{walked}`" if walked else "the whole value"
    if isinstance(value, dict):
        if step in value:
            return value[step]
        raise PointerError(f"there is no `{step}` in {where}; {_keys(value)}")
    if isinstance(value, list):
        # The length comes first: Python does not read a number of thousands of digits.
        if _INDEX.fullmatch(step) and len(step) < 12 and int(step) < len(value):
            return value[int(step)]
        raise PointerError(f"there is no item `{step}` in {where}, a list of {len(value)}")
    raise PointerError(f"there is no `{step}` in {where}, which is {_kind(value)}")


def _keys(value: dict[str, Any]) -> str:
    if not value:
        return "it is an empty object"
    shown = [_key(key) for key in list(value)[:_MOST_KEYS]]
    more = len(value) - len(shown)
    return f"its keys: {', '.join(shown)}" + (f" and {more} more" if more else "")


def _key(key: str) -> str:
    """Whole or not at all: a part of a secret would not be recognized as one."""
    if len(key) > _LONGEST_KEY:
        return f"(one of {len(key):,} characters)"
    return f"`{key.encode('unicode_escape').decode()}`"


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "a text" if isinstance(value, str) else "a number"
