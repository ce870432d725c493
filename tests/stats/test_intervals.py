"""Intervals for independent values."""

from __future__ import annotations

import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.stats.intervals import Estimate, mean_interval, wilson
from turnwise.stats.normal import two_sided_z
from turnwise.stats.student import two_sided_t


def _varies(values: list[float]) -> bool:
    return mean_interval(values).method == "t"


levels = st.floats(0.01, 0.999)
counts = st.integers(1, 100_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
scores = st.lists(st.floats(-1000.0, 1000.0), min_size=2, max_size=30).filter(_varies)


def ends(estimate: Estimate) -> tuple[float, float]:
    """The ends of an interval that must exist."""
    assert estimate.lo is not None
    assert estimate.hi is not None
    return estimate.lo, estimate.hi


@pytest.mark.parametrize(
    ("successes", "n", "lo", "hi"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_published_wilson(successes: int, n: int, lo: float, hi: float) -> None:
    """The examples of Newcombe (1998), Statistics in Medicine 17:857, table I, method 3, are met."""
    assert ends(wilson(successes, n)) == pytest.approx((lo, hi), abs=0.00005)


def test_eight_of_ten() -> None:
    """For 8 of 10 at z = 1.959964 the ends are the roots of 1.3841459 p² - 1.9841459 p + 0.64 = 0."""
    assert ends(wilson(8, 10)) == pytest.approx((0.4901625, 0.9433178), abs=5e-8)


@given(counts, levels)
def test_wilson_solves_its_equation(count: tuple[int, int], level: float) -> None:
    """Each end is a rate from which the observed one is exactly z standard errors of that rate away."""
    successes, n = count
    z = two_sided_z(level)
    for end in ends(wilson(successes, n, level)):
        assert math.isclose((successes / n - end) ** 2 * n, z * z * end * (1.0 - end), rel_tol=1e-6, abs_tol=1e-9)


@given(counts, levels)
def test_wilson_bounds(count: tuple[int, int], level: float) -> None:
    """The interval holds the rate and stays among possible rates."""
    estimate = wilson(*count, level)
    lo, hi = ends(estimate)
    assert estimate.value is not None
    assert 0.0 <= lo <= estimate.value <= hi <= 1.0
    assert (estimate.n, estimate.method) == (count[1], "wilson")


@given(counts, levels)
def test_wilson_symmetry(count: tuple[int, int], level: float) -> None:
    """Failures have the mirror image of the interval of successes."""
    successes, n = count
    lo, hi = ends(wilson(successes, n, level))
    assert ends(wilson(n - successes, n, level)) == pytest.approx((1.0 - hi, 1.0 - lo), abs=1e-12)


@given(counts, levels)
def test_wilson_monotone_in_level(count: tuple[int, int], level: float) -> None:
    """More confidence takes a wider interval."""
    narrow, wide = ends(wilson(*count, level)), ends(wilson(*count, level + 0.0005))
    assert wide[0] <= narrow[0]
    assert narrow[1] <= wide[1]
    assert wide != narrow


def test_wilson_without_tries() -> None:
    """No tries give no rate and no interval, rather than a number."""
    assert wilson(0, 0) == Estimate(None, 0, None, None, "none")


@pytest.mark.parametrize(("successes", "n"), [(3, 2), (-1, 2), (0, -1)])
def test_wilson_impossible_counts(successes: int, n: int) -> None:
    """More successes than tries, or fewer than none, are refused."""
    with pytest.raises(ValueError, match=f"found {successes}"):
        wilson(successes, n)


def exact_coverage(n: int, rate: float) -> float:
    """The chance that Wilson's interval of a binomial count holds the rate behind it, by enumeration."""
    held = [s for s in range(n + 1) if ends(wilson(s, n))[0] <= rate <= ends(wilson(s, n))[1]]
    return math.fsum(math.comb(n, s) * rate**s * (1.0 - rate) ** (n - s) for s in held)


@pytest.mark.parametrize("n", [10, 40])
def test_wilson_coverage(n: int) -> None:
    """Averaged over all rates, 95 % intervals hold the rate about 95 times of 100 (Agresti and Coull 1998)."""
    coverage = statistics.fmean(exact_coverage(n, (step + 0.5) / 100) for step in range(100))
    assert abs(coverage - 0.95) < 0.01


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_mean_of_nothing_else_has_wilsons_interval(value: float) -> None:
    """Two scores of 1 do not prove that all are 1: where nothing varies, t would have an interval of no width."""
    assert mean_interval([value] * 2) == wilson(int(2 * value), 2)


def test_a_mean_without_variance_has_no_interval() -> None:
    """Equal scores between 0 and 1 tell nothing about how far others may be from them."""
    assert mean_interval([0.5, 0.5, 0.5]) == Estimate(0.5, 3, None, None, "none")


def test_mean_of_a_textbook_sample() -> None:
    """Values 1 to 5 have mean 3, standard error √(2.5 / 5), and t = 2.776 with 4 degrees of freedom."""
    estimate = mean_interval([1, 2, 3, 4, 5])
    assert (estimate.value, estimate.n, estimate.method) == (3.0, 5, "t")
    assert ends(estimate) == pytest.approx((3 - 2.776 * math.sqrt(0.5), 3 + 2.776 * math.sqrt(0.5)), abs=0.0005)


@given(scores, levels)
def test_mean_by_the_standard_library(values: list[float], level: float) -> None:
    """The interval is the mean and t times the standard deviation over √n, as the statistics module has them."""
    half = two_sided_t(level, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    mean = statistics.mean(values)
    assert ends(mean_interval(values, level)) == pytest.approx((mean - half, mean + half), rel=1e-9, abs=1e-9)


@given(scores, st.randoms(use_true_random=False))
def test_mean_in_any_order(values: list[float], chance: random.Random) -> None:
    """The order of values does not change a digit."""
    assert mean_interval(chance.sample(values, len(values))) == mean_interval(values)


@given(scores)
def test_mean_symmetry(values: list[float]) -> None:
    """Negated values have the mirror image of the interval."""
    lo, hi = ends(mean_interval(values))
    assert ends(mean_interval([-value for value in values])) == (-hi, -lo)


@given(scores, levels)
def test_mean_monotone_in_level(values: list[float], level: float) -> None:
    """More confidence never narrows the interval, which always holds the mean."""
    narrow, wide = mean_interval(values, level), mean_interval(values, level + 0.0005)
    assert narrow.value is not None
    assert ends(wide)[0] <= ends(narrow)[0] <= narrow.value <= ends(narrow)[1] <= ends(wide)[1]


def test_a_large_offset_costs_no_digits() -> None:
    """The spread of close values far from zero is not lost: 10¹⁵ more leaves the width of 0, 1, 2 as it is."""
    near, far = ends(mean_interval([0, 1, 2])), ends(mean_interval([1e15, 1e15 + 1, 1e15 + 2]))
    assert far[1] - far[0] == pytest.approx(near[1] - near[0], abs=0.25)


def test_one_value_and_none() -> None:
    """One value has a mean but no interval; no value has neither."""
    assert mean_interval([0.7]) == Estimate(0.7, 1, None, None, "none")
    assert mean_interval([]) == Estimate(None, 0, None, None, "none")


def covered(repeats: int, size: int) -> float:
    """The share of simulated samples from a normal distribution around zero whose interval holds zero."""
    chance = random.Random(20)
    draws = (ends(mean_interval([chance.gauss(0, 1) for _ in range(size)])) for _ in range(repeats))
    return statistics.fmean(lo <= 0.0 <= hi for lo, hi in draws)


def test_mean_coverage() -> None:
    """95 % intervals of normal samples hold the true mean 95 times of 100, within 4 standard errors."""
    assert abs(covered(2_000, 5) - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 2_000)


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 5, 30])
def test_mean_coverage_closely(size: int) -> None:
    """The same within 4 standard errors of a much larger simulation."""
    assert abs(covered(60_000, size) - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 60_000)


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 25, 100, 300])
def test_wilson_coverage_closely(n: int) -> None:
    """Averaged over a fine grid of rates, coverage stays near 95 % for small and large samples."""
    coverage = statistics.fmean(exact_coverage(n, (step + 0.5) / 400) for step in range(400))
    assert abs(coverage - 0.95) < 0.012
