"""Sums of whole columns against the exact sums of values that arrive one by one."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.stats.column_sums import ColumnSums
from turnwise.stats.concordance import bias
from turnwise.stats.intervals import clustered_mean
from turnwise.stats.pairs import cluster_codes
from turnwise.stats.sums import ClusterSums

Rows = list[tuple[int, float]]

verdicts: st.SearchStrategy[Rows] = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from([0.0, 1.0])), min_size=1, max_size=40
)
scores: st.SearchStrategy[Rows] = st.lists(
    st.tuples(st.integers(0, 5), st.floats(-100.0, 100.0)), min_size=1, max_size=40
)


def both(rows: Rows) -> tuple[ColumnSums, ClusterSums]:
    """The same values as columns, and one by one."""
    exact = ClusterSums()
    for cluster, value in rows:
        exact.add(str(cluster), value)
    codes = cluster_codes([cluster for cluster, _ in rows], len(rows))
    return ColumnSums(np.array([value for _, value in rows]), codes), exact


@given(st.one_of(verdicts, scores))
def test_same_as_one_by_one(rows: Rows) -> None:
    """Counts are the same, and figures are but for rounding."""
    columns, exact = both(rows)
    assert (columns.n, columns.clusters, columns.zero_or_one) == (exact.n, exact.clusters, exact.zero_or_one)
    assert columns.mean == pytest.approx(exact.mean, abs=1e-12)
    assert columns.standard_error == pytest.approx(exact.standard_error, abs=1e-11)
    assert columns.design_effect == pytest.approx(exact.design_effect, abs=1e-11)


@given(scores, st.randoms(use_true_random=False))
def test_order_never_changes_a_digit(rows: Rows, chance: random.Random) -> None:
    """Values in another order have the same mean and the same standard error to the last digit."""
    first, _ = both(rows)
    chance.shuffle(rows)
    second, _ = both(rows)
    assert (first.mean, first.standard_error) == (second.mean, second.standard_error)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_size_of_numbers(size: float) -> None:
    """Values 1, 1, 3, 3 of two clusters have a standard error of √(2 · (2² + 2²)) / 4 = 1, in any unit."""
    sums = ColumnSums(size * np.array([1.0, 1.0, 3.0, 3.0]), np.array([0, 0, 1, 1]))
    assert sums.mean == pytest.approx(2.0 * size)
    assert sums.standard_error == pytest.approx(size)


def test_rounding_is_no_spread() -> None:
    """Clusters that all hold .1, .2 and .4 do not differ, though sums of such floats do at the last digit."""
    values = np.array([0.1, 0.2, 0.4, 0.4, 0.2, 0.1, 0.2, 0.4, 0.1])
    assert ColumnSums(values, np.repeat([0, 1, 2], 3)).standard_error == 0.0


def test_a_large_offset_costs_few_digits() -> None:
    """A million more in every value leaves the standard error as it is: of 1, 2 and 3 it is 1/√3."""
    sums = ColumnSums(1e6 + np.array([1.0, 2.0, 3.0]), None)
    assert sums.standard_error == pytest.approx(3.0**-0.5, rel=1e-9)


def test_no_values() -> None:
    """Without values there is nothing to tell."""
    sums = ColumnSums(np.array([]), None)
    assert (sums.n, sums.clusters, sums.mean, sums.standard_error, sums.design_effect) == (0, 0, None, None, None)


def test_columns_are_complete() -> None:
    """A further value is refused, and named."""
    with pytest.raises(TypeError, match=r"0\.5 of cluster 'a'"):
        ColumnSums(np.array([1.0]), None).add("a", 0.5)


@given(scores)
def test_bias_of_columns(rows: Rows) -> None:
    """The bias in clusters has the interval that exact sums give, unless the differences do not vary."""
    _, exact = both(rows)
    expected = clustered_mean(exact)
    found = bias([0.0] * len(rows), [value for _, value in rows], [cluster for cluster, _ in rows])
    assert found.value == pytest.approx(expected.value, abs=1e-12)
    if found.lo is not None:
        assert (found.lo, found.hi) == pytest.approx((expected.lo, expected.hi), rel=1e-9, abs=1e-9)
