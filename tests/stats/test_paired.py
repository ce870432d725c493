"""Differences between two graders on the same samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnwise.stats.bootstrap import Floats, cell_rows, kappa_statistic
from turnwise.stats.paired import (
    Difference,
    agreement_difference,
    both_valid,
    difference,
    holm,
    judge_all,
    mcnemar_exact,
)

BINARY = kappa_statistic([0, 1])
p_values = st.lists(st.floats(0.0, 1.0), max_size=12)


def graders(n: int, first: float, second: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The cells of two graders who are right so often, on the same samples."""
    human = rng.integers(0, 2, n)
    judged = [np.where(rng.random(n) < right, human, 1 - human) for right in (first, second)]
    one, other = (cell_rows(human.tolist(), judge.tolist(), 2) for judge in judged)
    return one, other


def test_mcnemar_known_value() -> None:
    """154 against 111 gives the known p value."""
    assert mcnemar_exact(154, 111) == pytest.approx(0.009747, abs=5e-7)


@given(st.integers(0, 300), st.integers(0, 300))
@settings(max_examples=60, deadline=None)
def test_mcnemar_agrees_with_statsmodels(b: int, c: int) -> None:
    """The exact test is statsmodels' where there is a disagreement, and the same in both directions."""
    from statsmodels.stats.contingency_tables import mcnemar

    expected = mcnemar([[0, b], [c, 0]], exact=True).pvalue if b + c else 1.0
    assert mcnemar_exact(b, c) == pytest.approx(expected, rel=1e-9, abs=1e-300)
    assert mcnemar_exact(b, c) == mcnemar_exact(c, b)


def test_mcnemar_of_many_samples() -> None:
    """Counts whose powers exceed every float still have a p value."""
    assert mcnemar_exact(5000, 5000) == 1.0
    assert 0.0 < mcnemar_exact(5200, 4800) < 0.001


def test_mcnemar_refuses_negative_counts() -> None:
    """A negative count is a mistake of the caller."""
    with pytest.raises(ValueError, match="-1"):
        mcnemar_exact(3, -1)


def test_holm_known_values() -> None:
    """Holm's method gives the known adjusted values, in the order of the given ones."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(p_values.filter(bool))
@settings(max_examples=25, deadline=None)
def test_holm_agrees_with_statsmodels(given_values: list[float]) -> None:
    """Holm's adjustment is statsmodels', and never makes a p value smaller."""
    from statsmodels.stats.multitest import multipletests

    found = holm(given_values)
    assert found == pytest.approx(multipletests(given_values, method="holm")[1].tolist(), abs=1e-12)
    assert all(after >= before for before, after in zip(given_values, found, strict=True))


def test_holm_refuses_what_is_no_p_value() -> None:
    """A p value beyond 1 is named."""
    with pytest.raises(ValueError, match=r"1\.5"):
        holm([0.1, 1.5])


def test_only_common_valid_samples_count() -> None:
    """A sample that either grader failed to grade is left out for both."""
    assert both_valid(["a", None, "b", None], ["a", "b", None, None]) == [0]


def test_swapped_graders_swap_the_sign() -> None:
    """The second against the first is the first against the second, mirrored, but for what chance drew."""
    one, other = graders(80, 0.85, 0.75, np.random.default_rng(1))
    there, back = difference(one, other, BINARY, seed=1), difference(other, one, BINARY, seed=1).mirrored()
    assert there.value == back.value
    assert (there.lo, there.hi, there.p) == pytest.approx((back.lo, back.hi, back.p), abs=0.03)


def test_mirrored_twice_is_the_same() -> None:
    """A mirrored difference has its ends and its sign swapped, and nothing else."""
    found = Difference(0.1, 50, -0.05, 0.25, 0.2, "paired-bootstrap")
    assert found.mirrored() == Difference(-0.1, 50, -0.25, 0.05, 0.2, "paired-bootstrap")
    assert found.mirrored().mirrored() == found
    assert Difference(None, 0, None, None, None, "none").mirrored() == Difference(None, 0, None, None, None, "none")


@pytest.mark.parametrize("gap", [0.0, 0.05, 0.1, 0.15, 0.2])
def test_interval_and_p_value_never_contradict(gap: float) -> None:
    """The interval leaves zero out exactly where the p value is below 5 %."""
    for seed in range(5):
        found = difference(*graders(60, 0.7 + gap, 0.7, np.random.default_rng(seed)), BINARY, seed=1, draws=300)
        assert found.lo is not None
        assert found.hi is not None
        assert found.p is not None
        assert (found.lo > 0 or found.hi < 0) == (found.p < 0.05)


def test_equal_graders_do_not_differ() -> None:
    """Graders that gave the same answers differ by nothing, for sure: p is 1, and there is no interval."""
    rows, _ = graders(30, 0.8, 0.8, np.random.default_rng(1))
    found = difference(rows, rows, BINARY, seed=1)
    assert (found.value, found.n, found.lo, found.hi, found.p) == (0.0, 30, None, None, 1.0)
    assert (found.method, found.p_method, found.reason) == (
        "none",
        "identical",
        "as far as this figure can tell, the two are the same on every sample",
    )


def test_no_samples_no_difference() -> None:
    """Without a common sample nothing is defined, not even that there is no difference."""
    empty = np.zeros((0, 4))
    found = difference(empty, empty, BINARY, seed=1)
    assert found == Difference(None, 0, None, None, None, "none", reason="there are no pairs")
    assert agreement_difference([], [], seed=1).p is None


def test_clusters_widen_the_interval() -> None:
    """Each sample four times over, known as clusters, tells no more than each sample once."""
    one, other = graders(50, 0.9, 0.7, np.random.default_rng(4))
    alone = difference(one, other, BINARY, seed=1)
    names = np.repeat(np.arange(50), 4).tolist()
    copied = difference(np.repeat(one, 4, axis=0), np.repeat(other, 4, axis=0), BINARY, names, seed=1)
    assert (copied.lo, copied.hi, copied.p) == pytest.approx((alone.lo, alone.hi, alone.p))
    assert copied.method == "paired-bootstrap-clustered"


def test_agreement_takes_mcnemars_p_value() -> None:
    """Independent right-or-wrong answers are compared by McNemar's test."""
    first, second = [True] * 8 + [False] * 2 + [True] * 10, [False] * 8 + [True] * 2 + [True] * 10
    found = agreement_difference(first, second, seed=1)
    assert found.value == pytest.approx(6 / 20)
    assert found.p == mcnemar_exact(8, 2)
    assert (found.method, found.p_method) == ("paired-bootstrap", "mcnemar-exact")


def test_clustered_agreement_does_not() -> None:
    """McNemar's test knows no clusters, so that clustered answers are compared by the bootstrap."""
    first, second = [True] * 8 + [False] * 2 + [True] * 10, [False] * 8 + [True] * 2 + [True] * 10
    found = agreement_difference(first, second, [place // 2 for place in range(20)], seed=1)
    assert found.method == found.p_method == "paired-bootstrap-clustered"


def test_rows_of_different_samples_are_refused() -> None:
    """Graders must be compared on the same samples."""
    with pytest.raises(ValueError, match=r"\(2, 4\) and \(3, 4\)"):
        difference(np.zeros((2, 4)), np.zeros((3, 4)), BINARY, seed=1)


def test_reliable_after_adjustment_only() -> None:
    """A difference is reliable where its adjusted p value is at most 5 %; one without p value never is."""
    found = judge_all([Difference(0.1, 50, 0.0, 0.2, p, "paired-bootstrap") for p in (0.01, None, 0.04, 0.03, 0.005)])
    assert [each.p_holm for each in found] == [pytest.approx(p) if p else None for p in (0.03, None, 0.06, 0.06, 0.02)]
    assert [each.reliable for each in found] == [True, False, False, False, True]


def coverage(n: int, simulations: int) -> float:
    """How often the interval holds the true difference of κ, which is .2."""
    rng = np.random.default_rng(5)
    found = [difference(*graders(n, 0.85, 0.75, rng), BINARY, seed=s, draws=300) for s in range(simulations)]
    return sum(each.lo <= 0.2 <= each.hi for each in found if each.lo is not None and each.hi is not None) / simulations


def test_coverage_of_differences() -> None:
    """About 95 of 100 intervals hold the true difference; four standard errors below 95 % would be a fault."""
    assert coverage(60, 150) >= 0.88


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 100, 300])
def test_coverage_of_differences_closely(n: int) -> None:
    """Between 93.5 % and 97 % of many intervals hold the true difference."""
    assert 0.935 <= coverage(n, 3000) <= 0.97
