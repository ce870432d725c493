"""Lin's concordance, and the size of differences."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rater_data import TABLE, VALUES, columns
from turnwise.stats.concordance import bias, limits_of_agreement, lin_ccc, mae, rmse
from turnwise.stats.correlation import pearson
from turnwise.stats.intervals import wilson
from turnwise.stats.weighted_kappa import weighted_kappa

HUMAN, JUDGE = columns(TABLE)

Pairs = list[tuple[int, int]]

codes: st.SearchStrategy[Pairs] = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30)
scales = st.lists(st.integers(-20, 20), min_size=5, max_size=5, unique=True).map(sorted)


def test_worked_table() -> None:
    """The table of 168 samples has the known concordance, mean difference and mean size of differences."""
    assert lin_ccc(HUMAN, JUDGE).value == pytest.approx(0.887314, abs=5e-7)
    assert mae(HUMAN, JUDGE, seed=1).value == pytest.approx(0.351190, abs=5e-7)
    assert bias(HUMAN, JUDGE).value == pytest.approx(0.029762, abs=5e-7)


@given(codes, scales, st.booleans())
def test_concordance_is_quadratic_kappa(pairs: Pairs, scale: list[int], clustered: bool) -> None:
    """On any scale of values, quadratic κ is Lin's concordance, with the same interval."""
    human, judge = np.array(pairs).T
    values = np.array(scale, dtype=float)
    clusters = np.arange(len(pairs)) % 7 if clustered else None
    lin = lin_ccc(values[human], values[judge], clusters)
    kappa = weighted_kappa(human, judge, scale, "quadratic", clusters)
    assert lin.value == pytest.approx(kappa.value, abs=1e-9)
    if kappa.method in {"fleiss-cohen-everitt", "fisher-z-clustered"}:
        assert (lin.se, lin.lo, lin.hi) == pytest.approx((kappa.se, kappa.lo, kappa.hi), abs=1e-6)


@given(codes)
def test_concordance_is_less_than_correlation(pairs: Pairs) -> None:
    """Concordance asks for more than correlation: it is never further from zero."""
    human, judge = np.array(pairs).T
    lin, line = lin_ccc(human, judge).value, pearson(human, judge).value
    if lin is not None and line is not None:
        assert abs(lin) <= abs(line) + 1e-12


def test_concordance_by_definition() -> None:
    """For (1, 2, 3) and (2, 3, 5): 2 · 1 / (2/3 + 14/9 + (4/3)²) = 1/2."""
    assert lin_ccc([1, 2, 3], [2, 3, 5]).value == pytest.approx(0.5)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_size_of_numbers(size: float) -> None:
    """Scores may be very small or very large: no square overflows or vanishes."""
    human, judge = [1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 5.0]
    plain = lin_ccc(human, judge)
    sized = lin_ccc([size * each for each in human], [size * each for each in judge])
    assert (sized.value, sized.lo, sized.hi) == pytest.approx((plain.value, plain.lo, plain.hi))
    assert rmse([0.0, 0.0], [size, size], seed=1).value == pytest.approx(size)


def test_no_spread() -> None:
    """Where both raters give one and the same score, there is no concordance; different ones give 0."""
    assert lin_ccc([2.0, 2.0], [2.0, 2.0]).reason == "both raters gave one and the same score throughout"
    apart = lin_ccc([0.1, 0.1, 0.1], [0.7, 0.7, 0.7])
    assert apart.value == pytest.approx(0.0, abs=1e-15)
    assert apart.lo is None


def test_full_concordance() -> None:
    """Equal scores have a concordance of exactly 1; its lower bound is that of the agreement, corrected for chance."""
    lin, least = lin_ccc([0.1, 0.2, 0.7], [0.1, 0.2, 0.7]), wilson(3, 3).lo
    assert least is not None
    assert (lin.value, lin.hi, lin.method) == (1.0, 1.0, "wilson-agreement")
    assert lin.lo == pytest.approx((least - 1 / 3) / (1 - 1 / 3))


def test_no_pairs() -> None:
    """Without pairs every figure is undefined, and says why."""
    figures = [figure([], []) for figure in (lin_ccc, bias, limits_of_agreement)]
    for result in (*figures, mae([], [], seed=1), rmse([], [], seed=1)):
        assert (result.value, result.n, result.lo, result.hi) == (None, 0, None, None)
        assert result.reason


@given(codes.filter(lambda pairs: len({b - a for a, b in pairs}) > 1))
def test_bias_is_a_t_interval(pairs: Pairs) -> None:
    """The bias is the mean of judge less human, with the t interval of scipy."""
    human, judge = np.array(pairs).T
    result, expected = bias(human, judge), stats.ttest_rel(judge, human).confidence_interval(0.95)
    assert result.value == pytest.approx(statistics.fmean(judge - human))
    assert (result.lo, result.hi) == pytest.approx((expected.low, expected.high), abs=1e-6)
    assert result.method == "t"


def test_constant_bias() -> None:
    """Differences that do not vary have a mean but no interval: not even where all are 0, or all are 1."""
    for shift in (0, 1, 3):
        result = bias([1, 2, 3], [1 + shift, 2 + shift, 3 + shift])
        assert (result.value, result.lo, result.reason) == (shift, None, "the differences do not vary")


def test_bias_in_clusters() -> None:
    """Differences 1, 1, 3, 3 in two clusters: the mean is 2, the standard error √(2 · (2² + 2²)) / 4 = 1."""
    result = bias([0, 0, 0, 0], [1, 1, 3, 3], ["a", "a", "b", "b"])
    assert (result.value, result.method) == (2.0, "t-clustered")
    assert result.se == pytest.approx(1.0)


def test_limits_of_agreement() -> None:
    """Differences -1, 0, 1 have a standard deviation of 1: 95 % lie within 1.96 of their mean."""
    limits = limits_of_agreement([1, 2, 3], [0, 2, 4])
    assert limits.value == 0.0
    assert (limits.lo, limits.hi) == pytest.approx((-1.959964, 1.959964), abs=5e-7)


def test_one_pair_has_no_limits() -> None:
    """One difference has no spread, and so no limits."""
    assert limits_of_agreement([1], [2]).value is None


@given(codes)
def test_sizes_of_differences(pairs: Pairs) -> None:
    """The root mean square is never below the mean size, nor that below the bias's."""
    human, judge = np.array(pairs).T
    mean, root, shift = (
        mae(human, judge, seed=1, draws=20).value,
        rmse(human, judge, seed=1, draws=20).value,
        bias(human, judge).value,
    )
    assert mean is not None
    assert root is not None
    assert shift is not None
    assert abs(shift) <= mean + 1e-12 <= root + 2e-12
    assert root == pytest.approx(math.sqrt(statistics.fmean((b - a) ** 2 for a, b in pairs)))


def test_weights_follow_values() -> None:
    """Quadratic κ of a scale with a gap is the concordance of its values, not of their ranks."""
    values = [*VALUES[:4], 10.0]
    scores = np.array(values)
    assert weighted_kappa(HUMAN, JUDGE, values).value == pytest.approx(lin_ccc(scores[HUMAN], scores[JUDGE]).value)
    assert weighted_kappa(HUMAN, JUDGE, values).value != pytest.approx(lin_ccc(HUMAN, JUDGE).value, abs=1e-3)
