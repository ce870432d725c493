"""Sums without rounding."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.stats.exact import LARGEST, ExactSum, check_number, dyadic, root

numbers = st.floats(-LARGEST, LARGEST)


@given(st.lists(numbers))
def test_sum_is_exact(values: list[float]) -> None:
    """The sum is that of the fractions which the floats stand for."""
    total = ExactSum()
    for value in values:
        total.add(*dyadic(value))
    assert Fraction(total.numerator, 2**total.exponent) == sum(map(Fraction, values), Fraction(0))
    assert total.count == len(values)


@given(numbers, st.integers(0, 50))
def test_scaled_keeps_the_value(value: float, more: int) -> None:
    """A finer unit changes the number of units, not the sum."""
    total = ExactSum()
    total.add(*dyadic(value))
    exponent = total.exponent + more
    assert Fraction(total.scaled(exponent), 2**exponent) == Fraction(value)


@given(st.floats(1e-300, 1e300), st.integers(1, 10**30))
def test_root_of_a_square(value: float, factor: int) -> None:
    """The root of a float's square is the float, even where the square itself would overflow or vanish."""
    square = Fraction(value) ** 2
    assert math.isclose(root(square.numerator * factor, square.denominator * factor), value, rel_tol=1e-15)


def test_root_of_zero() -> None:
    """The root of nothing is nothing."""
    assert root(0, 3) == 0.0


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 2 * LARGEST])
def test_not_a_number_to_average(value: float) -> None:
    """A value that would spoil every sum is refused, and named."""
    with pytest.raises(ValueError, match=f"finite number .* found {value!r}".replace("+", r"\+")):
        check_number(value)


def test_booleans_are_numbers() -> None:
    """A verdict counts as one or zero."""
    assert (check_number(True), check_number(False)) == (1.0, 0.0)
