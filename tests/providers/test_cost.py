"""What answers cost: tokens times prices, and never a guess."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.providers import Usage, cost_usd
from turnwise.targets.settings import Prices

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("tokens", "prices", "dollars"),
    [
        ({"input_tokens": MILLION, "output_tokens": 0}, {"input": 3, "output": 15}, 3.0),
        ({"input_tokens": 0, "output_tokens": MILLION}, {"input": 3, "output": 15}, 15.0),
        ({"input_tokens": 2000, "output_tokens": 500}, {"input": 3, "output": 15}, 0.0135),
        ({"input_tokens": 0, "output_tokens": 0}, {"input": 3, "output": 15}, 0.0),
        ({"input_tokens": MILLION, "output_tokens": MILLION}, {"input": 0, "output": 0}, 0.0),
        # Half from the cache at a tenth of the price: 1.50 + 0.15.
        (
            {"input_tokens": MILLION, "output_tokens": 0, "cached_input_tokens": MILLION // 2},
            {"input": 3, "output": 15, "cached_input": 0.3},
            1.65,
        ),
        # A quarter goes to the cache for more, a quarter comes from it for less: 1.50 + 1.00 + 0.075.
        (
            {
                "input_tokens": MILLION,
                "output_tokens": 0,
                "cached_input_tokens": MILLION // 4,
                "cache_write_tokens": MILLION // 4,
            },
            {"input": 3, "output": 15, "cached_input": 0.3, "cache_write": 4},
            2.575,
        ),
        # Reasoning is output already.
        ({"input_tokens": 0, "output_tokens": MILLION, "reasoning_tokens": 900}, {"input": 3, "output": 15}, 15.0),
    ],
)
def test_tokens_times_prices(tokens: dict[str, int], prices: dict[str, Any], dollars: float) -> None:
    """Prices are per million tokens; the cache has its own where they are given."""
    assert cost_usd(Usage(**tokens), Prices(**prices)) == pytest.approx(dollars)


@pytest.mark.parametrize(
    ("usage", "prices"),
    [
        (Usage(input_tokens=1, output_tokens=1), None),
        (Usage(), Prices(input=1, output=1)),
        (Usage(input_tokens=1), Prices(input=1, output=1)),
        (Usage(output_tokens=1), Prices(input=1, output=1)),
    ],
)
def test_what_is_not_known_has_no_cost(usage: Usage, prices: Prices | None) -> None:
    """Without a price or a count there is no figure, rather than a wrong one."""
    assert cost_usd(usage, prices) is None


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**9), st.floats(0, 1000))
def test_a_cost_is_never_negative(sent: int, came: int, cached: int, written: int, price: float) -> None:
    """Whatever a server counts, more from the cache than was sent included."""
    usage = Usage(input_tokens=sent, output_tokens=came, cached_input_tokens=cached, cache_write_tokens=written)
    cost = cost_usd(usage, Prices(input=price, output=price))
    assert cost is not None
    assert cost >= 0
    if cached + written <= sent:
        assert cost == pytest.approx((sent + came) * price / MILLION)
