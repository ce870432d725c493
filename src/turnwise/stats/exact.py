"""Sums of floats without rounding: the same result in whatever order results arrive."""

from __future__ import annotations

import math

__all__ = ["LARGEST", "ExactSum", "check_number", "dyadic", "root"]

LARGEST = 1e250
"""The largest size of a value: beyond it, the ends of an interval could be too large for a float."""


def check_number(value: float) -> float:
    """The value as a float. Raises `ValueError` for one that cannot be averaged: NaN, infinite or beyond `LARGEST`."""
    number = float(value)
    if not abs(number) <= LARGEST:
        raise ValueError(f"a value must be a finite number of a size up to {LARGEST:g}; found {value!r}")
    return number


class ExactSum:
    """How many values were added, and their sum: `numerator` / 2**`exponent`, exactly.

    >>> total = ExactSum()
    >>> for value in (1e100, 0.5, -1e100):
    ...     total.add(*dyadic(value))
    >>> total.numerator / 2**total.exponent
    0.5
    """

    __slots__ = ("count", "exponent", "numerator")

    def __init__(self) -> None:
        self.count = 0
        self.numerator = 0
        self.exponent = 0

    def add(self, numerator: int, exponent: int) -> None:
        """Count `numerator` / 2**`exponent` in."""
        if exponent > self.exponent:
            self.numerator <<= exponent - self.exponent
            self.exponent = exponent
        self.numerator += numerator << (self.exponent - exponent)
        self.count += 1

    def scaled(self, exponent: int) -> int:
        """The sum in units of 2**-`exponent`, which must not be coarser than the sum's own."""
        return self.numerator << (exponent - self.exponent)


def dyadic(value: float) -> tuple[int, int]:
    """A float as a numerator and the exponent of its denominator, a power of two.

    >>> dyadic(0.75)
    (3, 2)
    """
    numerator, denominator = value.as_integer_ratio()
    return numerator, denominator.bit_length() - 1


def root(numerator: int, denominator: int) -> float:
    """The square root of a ratio of whole numbers that may themselves be too large or too small for floats.

    >>> root(2 * 10**700, 2 * 10**698)
    10.0
    """
    # 128 bits of the ratio give 64 of its root, more than a float keeps.
    shift = (128 - numerator.bit_length() + denominator.bit_length()) // 2
    ratio = (numerator << max(2 * shift, 0)) // (denominator << max(-2 * shift, 0))
    return math.ldexp(math.isqrt(ratio), -shift)
