"""Sums over the requests of a conversation: what is not known of one is not known of all. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from ..providers.base import Usage

__all__ = ["sum_known", "sum_usage"]

_ALWAYS = ("input_tokens", "output_tokens")
_SOMETIMES = ("cached_input_tokens", "cache_write_tokens", "reasoning_tokens")


def sum_known(amounts: Sequence[float | None]) -> float | None:
    """The sum; None if one of them is not known, or there is none.

    >>> sum_known([1.0, 2.5]), sum_known([1.0, None]), sum_known([])
    (3.5, None, None)
    """
    known = [each for each in amounts if each is not None]
    return fsum(known) if known and len(known) == len(amounts) else None


def sum_usage(usages: Sequence[Usage]) -> Usage:
    """The tokens of all. APIs leave out details that are nothing, such as reasoning: these are summed where given.

    >>> sum_usage([Usage(input_tokens=5, output_tokens=1), Usage(input_tokens=7)])
    Usage(input_tokens=12, output_tokens=None, cached_input_tokens=None, cache_write_tokens=None, reasoning_tokens=None)
    """
    counts: dict[str, int | None] = {}
    for name in (*_ALWAYS, *_SOMETIMES):
        given = [getattr(each, name) for each in usages]
        known = [each for each in given if each is not None]
        whole = bool(known) and (name in _SOMETIMES or len(known) == len(given))
        counts[name] = sum(known) if whole else None
    return Usage(**counts)
