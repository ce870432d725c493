"""Differences on any scale of scores, and why there is none."""

from __future__ import annotations

import numpy as np
import pytest

from turnwise.stats.bootstrap import Floats, concordance_of_moments, moment_rows, resample
from turnwise.stats.paired import agreement_difference, difference


def mean(sums: Floats) -> Floats:
    """The mean of the second column."""
    return np.asarray(sums[:, 1] / sums[:, 0])


def rows(values: Floats) -> Floats:
    """A 1 and the value of each sample."""
    return np.column_stack([np.ones_like(values), values])


@pytest.mark.parametrize("factor", [1e-14, 1e-90, 1e90])
def test_no_score_is_too_small(factor: float) -> None:
    """Scores times any factor have the difference and the interval times that factor, and the same p."""
    rng = np.random.default_rng(1)
    one, other = rng.normal(1.0, 0.5, 60), rng.normal(1.2, 0.5, 60)
    plain = difference(rows(one), rows(other), mean, seed=1, draws=200)
    scaled = difference(rows(one * factor), rows(other * factor), mean, seed=1, draws=200)
    assert plain.lo is not None
    assert plain.value is not None
    assert (scaled.value, scaled.lo) == pytest.approx((plain.value * factor, plain.lo * factor), rel=1e-9, abs=0)
    assert scaled.p == pytest.approx(plain.p)


@pytest.mark.parametrize("factor", [1e-14, 1e-90])
def test_no_interval_is_too_small(factor: float) -> None:
    """The interval of a mean scales with the values."""
    values = np.random.default_rng(2).normal(1.0, 0.5, 40)
    plain, scaled = (resample(rows(values * each), seed=1, draws=300).interval(mean) for each in (1.0, factor))
    assert plain.lo is not None
    assert plain.hi is not None
    assert (scaled.lo, scaled.hi) == pytest.approx((plain.lo * factor, plain.hi * factor), rel=1e-9, abs=0)


def test_rounding_is_no_spread() -> None:
    """Means that differ by 1/3 throughout, but for rounding, do not vary."""
    values = np.random.default_rng(3).normal(1000.0, 10.0, 50)
    found = difference(rows(values), rows(values + 1 / 3), mean, seed=1, draws=100)
    assert found.value == pytest.approx(-1 / 3)
    assert (found.lo, found.p, found.method, found.p_method) == (None, None, "none", "none")
    assert found.reason == "the pairs show no spread from which an interval could be made"


def test_constant_judges_do_not_differ_by_rounding() -> None:
    """Two judges with one answer each have a concordance of 0 in every resample: no interval comes from rounding."""
    human = np.random.default_rng(4).random(30)
    one, other = (moment_rows(human, np.full(30, answer)) for answer in (0.3, 0.7))
    found = difference(one, other, concordance_of_moments, seed=1, draws=100)
    assert (found.value, found.lo, found.p) == (0.0, None, None)


def test_one_cluster_has_no_interval() -> None:
    """A difference within one cluster has a value, and says that the cluster is the only one."""
    found = difference(rows(np.array([1.0, 2.0])), rows(np.array([2.0, 2.0])), mean, ["a", "a"], seed=1)
    assert (found.value, found.p, found.reason) == (-0.5, None, "all pairs belong to one cluster")
    assert found.mirrored().reason == found.reason


def test_undefined_figures_have_no_difference() -> None:
    """A figure that one grader does not have has no difference, and says so."""
    constant = moment_rows([1.0, 1.0], [1.0, 1.0])
    found = difference(constant, moment_rows([1.0, 1.0], [1.0, 2.0]), concordance_of_moments, seed=1, draws=50)
    assert (found.value, found.reason) == (None, "the figure is not defined for both of them")


def test_an_exact_p_needs_no_interval() -> None:
    """One answer right for one grader and wrong for the other: McNemar's p is there, the interval is not."""
    found = agreement_difference([True], [False], seed=1)
    assert (found.p, found.p_method, found.method) == (1.0, "mcnemar-exact", "none")
    assert found.reason == "the interval needs at least two pairs"
