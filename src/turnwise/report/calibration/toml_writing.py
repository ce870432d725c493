"""A document of plain data as TOML: objects are tables, lists of objects are arrays of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...decks.toml_text import toml_key, toml_pair

__all__ = ["dump_toml"]

# Half of a pair is no character: TOML, which is UTF-8, has no form for it, not even an escaped one.
_HALF_PAIR = re.compile("[\ud800-\udfff]")


def dump_toml(document: Mapping[str, Any]) -> str:
    """The document as TOML, which must be without null. Plain values stand before tables, as they must.

    >>> print(dump_toml({"a": {"b": [{"c": 1}, {"c": 0.5}]}, "d": "e"}), end="")
    d = "e"
    <BLANKLINE>
    [a]
    <BLANKLINE>
    [[a.b]]
    c = 1
    <BLANKLINE>
    [[a.b]]
    c = 0.5
    """
    return "\n".join(_table(_writable(document), ())).lstrip("\n") + "\n"


def _table(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    for name, value in table.items():
        if not _is_table(value) and not _is_tables(value):
            yield toml_pair(name, value)
    for name, value in table.items():
        full = (*path, toml_key(name))
        if _is_table(value):
            yield from ("", f"[{'.'.join(full)}]")
            yield from _table(value, full)
        elif _is_tables(value):
            for each in value:
                yield from ("", f"[[{'.'.join(full)}]]")
                yield from _table(each, full)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_table, value))


def _writable(value: Any) -> Any:
    if isinstance(value, str):
        return _HALF_PAIR.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_writable(str(name)): _writable(item) for name, item in value.items()}
    return [_writable(item) for item in value] if isinstance(value, list | tuple) else value
