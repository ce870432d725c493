"""Percentiles, exact and within 1 %."""

from __future__ import annotations

import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.stats.percentiles import Percentiles

numbers = st.floats(-1e12, 1e12)
amounts = st.one_of(st.just(0.0), st.floats(1e-6, 1e12), st.floats(1e-240, 1e240))


def filled(values: list[float], exact_up_to: int = 100_000) -> Percentiles:
    """The values, added one by one."""
    percentiles = Percentiles(exact_up_to)
    for value in values:
        percentiles.add(value)
    return percentiles


@given(st.lists(st.floats(-1e6, 1e6), min_size=2))
def test_exact_by_the_standard_library(values: list[float]) -> None:
    """Exact percentiles are the inclusive quantiles of the statistics module."""
    expected = statistics.quantiles(values, n=100, method="inclusive")
    found = [filled(values).at(percent) for percent in range(1, 100)]
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-8)


def test_textbook_median() -> None:
    """Four values have their median halfway between the middle two, whatever their order."""
    assert filled([10.0, 1.0, 3.0, 2.0]).at(50) == 2.5


@given(st.lists(amounts, min_size=1, max_size=60), st.floats(0, 100))
def test_sketch_is_within_one_percent(values: list[float], percent: float) -> None:
    """Percentiles of amounts in buckets are less than 1 % from the exact ones."""
    exact, rough = filled(values), filled(values, exact_up_to=0)
    expected = exact.at(percent)
    assert expected is not None
    assert rough.at(percent) == pytest.approx(expected, rel=0.01, abs=1e-250)
    assert (exact.exact, rough.exact) == (True, False)


@given(st.lists(amounts, min_size=1, max_size=60), st.floats(0, 100))
def test_sketch_of_negative_amounts(values: list[float], percent: float) -> None:
    """Negative amounts have the mirror image: the same error, counted from the other end."""
    rough, mirror = filled(values, exact_up_to=0), filled([-value for value in values], exact_up_to=0)
    expected = filled([-value for value in values]).at(percent)
    assert expected is not None
    assert mirror.at(percent) == pytest.approx(expected, rel=0.01, abs=1e-250)
    assert (mirror.at(0), mirror.at(100)) == (-max(values), -min(values))
    assert rough.n == mirror.n == len(values)


@given(st.lists(numbers, min_size=1), st.integers(0, 20), st.randoms(use_true_random=False))
def test_any_order(values: list[float], exact_up_to: int, chance: random.Random) -> None:
    """The order of values does not change a digit, on either side of the limit."""
    shuffled = chance.sample(values, len(values))
    for percent in (0, 12.5, 50, 99):
        assert filled(shuffled, exact_up_to).at(percent) == filled(values, exact_up_to).at(percent)


@given(st.lists(numbers, min_size=1), st.integers(0, 20))
def test_rising_between_the_extremes(values: list[float], exact_up_to: int) -> None:
    """Percentiles never fall as the percentage rises, from the exact least to the exact largest value."""
    percentiles = filled(values, exact_up_to)
    found = [percentiles.at(percent) for percent in (0, 1, 10, 25, 50, 75, 90, 99, 100)]
    certain = [value for value in found if value is not None]
    assert certain == sorted(certain)
    assert (certain[0], certain[-1], len(certain)) == (min(values), max(values), 9)


def test_asking_in_between() -> None:
    """Values may be added after a percentile was asked for, and across the limit."""
    percentiles = filled([3.0, 1.0], exact_up_to=3)
    assert percentiles.at(50) == 2.0
    percentiles.add(0.5)
    assert (percentiles.at(50), percentiles.exact) == (1.0, True)
    percentiles.add(100.0)
    assert (percentiles.n, percentiles.exact) == (4, False)
    assert percentiles.at(50) == pytest.approx(2.0, rel=0.01)


def test_bounded_memory() -> None:
    """Twenty thousand times between a millisecond and a thousand seconds take at most 700 buckets and no values."""
    chance = random.Random(3)
    percentiles = filled([10 ** chance.uniform(-3, 3) for _ in range(20_000)], exact_up_to=100)
    assert len(percentiles._buckets) <= 700
    assert percentiles._values == []
    assert percentiles.at(50) == pytest.approx(1.0, rel=0.15)


def test_no_values() -> None:
    """Without values there is no percentile."""
    assert Percentiles().at(50) is None


@pytest.mark.parametrize("percent", [-1, 100.5, math.nan])
def test_impossible_percentage(percent: float) -> None:
    """A percentage outside 0 to 100 is refused, with or without values."""
    with pytest.raises(ValueError, match="between 0 and 100; found"):
        Percentiles().at(percent)


def test_not_a_number() -> None:
    """A value that is no finite number is refused and not counted."""
    percentiles = filled([1.0])
    with pytest.raises(ValueError, match="finite number"):
        percentiles.add(math.nan)
    assert (percentiles.n, percentiles.at(100)) == (1, 1.0)
