"""JSON as VS Code writes it for people: with comments, and commas after the last element. Pure."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["read_jsonc"]

_STRING = r'"(?:\\.|[^"\\])*"'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(rf"({_STRING})|,(?=\s*[\]}}])", re.DOTALL)


def read_jsonc(text: str) -> Any:
    """The value of a text. Raises `ValueError` if it is none.

    >>> read_jsonc('{"folders": [{"path": "a//b"}, ], /* two */ } // end')
    {'folders': [{'path': 'a//b'}]}
    """
    for odd in (_COMMENT, _LAST_COMMA):
        text = odd.sub(lambda found: found[1] or "", text)
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
