"""JSON for people and programs: indented where there is an overview to give, and one line for each entry below that."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["json_text"]

_LEVELS = 4
_INDENT = "  "
# Indenting everything would leave the quick encoder unused, and a report may list a hundred thousand disagreements.
_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def json_text(value: Any, levels: int = _LEVELS, indent: str = "") -> str:
    """The value with so many levels indented. Raises `ValueError` for a number that JSON does not have.

    >>> print(json_text({"a": [{"b": 1}, {"b": 2}], "c": {}}, levels=2))
    {
      "a": [
        {"b": 1},
        {"b": 2}
      ],
      "c": {}
    }
    """
    if levels == 0 or not value or not isinstance(value, dict | list):
        return _ENCODE(value)
    inner = indent + _INDENT
    if isinstance(value, dict):
        items = [f"{_ENCODE(str(key))}: {json_text(each, levels - 1, inner)}" for key, each in value.items()]
        opening, closing = "{", "}"
    else:
        items = [json_text(each, levels - 1, inner) for each in value]
        opening, closing = "[", "]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(items) + f"\n{indent}{closing}"
