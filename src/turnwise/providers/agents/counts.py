"""Tokens as agents report them: read with care, and added up over the requests of a session. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from ..base import Usage
from .fields import dollars, tokens

if TYPE_CHECKING:
    from .session import Session

__all__ = ["amount", "count", "credible", "total"]

# More than one request can have used: a program that says so is wrong.
_MOST_TOKENS = 10**10
_MOST_DOLLARS = 10**5


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


def credible(session: Session) -> list[str]:
    """Take out of a session what cannot be true: it would use up a budget. Says what was taken.

    >>> from turnwise.providers.agents.session import Session
    >>> session = Session(usage=Usage(input_tokens=5, output_tokens=10**14), cost_usd=1e14)
    >>> credible(session)
    ['it says that it used 100,000,000,000,000 output tokens, which is not counted', \
'it says that it cost $100,000,000,000,000, which is not counted']
    >>> session.usage.input_tokens, session.usage.output_tokens, session.cost_usd
    (5, None, None)
    """
    notes, used = [], asdict(session.usage)
    for name, number in used.items():
        if number is not None and number > _MOST_TOKENS:
            notes.append(f"it says that it used {number:,} {name.replace('_', ' ')}, which is not counted")
            used[name] = None
    session.usage = Usage(**used)
    if session.cost_usd is not None and session.cost_usd > _MOST_DOLLARS:
        notes.append(f"it says that it cost ${session.cost_usd:,.0f}, which is not counted")
        session.cost_usd = None
    return notes


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other
