"""A judge that is asked more than once."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.stats.intervals import wilson
from turnwise.stats.repeats import flip_rate, self_agreement
from turnwise.stats.statistic import Statistic

Repeats = list[list[str]]

repeated: st.SearchStrategy[Repeats] = st.lists(st.lists(st.sampled_from("ABC"), max_size=5), max_size=15)


def figures(figure: Statistic) -> tuple[object, ...]:
    """What must stay the same."""
    return figure.value, figure.k, figure.n, figure.lo, figure.hi, figure.method


@given(repeated)
def test_pairs_by_definition(repeats: Repeats) -> None:
    """Self-agreement counts the pairs of repeats of one sample, and flips count samples with two different verdicts."""
    pairs = [first == second for verdicts in repeats for first, second in combinations(verdicts, 2)]
    alike = self_agreement(repeats)
    assert (alike.k or 0, alike.n) == (sum(pairs), len(pairs))
    flips = flip_rate(repeats)
    assert flips.n == sum(len(verdicts) >= 2 for verdicts in repeats)
    assert (flips.k or 0) == sum(len(set(verdicts)) >= 2 for verdicts in repeats)


@given(repeated, st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter(repeats: Repeats, chance: random.Random) -> None:
    """Samples and repeats in another order, and other names of labels, change nothing."""
    renamed = [[{"A": "x", "B": "y", "C": "z"}[verdict] for verdict in verdicts] for verdicts in repeats]
    for verdicts in renamed:
        chance.shuffle(verdicts)
    chance.shuffle(renamed)
    for figure in (self_agreement, flip_rate):
        assert figures(figure(renamed)) == figures(figure(repeats))


@given(repeated)
def test_bounds(repeats: Repeats) -> None:
    """The ends of an interval lie around the value, between 0 and 1; what is missing has a reason."""
    for figure in (self_agreement(repeats), flip_rate(repeats)):
        if figure.value is not None and figure.lo is not None and figure.hi is not None:
            assert 0.0 <= figure.lo <= figure.value <= figure.hi <= 1.0
        else:
            assert figure.reason


def test_two_repeats_are_one_pair() -> None:
    """With two repeats each, a sample that agrees with itself is one that does not flip: both are Wilson's."""
    repeats = [["A", "A"]] * 17 + [["A", "B"]] * 3
    alike, flips = self_agreement(repeats), flip_rate(repeats)
    assert (alike.k, alike.n, alike.method) == (17, 20, "wilson")
    assert (alike.lo, alike.hi) == pytest.approx((0.639581, 0.947631), abs=5e-7)
    assert (flips.lo, flips.hi) == pytest.approx((1 - 0.947631, 1 - 0.639581), abs=5e-7)


def test_pairs_of_one_sample_are_no_independent_pairs() -> None:
    """Three repeats make three pairs a sample; where all agree, the interval counts the samples."""
    figure = self_agreement([["A"] * 3] * 10)
    assert (figure.k, figure.n, figure.method) == (30, 30, "wilson-clustered")
    assert figure.lo == pytest.approx(wilson(10, 10).lo)


def test_samples_in_clusters() -> None:
    """Samples of one conversation that always flip together count as one."""
    repeats = ([["A", "B"]] * 3 + [["A", "A"]] * 3) * 5
    conversations = [index // 3 for index in range(30)]
    alone, together = flip_rate(repeats), flip_rate(repeats, conversations)
    assert (together.value, together.k, together.n) == (0.5, 15, 30)
    assert together.design_effect == pytest.approx(10 / 9 * 3 * 29 / 30)
    assert together.lo is not None
    assert alone.lo is not None
    assert together.lo < alone.lo


@pytest.mark.parametrize("repeats", [[], [[]], [["A"], ["B"], []]])
def test_nothing_repeated(repeats: Repeats) -> None:
    """Without a sample that was judged twice nothing is known, and that is said."""
    for figure in (self_agreement(repeats), flip_rate(repeats)):
        assert (figure.value, figure.n, figure.reason) == (None, 0, "no sample has two valid verdicts")


def test_numbers_are_labels() -> None:
    """Scores are compared as numbers: 2 and 2.0 are one."""
    assert self_agreement([[2, 2.0], [1, 3]]).k == 1
