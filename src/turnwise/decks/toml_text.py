"""Plain values as TOML text, exactly: what is written is what a reader gets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import UsageError

__all__ = ["escaped", "hides_something", "toml_key", "toml_pair", "toml_samples", "toml_value"]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
# Control characters, halves of surrogate pairs, and what breaks lines, joins letters or marks byte order unseen.
_HIDDEN = re.compile("[\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_SHORT = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}
_LAST_OF_QUOTES = re.compile('"(?="|\\Z)')


def escaped(text: str) -> str:
    r"""A text as it stands between double quotes in TOML, and in YAML.

    >>> escaped('a "b"\n')
    'a \\"b\\"\\n'
    """
    return _shown(text).replace('"', '\\"')


def hides_something(text: str) -> bool:
    """Whether the text holds what must be escaped, quotes and backslashes aside."""
    return _HIDDEN.search(text.replace("\\", "")) is not None


def _shown(text: str) -> str:
    return _HIDDEN.sub(lambda match: _SHORT.get(match[0]) or f"\\u{ord(match[0]):04x}", text)


def toml_key(name: str) -> str:
    """A key, quoted if it must be."""
    return name if _BARE_KEY.fullmatch(name) else f'"{escaped(name)}"'


def toml_pair(name: str, value: Any) -> str:
    """`name = value`, on one line."""
    return f"{toml_key(name)} = {toml_value(value)}"


def toml_value(value: Any) -> str:
    """A value on one line. Raises `UsageError` for null, which TOML does not have.

    >>> toml_value({"score": 1, "reason": "short", "on": [True, 0.5]})
    '{ score = 1, reason = "short", on = [true, 0.5] }'
    """
    if isinstance(value, str):
        return f'"{escaped(value)}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return f"{{ {', '.join(toml_pair(str(name), item) for name, item in value.items())} }}" if value else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(toml_value(item) for item in value)}]"
    raise UsageError("TOML has no null, which is part of the samples", "write a .jsonl or .yaml file instead")


def toml_samples(records: Sequence[Mapping[str, Any]]) -> str:
    """A file of `[[samples]]`."""
    return "\n".join("[[samples]]\n" + "".join(map(_field, record.items())) for record in records)


def _field(pair: tuple[str, Any]) -> str:
    name, value = pair
    if name not in ("messages", "labels") or not value:
        return f"{toml_pair(name, value)}\n"
    items = [_message(item) if name == "messages" else toml_value(item) for item in value]
    return f"{name} = [\n{''.join(f'  {item},{chr(10)}' for item in items)}]\n"


def _message(message: Mapping[str, str]) -> str:
    """A turn; its text keeps its lines, for those who read the file."""
    return f"{{ {', '.join(f'{name} = {_text(text)}' for name, text in message.items())} }}"


def _text(text: str) -> str:
    if "\n" not in text:
        return toml_value(text)
    lines = "\n".join(_shown(line) for line in text.split("\n"))
    # No two quotes in a row, and none at the end: three would end the text.
    apart = _LAST_OF_QUOTES.sub('\\\\"', lines)
    return f'"""\n{apart}"""'
