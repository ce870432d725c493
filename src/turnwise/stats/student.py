"""Student's t distribution with a whole number of degrees of freedom, to at least nine decimals."""

from __future__ import annotations

import math
from functools import lru_cache

from .normal import check_level, two_sided_z

__all__ = ["two_sided_t", "two_sided_tail"]

NEAR_NORMAL = 10_000
"""Degrees of freedom from which an expansion around the normal distribution is more than accurate enough."""

MAX_STEPS = 100
MAX_TERMS = 10_000
TINY = 1e-300


@lru_cache(maxsize=1024)
def two_sided_t(level: float, df: int) -> float:
    """The number of standard errors around the mean that hold a share `level` of a t distribution.

    >>> round(two_sided_t(0.95, 10), 6)
    2.228139
    """
    check_level(level)
    _check_df(df)
    outside = 1.0 - level
    if df == 1:
        return 1.0 / math.tan(math.pi * outside / 2.0)
    if df == 2:
        return level * math.sqrt(2.0 / (outside * (1.0 + level)))
    if df >= NEAR_NORMAL:
        return _expanded(two_sided_z(level), df)
    return _solved(two_sided_z(level), math.log(outside), df)


def two_sided_tail(t: float, df: int) -> float:
    """The probability that a t variable is further from zero than `t`, on either side.

    >>> round(two_sided_tail(1.0, 1), 12)
    0.5
    """
    _check_df(df)
    return 1.0 if t == 0.0 else math.exp(_log_tail(abs(t), df))


def _check_df(df: int) -> None:
    if df < 1:
        raise ValueError(f"a t distribution needs at least 1 degree of freedom; found {df!r}")


def _expanded(z: float, df: int) -> float:
    """Fisher's expansion of a t quantile in powers of 1/df (Abramowitz and Stegun 26.7.5)."""
    first = (z**3 + z) / 4.0
    second = (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / 96.0
    third = (3.0 * z**7 + 19.0 * z**5 + 17.0 * z**3 - 15.0 * z) / 384.0
    return z + first / df + second / df**2 + third / df**3


def _solved(start: float, log_outside: float, df: int) -> float:
    # Newton's method on the logarithms of both the tail and t: heavy tails are nearly straight lines there, and the
    # curve is concave, so that the steps cannot run away.
    t = start
    for _ in range(MAX_STEPS):
        log_tail = _log_tail(t, df)
        slope = -2.0 * t * math.exp(_log_density(t, df) - log_tail)
        step = (log_outside - log_tail) / slope
        t *= math.exp(step)
        if abs(step) < 1e-14:
            break
    return t


def _log_beta(df: int) -> float:
    """The logarithm of B(df/2, 1/2)."""
    return math.lgamma(df / 2.0) + math.lgamma(0.5) - math.lgamma((df + 1) / 2.0)


def _log_density(t: float, df: int) -> float:
    return -_log_beta(df) - 0.5 * math.log(df) - (df + 1) / 2.0 * math.log1p(t * t / df)


def _log_tail(t: float, df: int) -> float:
    """The logarithm of I_x(df/2, 1/2) with x = df / (df + t²)."""
    a, x, y = df / 2.0, df / (df + t * t), t * t / (df + t * t)
    log_front = -a * math.log1p(t * t / df) + 0.5 * math.log(y) - _log_beta(df)
    if x < (a + 1.0) / (a + 2.5):
        return log_front - math.log(a * _fraction(a, 0.5, x))
    # The fraction converges slowly here; its mirror image gives the share inside.
    return math.log1p(-math.exp(log_front) / (0.5 * _fraction(0.5, a, y)))


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction 1 + d1/(1 + d2/(1 + ...)) of the incomplete beta function (DLMF 8.17.22).

    Evaluated from the front as the product of the ratios of successive numerators and denominators.
    """
    value = upper = 1.0
    lower = 0.0
    for index in range(1, MAX_TERMS):
        d = _coefficient(index, a, b, x)
        upper = 1.0 + d / (upper or TINY)
        lower = 1.0 / ((1.0 + d * lower) or TINY)
        value *= upper * lower
        if abs(upper * lower - 1.0) < 1e-16:
            break
    return value


def _coefficient(index: int, a: float, b: float, x: float) -> float:
    m = index // 2
    if index % 2 == 0:
        return m * (b - m) * x / ((a + index - 1.0) * (a + index))
    return -(a + m) * (a + b + m) * x / ((a + index - 1.0) * (a + index))
