"""What a result took of a budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..providers.prices import prices_of
from .estimate import estimated_cost

if TYPE_CHECKING:
    from ..targets.resolve import ResolvedTarget
    from .budget import Budget

__all__ = ["count_record"]

_CHARACTERS_PER_TOKEN = 4


def count_record(budget: Budget, record: Mapping[str, Any], resolved: ResolvedTarget) -> None:
    """Book what a result of a target took; an answer from the cache took nothing.

    Tokens that nobody counted, and what they cost, are estimated: unknown is not nothing.
    """
    if record["answer"] is None:
        _count_failed(budget, record)
        return
    if record["attempts"] == 0:
        budget.count(0.0, 0, 0)
        return
    usage = record["usage"] or {}
    sent, received = usage.get("input_tokens"), usage.get("output_tokens")
    tokens = None if sent is None or received is None else sent + received
    guessed_sent = _characters(record["raw_request"]["messages"]) // _CHARACTERS_PER_TOKEN
    guessed_received = _characters(record["output_messages"]) // _CHARACTERS_PER_TOKEN
    cost, prices = record["cost_usd"], prices_of(resolved.target)[0]
    if cost is None and record["paid"] and prices is not None:
        cost = estimated_cost(prices, guessed_sent, guessed_received)
    budget.count(cost, tokens, guessed_sent + guessed_received)


def _count_failed(budget: Budget, record: Mapping[str, Any]) -> None:
    """An agent that failed has used what it says; each request of a conversation is booked by itself."""
    usage, cost = record["usage"] or {}, record["cost_usd"]
    tokens = (usage.get("input_tokens") or 0) + (usage.get("output_tokens") or 0)
    if record.get("live") is None and (tokens or cost):
        budget.count(cost, tokens, 0)


def _characters(value: Any) -> int:
    """How long all texts in messages are, those of tool calls too."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(_characters(each) for each in value.values())
    return sum(_characters(each) for each in value) if isinstance(value, list | tuple) else 0
