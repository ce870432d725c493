"""pass@k and pass^k."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.stats.trials import all_pass, any_passes, pass_at_k, pass_hat_k

cases = st.lists(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), min_size=1)
triples = [(n, c, k) for n in range(1, 8) for c in range(n + 1) for k in range(1, n + 1)]


@pytest.mark.parametrize(("n", "c", "k"), triples)
def test_by_enumeration(n: int, c: int, k: int) -> None:
    """Both estimates are shares of all choices of k trials, counted one by one."""
    chosen = list(combinations([True] * c + [False] * (n - c), k))
    assert any_passes(n, c, k) == sum(map(any, chosen)) / len(chosen)
    assert all_pass(n, c, k) == sum(map(all, chosen)) / len(chosen)


@pytest.mark.parametrize("k", [1, 3, 6])
def test_no_bias(k: int) -> None:
    """Over all outcomes of 6 trials with chance 0.3 the estimates average 1 - 0.7^k and 0.3^k."""
    weights = [math.comb(6, c) * 0.3**c * 0.7 ** (6 - c) for c in range(7)]
    assert sum(w * any_passes(6, c, k) for c, w in enumerate(weights)) == pytest.approx(1 - 0.7**k, rel=1e-12)
    assert sum(w * all_pass(6, c, k) for c, w in enumerate(weights)) == pytest.approx(0.3**k, rel=1e-12)


@given(cases)
def test_averages(counts: list[tuple[int, int]]) -> None:
    """Each k up to the least number of trials has the plain average over cases."""
    least = min(n for n, _ in counts)
    at, hat = pass_at_k(counts), pass_hat_k(counts)
    assert list(at) == list(hat) == list(range(1, least + 1))
    for k in at:
        assert at[k] == pytest.approx(sum(any_passes(n, c, k) for n, c in counts) / len(counts), rel=1e-12)
        assert hat[k] == pytest.approx(sum(all_pass(n, c, k) for n, c in counts) / len(counts), rel=1e-12)


@given(cases)
def test_shape(counts: list[tuple[int, int]]) -> None:
    """At k = 1 both are the mean pass rate; with more trials one rises and the other falls, within 0 to 1."""
    at, hat = list(pass_at_k(counts).values()), list(pass_hat_k(counts).values())
    assert at[0] == pytest.approx(hat[0], rel=1e-12)
    assert all(x <= y + 1e-12 for x, y in zip([0.0, *at], [*at, 1.0], strict=True))
    assert all(x + 1e-12 >= y for x, y in zip([1.0, *hat], [*hat, 0.0], strict=True))


@given(cases)
def test_mirror(counts: list[tuple[int, int]]) -> None:
    """Some trial passes unless all fail: pass@k is one less pass^k of the failures."""
    failures = pass_hat_k([(n, n - c) for n, c in counts])
    for k, value in pass_at_k(counts).items():
        assert value == pytest.approx(1.0 - failures[k], abs=1e-12)


@given(cases)
def test_any_order(counts: list[tuple[int, int]]) -> None:
    """The order of cases does not change a digit, and any iterable will do."""
    assert pass_at_k(iter(counts[::-1])) == pass_at_k(counts)
    assert pass_hat_k(iter(counts[::-1])) == pass_hat_k(counts)


def test_many_trials() -> None:
    """Counts whose binomial coefficients exceed every float still give a number: 1/2 · 999/1999 for two of half."""
    assert all_pass(2000, 1000, 2) == 0.5 * 999 / 1999
    assert any_passes(2000, 1000, 1000) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("counts", [[], [(0, 0)], [(3, 1), (0, 0)]])
def test_nothing_to_report(counts: list[tuple[int, int]]) -> None:
    """Without cases, or with one that has no trials, there is no k to report."""
    assert pass_at_k(counts) == pass_hat_k(counts) == {}


def test_impossible_counts() -> None:
    """More passes than trials, or more trials drawn than made, are refused with the number found."""
    with pytest.raises(ValueError, match="passes must lie between 0 and the number of trials, 2; found 3"):
        pass_at_k([(2, 3)])
    with pytest.raises(ValueError, match="passes must lie between 0 and the number of trials, 0; found 1"):
        pass_hat_k([(0, 1)])
    with pytest.raises(ValueError, match="k must lie between 0 and the number of trials, 2; found 3"):
        any_passes(2, 1, 3)
