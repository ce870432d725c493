"""Fields of what agents write, which may hold anything. Pure."""

from __future__ import annotations

import json
import math
from typing import Any

from ..wire.base import count

__all__ = ["content_text", "dollars", "json_text", "shown", "tokens"]

_MOST_TOKENS = 10**15


def tokens(value: Any) -> int | None:
    """A count of tokens, or None if it is none.

    >>> tokens(12), tokens("12"), tokens(-1), tokens(10**400)
    (12, None, None, None)
    """
    number = count(value)
    return None if number is None or number > _MOST_TOKENS else number


def dollars(value: Any) -> float | None:
    """An amount of money, or None if it is none.

    >>> dollars(0.5), dollars(float("nan")), dollars(True), dollars(10**400)
    (0.5, None, None, None)
    """
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < _MOST_TOKENS:
        return None
    return float(value) if math.isfinite(value) else None


def shown(value: Any) -> str:
    """A value as text: a text as it is, all else as JSON."""
    return value if isinstance(value, str) else json_text(value)


def json_text(value: Any) -> str:
    """A value as JSON, which has no form for NaN and infinity: they are texts in it.

    >>> json_text({"a": [1, float("nan")]})
    '{"a": [1, "NaN"]}'
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        # Written and read again, it names each of these numbers to us.
        plain = json.loads(json.dumps(value), parse_constant=str)
        return json.dumps(plain, ensure_ascii=False, allow_nan=False)


def content_text(content: Any) -> str:
    """The text of what a tool gave, a text or a list of parts; a part that is no text is named by its type.

    >>> content_text("a"), content_text([{"type": "text", "text": "a"}, {"type": "image"}]), content_text(None)
    ('a', 'a\\n[image]', '')
    """
    if not isinstance(content, list):
        return "" if content is None else shown(content)
    return "\n".join(_part(part) for part in content)


def _part(part: Any) -> str:
    match part:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": str(kind)}:
            return f"[{kind}]"
    return shown(part)
