"""How many labels are needed."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from turnwise.stats.intervals import wilson
from turnwise.stats.normal import two_sided_z
from turnwise.stats.planning import (
    labels_for_fisher_bound,
    labels_for_fisher_width,
    labels_for_perfect_kappa_bound,
    labels_for_proportion_bound,
    labels_for_proportion_width,
    still_needed,
)

Z = two_sided_z(0.95)
values = st.floats(-0.95, 0.95)
errors = st.floats(0.01, 0.5)


def wilson_ends(rate: float, n: float) -> tuple[float, float]:
    """Wilson's interval for any number of labels, whole or not, by its textbook formula."""
    centre, half = rate + Z**2 / (2 * n), Z * math.sqrt(rate * (1 - rate) / n + Z**2 / (4 * n**2))
    return (centre - half) / (1 + Z**2 / n), (centre + half) / (1 + Z**2 / n)


def fisher_ends(value: float, se: float, n: float, labels: float) -> tuple[float, float]:
    """The interval on Fisher's z, were there so many labels instead of `n`."""
    half = Z * se * math.sqrt(n / labels) / (1 - value**2)
    return math.tanh(math.atanh(value) - half), math.tanh(math.atanh(value) + half)


def test_textbook_wilson_is_ours() -> None:
    """The formula that these tests go by is the interval that reports show."""
    shown = wilson(17, 20)
    assert wilson_ends(0.85, 20) == pytest.approx((shown.lo, shown.hi))


@given(st.floats(0.0, 1.0), st.floats(0.01, 0.45))
def test_proportion_width_is_just_reached(rate: float, width: float) -> None:
    """The interval is narrow enough with the labels asked for, and not with one fewer."""
    labels = labels_for_proportion_width(rate, width)
    assert labels is not None
    lo, hi = wilson_ends(rate, labels)
    assert (hi - lo) / 2 <= width + 1e-9
    if labels > 1:
        lo, hi = wilson_ends(rate, labels - 1)
        assert (hi - lo) / 2 > width - 1e-9


@given(st.floats(0.0, 1.0), st.floats(0.05, 0.95))
def test_proportion_bound_is_just_reached(rate: float, threshold: float) -> None:
    """The bound passes the threshold with the labels asked for, and not with one fewer."""
    assume(abs(rate - threshold) > 0.01)
    labels = labels_for_proportion_bound(rate, threshold)
    assert labels is not None
    side, sign = (0, 1) if rate > threshold else (1, -1)
    assert sign * (wilson_ends(rate, labels)[side] - threshold) >= -1e-9
    if labels > 1:
        assert sign * (wilson_ends(rate, labels - 1)[side] - threshold) < 1e-9


@given(values, errors, st.floats(0.01, 0.9))
def test_fisher_width_is_just_reached(value: float, se: float, width: float) -> None:
    """The interval on Fisher's z is narrow enough with the labels asked for, and not with one fewer."""
    labels = labels_for_fisher_width(value, se, 50, width)
    assert labels is not None
    lo, hi = fisher_ends(value, se, 50, labels)
    assert (hi - lo) / 2 <= width + 1e-9
    if labels > 1:
        lo, hi = fisher_ends(value, se, 50, labels - 1)
        assert (hi - lo) / 2 > width - 1e-9


@given(values, errors, values)
def test_fisher_bound_is_just_reached(value: float, se: float, threshold: float) -> None:
    """The bound on Fisher's z passes the threshold with the labels asked for, and not with one fewer."""
    assume(abs(value - threshold) > 0.01)
    labels = labels_for_fisher_bound(value, se, 50, threshold)
    assert labels is not None
    side, sign = (0, 1) if value > threshold else (1, -1)
    assert sign * (fisher_ends(value, se, 50, labels)[side] - threshold) >= -1e-9
    if labels > 1:
        assert sign * (fisher_ends(value, se, 50, labels - 1)[side] - threshold) < 1e-9


def test_a_bound_that_is_reached_stays_so() -> None:
    """The five-value table with κ .887314 ± .019096 from 168 labels needs fewer than those for a lower bound of .6."""
    needed = labels_for_fisher_bound(0.887314, 0.019096, 168, 0.6)
    assert needed is not None
    assert needed < 168
    assert labels_for_fisher_bound(0.887314, 0.019096, 168, 0.843496) == pytest.approx(168, abs=1)


def test_no_number_of_labels_moves_a_point() -> None:
    """A value that is the threshold itself never gets a bound past it, and an error of 0 tells nothing."""
    assert labels_for_proportion_bound(0.8, 0.8) is None
    assert labels_for_fisher_bound(0.6, 0.1, 50, 0.6) is None
    assert labels_for_fisher_bound(0.9, 0.0, 50, 0.6) is None
    assert labels_for_fisher_width(1.0, 0.1, 50, 0.1) is None


@pytest.mark.parametrize("chance", [0.2, 0.5, 0.8])
def test_perfect_kappa_follows_the_agreement(chance: float) -> None:
    """For κ of 1, the lower bound of the agreement corrected for chance just reaches the threshold."""
    labels = labels_for_perfect_kappa_bound(chance, 0.6)
    assert labels is not None
    bounds = [(wilson_ends(1.0, n)[0] - chance) / (1 - chance) for n in (labels - 1, labels)]
    assert bounds[0] < 0.6 <= bounds[1]


def test_clusters_need_more_labels() -> None:
    """A design effect of 2 doubles the number of labels."""
    once, twice = (labels_for_proportion_bound(0.9, 0.8, design_effect=effect) for effect in (1.0, 2.0))
    assert once is not None
    assert twice in (2 * once, 2 * once - 1)


def test_still_needed() -> None:
    """What is there need not be labelled again, and labels of a rare kind take many of all kinds."""
    assert still_needed(100, 40) == 60
    assert still_needed(100, 120) == 0
    assert still_needed(100, 90, share=0.1) == 100
    assert still_needed(None, 40) is None
    assert still_needed(100, 0, share=0.0) is None


@pytest.mark.parametrize("rate", [-0.1, 1.1, math.nan])
def test_impossible_rates(rate: float) -> None:
    """What is no rate is refused by name."""
    with pytest.raises(ValueError, match="between 0 and 1"):
        labels_for_proportion_bound(rate, 0.5)


def test_impossible_wishes() -> None:
    """An interval without width, a threshold at the end of the scale and a negative error are refused."""
    with pytest.raises(ValueError, match="positive"):
        labels_for_proportion_width(0.5, 0.0)
    with pytest.raises(ValueError, match="both excluded"):
        labels_for_fisher_bound(0.5, 0.1, 50, 1.0)
    with pytest.raises(ValueError, match="negative"):
        labels_for_fisher_bound(0.5, -0.1, 50, 0.4)
