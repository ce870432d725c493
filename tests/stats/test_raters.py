"""Several raters: who is compared with whom, and Krippendorff's α."""

from __future__ import annotations

import math
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnwise.stats.krippendorff import Metric, krippendorff_alpha
from turnwise.stats.raters import Pair, RaterPair, Vote, human_pairs, majority_label, pooled_pairs, rater_pairs

RATERS = ("1 2 3 3 2 1 4 1 2 · · ·", "1 2 3 3 2 2 4 1 2 5 · 3", "· 3 3 3 2 3 4 2 2 5 1 ·", "1 2 3 3 2 4 4 1 2 5 1 ·")
UNITS = [
    [int(label) for label in unit if label != "·"] for unit in zip(*(line.split() for line in RATERS), strict=True)
]
METRICS: tuple[Metric, ...] = ("nominal", "ordinal", "interval")

units = st.lists(st.lists(st.integers(1, 4), max_size=4), min_size=1, max_size=8)


def alpha(labels: list[list[int]], metric: Metric) -> float | None:
    """α without its interval."""
    return krippendorff_alpha(labels, metric, seed=1, draws=2).value


def alpha_by_definition(labels: list[list[int]], metric: Metric) -> float | None:
    """α from every two labels, one after the other: 1 less the mean distance within units by that among all labels."""
    told = [unit for unit in labels if len(unit) > 1]
    every = [label for unit in told for label in unit]

    def apart(a: int, b: int) -> float:
        if metric == "nominal":
            return float(a != b)
        if metric == "interval":
            return float((a - b) ** 2)
        low, high = min(a, b), max(a, b)
        between = sum(low <= label <= high for label in every)
        return (between - (every.count(a) + every.count(b)) / 2) ** 2 if a != b else 0.0

    among = math.fsum(apart(a, b) for a, b in permutations(every, 2))
    if not among:
        return None
    within = math.fsum(apart(a, b) / (len(unit) - 1) for unit in told for a, b in permutations(unit, 2))
    return 1 - (within / len(every)) / (among / (len(every) * (len(every) - 1)))


@pytest.mark.parametrize(("metric", "expected"), [("nominal", 0.743421), ("ordinal", 0.815388), ("interval", 0.849107)])
def test_alpha_of_the_known_example(metric: Metric, expected: float) -> None:
    """Four raters, twelve units and seven missing labels give the published α."""
    assert alpha(UNITS, metric) == pytest.approx(expected, abs=5e-7)


@given(units, st.sampled_from(METRICS))
@settings(max_examples=80, deadline=None)
def test_alpha_is_its_definition(labels: list[list[int]], metric: Metric) -> None:
    """α from counts is α from every two labels."""
    expected = alpha_by_definition(labels, metric)
    assert alpha(labels, metric) == (None if expected is None else pytest.approx(expected, abs=1e-9))


@given(units.filter(lambda labels: len({x for unit in labels for x in unit}) > 1), st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_alpha_knows_no_order(labels: list[list[int]], random: object) -> None:
    """Neither the order of units nor that of raters changes α, and a unit with one label adds nothing."""
    mixed = [[*unit] for unit in labels]
    for each in (mixed, *mixed):
        random.shuffle(each)  # type: ignore[attr-defined]
    for metric in METRICS:
        expected = alpha(labels, metric)
        assert alpha([*mixed, [9]], metric) == (None if expected is None else pytest.approx(expected, abs=1e-12))


@pytest.mark.parametrize("metric", ["nominal", "ordinal"])
def test_alpha_depends_on_ranks_at_most(metric: Metric) -> None:
    """Names that keep the order of labels leave nominal and ordinal α alone; another scale leaves interval α alone."""
    renamed = [[label**3 for label in unit] for unit in UNITS]
    assert alpha(renamed, metric) == pytest.approx(alpha(UNITS, metric))
    scaled = [[10 * label - 7 for label in unit] for unit in UNITS]
    assert alpha(scaled, "interval") == pytest.approx(alpha(UNITS, "interval"))


def test_alpha_of_tiny_distances() -> None:
    """Scores that differ by little have the same interval α as scores that differ by much."""
    tiny = [[label * 1e-7 for label in unit] for unit in UNITS]
    assert krippendorff_alpha(tiny, "interval", seed=1).value == pytest.approx(0.849107, abs=5e-7)


def test_alpha_takes_words() -> None:
    """Nominal labels may be words."""
    words = [[f"label {label}" for label in unit] for unit in UNITS]
    assert krippendorff_alpha(words, seed=1).value == pytest.approx(0.743421, abs=5e-7)


def test_alpha_has_an_interval_over_units() -> None:
    """The interval holds α, and twenty times as many units make it narrower."""
    few, many = (krippendorff_alpha(UNITS * times, seed=1) for times in (1, 20))
    assert few.n == 11
    for found in (few, many):
        assert found.value is not None
        assert found.lo is not None
        assert found.hi is not None
        assert found.lo < found.value < found.hi or found.hi == 1.0
    assert (many.hi or 0) - (many.lo or 0) < ((few.hi or 0) - (few.lo or 0)) / 2


@pytest.mark.parametrize("labels", [[], [[1], [2]], [[1, 1], [1, 1]]])
def test_alpha_of_nothing_to_compare(labels: list[list[int]]) -> None:
    """Without two labels on a unit, or with one label only, α is not defined."""
    assert krippendorff_alpha(labels, seed=1).value is None


def test_majority() -> None:
    """The majority label is the most frequent one; a tie for the first place has none."""
    assert majority_label(["a", "b", "b", "c"]) == "b"
    assert majority_label(["a", "a", "b", "b", "c"]) is None
    assert majority_label([]) is None


def test_majority_may_be_false() -> None:
    """A label that counts as false is a label."""
    assert majority_label([0, 0, 1]) == 0


VOTES = [Vote("i1", "ben", 1), Vote("i1", "ann", 0), Vote("i2", "ann", 1), Vote("i1", "cem", 1)]


def test_pooled_pairs_cluster_by_item() -> None:
    """Each vote meets the judge's label of its item, which is the cluster; what the judge left out is left out."""
    assert pooled_pairs(VOTES, {"i1": 1}) == [Pair(1, 1, "i1"), Pair(0, 1, "i1"), Pair(1, 1, "i1")]


def test_wider_clusters_win() -> None:
    """An item that belongs to a wider cluster takes its name."""
    assert pooled_pairs(VOTES[2:3], {"i2": 0}, {"i2": "talk"}) == [Pair(1, 0, "talk")]
    assert {pair.cluster for pair in human_pairs(VOTES, {"i1": "talk"})} == {"talk"}


def test_human_pairs_are_every_two_votes() -> None:
    """Three votes on one item are three pairs, in the order of the raters' names; a vote alone is none."""
    assert human_pairs(VOTES) == [Pair(0, 1, "i1"), Pair(0, 1, "i1"), Pair(1, 1, "i1")]


def test_raters_need_shared_items() -> None:
    """Only raters who share enough items are compared; ten are enough, nine are not."""
    votes = [Vote(f"i{number}", rater, number % 2) for number in range(10) for rater in ("ben", "ann")]
    votes += [Vote(f"i{number}", "cem", 1) for number in range(9)]
    assert rater_pairs(votes) == [RaterPair(("ann", "ben"), tuple(Pair(n % 2, n % 2, f"i{n}") for n in range(10)))]
    assert len(rater_pairs(votes, least_shared=9)) == 3


def test_two_labels_by_one_rater_are_refused() -> None:
    """A rater who labels an item twice is an error that names both."""
    with pytest.raises(ValueError, match="'i1' by 'ben'"):
        rater_pairs([*VOTES, Vote("i1", "ben", 0)])
