"""Student's t and the normal distribution, against published tables and closed forms."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.stats.normal import check_level, two_sided_z
from turnwise.stats.student import NEAR_NORMAL, two_sided_t, two_sided_tail

levels = st.floats(0.001, 0.9999)
degrees = st.integers(1, 300)


def inside_by_series(t: float, df: int) -> float:
    """P(|T| < t) as the finite sum of cosines for whole degrees of freedom (Abramowitz and Stegun 26.7.3, 26.7.4)."""
    angle = math.atan(t / math.sqrt(df))
    odd = df % 2
    term, terms = (math.cos(angle) if odd else 1.0), []
    for factor in range(2 + odd, df + 1, 2):
        terms.append(term)
        term *= (factor - 1) / factor * math.cos(angle) ** 2
    total = math.sin(angle) * math.fsum(terms)
    return 2.0 / math.pi * (angle + total) if odd else total


@pytest.mark.parametrize(
    ("level", "df", "published"),
    [
        (0.95, 1, 12.706),
        (0.95, 2, 4.303),
        (0.95, 3, 3.182),
        (0.95, 5, 2.571),
        (0.95, 10, 2.228),
        (0.95, 30, 2.042),
        (0.95, 120, 1.980),
        (0.99, 1, 63.657),
        (0.99, 5, 4.032),
        (0.99, 10, 3.169),
        (0.99, 60, 2.660),
        (0.90, 8, 1.860),
        (0.80, 15, 1.341),
    ],
)
def test_published_table(level: float, df: int, published: float) -> None:
    """Critical values agree with the t table that statistics textbooks print, to its three decimals."""
    assert abs(two_sided_t(level, df) - published) <= 0.0005


@given(levels)
def test_closed_form_with_four_degrees(level: float) -> None:
    """With 4 degrees of freedom the quantile is a cube root in disguise (Shaw 2006, section 2.3), met to 1e-9."""
    alpha = 1.0 - level * level
    q = math.cos(math.acos(math.sqrt(alpha)) / 3.0) / math.sqrt(alpha)
    assert math.isclose(two_sided_t(level, 4), 2.0 * math.sqrt(q - 1.0), rel_tol=1e-9)


@given(levels, degrees)
def test_the_share_inside_is_the_level(level: float, df: int) -> None:
    """The finite series for the distribution function gives the level back at its critical value."""
    assert math.isclose(inside_by_series(two_sided_t(level, df), df), level, rel_tol=0, abs_tol=1e-11)


@given(st.floats(0.001, 50.0), degrees)
def test_tail_matches_the_series(t: float, df: int) -> None:
    """The tail by continued fraction is one less the share inside by the finite series, on both sides of zero."""
    assert math.isclose(two_sided_tail(t, df), 1.0 - inside_by_series(t, df), rel_tol=0, abs_tol=1e-11)
    assert two_sided_tail(-t, df) == two_sided_tail(t, df)


def test_nothing_is_further_from_zero_than_everything() -> None:
    """At zero the tail is the whole distribution."""
    assert two_sided_tail(0.0, 7) == 1.0


def inside_by_decimals(t: float, df: int) -> float:
    """The same sum for even degrees of freedom, to 40 digits; rounded only at the end."""
    with localcontext(prec=40):
        square = Decimal(t) ** 2
        cosine, term, total = df / (df + square), Decimal(1), Decimal(0)
        for factor in range(2, df + 1, 2):
            total += term
            term *= cosine * (factor - 1) / factor
        return float(total * (square / (df + square)).sqrt())


@pytest.mark.parametrize("df", [6, 500, NEAR_NORMAL - 2, NEAR_NORMAL, 30_000])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999999])
def test_nine_decimals(level: float, df: int) -> None:
    """Critical values are right to 1e-9, by search and by expansion: the share inside is off by density times that."""
    t = two_sided_t(level, df)
    density = math.exp(-(df + 1) / 2.0 * math.log1p(t * t / df)) / math.sqrt(2.0 * math.pi)
    assert abs(inside_by_decimals(t, df) - level) / (2.0 * density) < 1e-9


@given(levels, st.integers(1, 2 * NEAR_NORMAL))
def test_t_is_wider_than_normal_and_narrows(level: float, df: int) -> None:
    """Each degree of freedom narrows the distribution, which stays wider than the normal one."""
    assert two_sided_t(level, df) > two_sided_t(level, df + 1) > two_sided_z(level)


@given(levels, degrees)
def test_monotone_in_level(level: float, df: int) -> None:
    """A higher level needs more standard errors."""
    higher = level + 0.00005
    assert two_sided_t(level, df) < two_sided_t(higher, df)
    assert two_sided_z(level) < two_sided_z(higher)


@given(levels)
def test_normal_share(level: float) -> None:
    """The error function gives the level back at the normal critical value."""
    assert math.isclose(math.erf(two_sided_z(level) / math.sqrt(2.0)), level, rel_tol=1e-12)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 95, math.nan])
def test_impossible_level(level: float) -> None:
    """A level outside 0 to 1 is refused with the value found, also where a percentage was meant."""
    with pytest.raises(ValueError, match=r"such as 0\.95; found"):
        check_level(level)
    with pytest.raises(ValueError, match="confidence level"):
        two_sided_t(level, 5)


def test_no_degrees_of_freedom() -> None:
    """Zero degrees of freedom are refused."""
    with pytest.raises(ValueError, match="at least 1 degree of freedom; found 0"):
        two_sided_t(0.95, 0)
