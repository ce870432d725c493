"""Counting who orders whom alike, by sorting instead of comparing each with each."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from turnwise.stats.kendall import kendall, order_balance

small_pairs = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 9)), min_size=1, max_size=40)


def compared(x: Any, y: Any) -> list[int]:
    """The same balance by the definition: every sample against every other."""
    balance = (np.sign(np.subtract.outer(x, x)) * np.sign(np.subtract.outer(y, y))).sum(axis=1)
    return [int(each) for each in balance]


@given(small_pairs)
def test_balance_by_definition(pairs: list[tuple[int, int]]) -> None:
    """With any ties, each sample's balance is what comparing it with every other gives."""
    x, y = np.array(pairs, dtype=np.float64).T
    assert order_balance(x, y).tolist() == compared(x, y)


@given(small_pairs)
def test_balance_is_symmetric(pairs: list[tuple[int, int]]) -> None:
    """The raters can change places; turning one of the scales around changes the sign."""
    x, y = np.array(pairs, dtype=np.float64).T
    balance = order_balance(x, y).tolist()
    assert order_balance(y, x).tolist() == balance
    assert order_balance(x, -y).tolist() == [-each for each in balance]


@pytest.mark.parametrize("digits", [0, 1, 12])
def test_many_scores_against_scipy(digits: int) -> None:
    """Thousands of scores, from many ties to none, have scipy's τ-b, clustered or not."""
    rng = np.random.default_rng(7)
    human = rng.normal(size=3000)
    human, judge = np.round(human, digits), np.round(human + rng.normal(size=3000), digits)
    expected = float(kendalltau(human, judge).statistic)
    assert kendall(human, judge).value == pytest.approx(expected, abs=1e-12)
    assert kendall(human, judge, np.arange(3000) // 3).value == pytest.approx(expected, abs=1e-12)


def test_time_does_not_grow_with_the_square() -> None:
    """40,000 different scores in clusters, which are 1.6 thousand million comparisons, take less than two seconds."""
    rng = np.random.default_rng(7)
    human = rng.normal(size=40_000)
    begun = time.perf_counter()
    figure = kendall(human, human + rng.normal(size=40_000), np.arange(40_000) // 4)
    assert time.perf_counter() - begun < 2.0
    assert figure.value == pytest.approx(0.5, abs=0.02)  # 2/π · asin(1/√2) for a correlation of 1/√2
