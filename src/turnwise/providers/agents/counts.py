"""Tokens as agents report them: read with care, and added up over the requests of a session. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ..base import Usage
from .fields import dollars, tokens

__all__ = ["amount", "count", "total"]


def count(numbers: Mapping[str, Any], key: str) -> int | None:
    """A number of tokens; None if there is none, or something else.

    >>> count({"in": 3, "out": "3"}, "in"), count({"in": 3, "out": "3"}, "out")
    (3, None)
    """
    return tokens(numbers.get(key))


def amount(value: Any) -> float | None:
    """A cost in US dollars. Agents write 0 where they know no price: that says nothing.

    >>> amount(0.5), amount(0)
    (0.5, None)
    """
    return dollars(value) or None


def total(one: Usage, other: Usage) -> Usage:
    """Both together; what only one of them tells is kept.

    >>> total(Usage(input_tokens=1), Usage(input_tokens=2, output_tokens=3))
    Usage(input_tokens=3, output_tokens=3, cached_input_tokens=None, cache_write_tokens=None, reasoning_tokens=None)
    """
    return Usage(**{each.name: _sum(getattr(one, each.name), getattr(other, each.name)) for each in fields(Usage)})


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other
