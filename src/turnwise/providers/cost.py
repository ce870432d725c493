"""What an answer cost. Pure."""

from __future__ import annotations

from typing import Any

from .base import ProviderResponse, Usage

__all__ = ["answer_cost", "cost_usd"]

_PER = 1_000_000


def answer_cost(response: ProviderResponse, prices: Any) -> float | None:
    """US dollars for an answer: as the provider itself says, or else by the target's prices."""
    return cost_usd(response.usage, prices) if response.cost_usd is None else response.cost_usd


def cost_usd(usage: Usage, prices: Any) -> float | None:
    """US dollars for the tokens of one answer, by a target's prices; None where a price or a count is not known.

    >>> from turnwise.targets.settings import Prices
    >>> cost_usd(Usage(input_tokens=1000, output_tokens=500, cached_input_tokens=800), Prices(input=1.0, output=10.0))
    0.006
    """
    if prices is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached, written = usage.cached_input_tokens or 0, usage.cache_write_tokens or 0
    plain = max(usage.input_tokens - cached - written, 0)
    cached_price = prices.input if prices.cached_input is None else prices.cached_input
    write_price = prices.input if prices.cache_write is None else prices.cache_write
    total = plain * prices.input + cached * cached_price + written * write_price + usage.output_tokens * prices.output
    return float(total / _PER)
