"""Agreement as proportions, and the figures of two classes."""

from __future__ import annotations

import math
import subprocess
import sys
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, matthews_corrcoef

from rater_data import TABLE, columns, lines
from turnwise.stats.agreement import agreement, agreement_without, proportion, within
from turnwise.stats.classes import balanced_accuracy, confusion_table, mcc, true_negative_rate, true_positive_rate

HUMAN, JUDGE = columns(TABLE)

Pairs = list[tuple[int, int]]

two_classes: st.SearchStrategy[Pairs] = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=40)
both_classes = two_classes.filter(lambda pairs: len({a for a, _ in pairs}) == len({b for _, b in pairs}) == 2)


@pytest.mark.parametrize(("k", "n", "lo", "hi"), [(17, 20, 0.639581, 0.947631), (0, 30, 0.0, 0.113513)])
def test_wilson(k: int, n: int, lo: float, hi: float) -> None:
    """A proportion has Wilson's interval, and says how many hits it counted."""
    share = proportion([True] * k + [False] * (n - k))
    assert (share.lo, share.hi) == pytest.approx((lo, hi), abs=5e-7)
    assert (share.value, share.k, share.n, share.method) == (k / n, k, n, "wilson")


def test_worked_table() -> None:
    """Of the table's 168 samples 115 have the same score, and 162 one that is at most 1 away."""
    exact, near = agreement(HUMAN, JUDGE), within(HUMAN, JUDGE)
    assert (exact.k, near.k) == (115, 162)
    assert (exact.value, near.value) == pytest.approx((0.684524, 0.964286), abs=5e-7)


def test_within_knows_rounding() -> None:
    """3.4 and 4.4 are 1 apart, though their difference as floats is more."""
    assert 4.4 - 3.4 > 1.0
    assert within([3.4, 3.4], [4.4, 4.5]).k == 1


def wilson_by_definition(rate: float, effective: float) -> tuple[float, float]:
    """Wilson's interval as the two solutions of (rate - p)² = z² p (1 - p) / n."""
    z = NormalDist().inv_cdf(0.975)
    low, high = sorted(np.roots([1 + z * z / effective, -2 * rate - z * z / effective, rate * rate]).real)
    return float(low), float(high)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), min_size=1, max_size=40))
def test_clustered_proportion(rows: list[tuple[str, bool]]) -> None:
    """Clusters count by n = p(1-p)/SE², SE² = G/(G-1) Σ(Σ(x-p))²/n²; where SE is 0, each cluster counts as one."""
    hits, names = [hit for _, hit in rows], [cluster for cluster, _ in rows]
    share, n, groups = proportion(hits, names), len(rows), sorted(set(names))
    rate = sum(hits) / n
    sums = [sum(hit - rate for name, hit in rows if name == group) for group in groups]
    if len(groups) == 1 and 0 < rate < 1:
        assert (share.lo, share.reason) == (None, "all pairs belong to one cluster")
        return
    squares = sum(each**2 for each in sums)
    variance = len(groups) / (len(groups) - 1) * squares / n**2 if squares > 1e-20 else 0.0
    effective = n if len(groups) == n else rate * (1 - rate) / variance if variance else len(groups)
    assert (share.lo, share.hi) == pytest.approx(wilson_by_definition(rate, effective), abs=1e-6)
    assert share.method == ("wilson" if len(groups) == n else "wilson-clustered")


def test_clusters_widen() -> None:
    """Ten clusters of five alike pairs have a wider interval than fifty pairs, and a design effect above 4."""
    hits, clusters = np.repeat([1, 1, 0, 1, 0, 1, 1, 0, 1, 1], 5), np.repeat(np.arange(10), 5)
    alone, together = proportion(hits), proportion(hits, clusters)
    assert alone.lo is not None
    assert together.lo is not None
    assert together.lo < alone.lo
    assert together.design_effect == pytest.approx(5 * (10 / 9) / (50 / 49))
    assert together.method == "wilson-clustered"


def test_no_pairs() -> None:
    """Without pairs every figure is undefined, and says why."""
    for figure in (
        agreement([], []),
        within([], []),
        agreement_without([], [], 0),
        mcc([], [], seed=1, draws=50),
        proportion([]),
    ):
        assert (figure.value, figure.n, figure.lo, figure.hi) == (None, 0, None, None)
        assert figure.reason


def test_without_ties() -> None:
    """Ties of either rater are left out of both counts, and their clusters with them."""
    human, judge = [0, 0, 1, 2, 1, 2], [0, 1, 1, 2, 2, 0]
    share = agreement_without(human, judge, left_out=2, clusters=["a", "b", "a", "c", "d", "e"])
    assert (share.k, share.n) == (2, 3)


def test_only_ties() -> None:
    """Where nothing but ties is left, there is no agreement without them."""
    share = agreement_without([2, 2], [2, 0], left_out=2)
    assert (share.value, share.reason) == (None, "every pair holds the label that is left out")


@pytest.mark.parametrize(
    ("turn", "judge_all", "judge_decided"),
    [("turn-1", (886, 1343), (727, 859)), ("turn-2", (871, 1325), (731, 864))],
)
def test_published_votes(turn: str, judge_all: tuple[int, int], judge_decided: tuple[int, int]) -> None:
    """GPT-4 agrees with the votes of MT-Bench's experts as published, with ties and without."""
    names = ["A", "B", "tie"]
    verdicts = {each["id"]: each["output"].split('"')[3] for each in lines("mtbench/replay.jsonl")}
    votes = [
        (names.index(vote["label"]), names.index(verdicts[sample["id"]]))
        for sample in lines("mtbench/samples.jsonl")
        if turn in sample["tags"]
        for vote in sample["labels"]
    ]
    human, judge = np.array(votes).T
    everything, decided = agreement(human, judge), agreement_without(human, judge, left_out=2)
    assert (everything.k, everything.n) == judge_all
    assert (decided.k, decided.n) == judge_decided


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_confusion_table(pairs: Pairs) -> None:
    """The table is that of scikit-learn: rows are the human's labels."""
    human, judge = [a for a, _ in pairs], [b for _, b in pairs]
    expected = confusion_matrix(human, judge, labels=range(4))
    assert confusion_table(human, judge, 4).tolist() == expected.tolist()


@given(both_classes)
def test_two_classes_against_scikit_learn(pairs: Pairs) -> None:
    """Balanced accuracy and Matthews' correlation are those of scikit-learn."""
    human, judge = [a for a, _ in pairs], [b for _, b in pairs]
    assert mcc(human, judge, seed=1, draws=50).value == pytest.approx(matthews_corrcoef(human, judge), abs=1e-6)
    assert balanced_accuracy(human, judge, seed=1, draws=50).value == pytest.approx(
        balanced_accuracy_score(human, judge), abs=1e-6
    )


@given(two_classes)
def test_classes_change_places(pairs: Pairs) -> None:
    """Calling the other class positive swaps the two rates, and leaves the symmetric figures as they are."""
    human, judge = [a for a, _ in pairs], [b for _, b in pairs]
    mirrored = [1 - a for a in human], [1 - b for b in judge]
    positive, negative = true_positive_rate(*mirrored), true_negative_rate(human, judge)
    assert (positive.value, positive.k, positive.n) == (negative.value, negative.k, negative.n)
    assert mcc(*mirrored, seed=1, draws=50).value == mcc(human, judge, seed=1, draws=50).value


def test_rates() -> None:
    """Of 10 positives 8 and of 5 negatives 3 are found: .8, .6, and .7 in the mean."""
    human, judge = columns([[3, 2], [2, 8]])
    found, spared = true_positive_rate(human, judge), true_negative_rate(human, judge)
    assert (found.k, found.n, spared.k, spared.n) == (8, 10, 3, 5)
    assert balanced_accuracy(human, judge, seed=1, draws=50).value == pytest.approx(0.7)
    assert mcc(human, judge, seed=1, draws=50).value == pytest.approx((8 * 3 - 2 * 2) / math.sqrt(10 * 5 * 10 * 5))


def test_rate_keeps_its_clusters() -> None:
    """A rate is clustered by the clusters of its own class."""
    rate = true_positive_rate([1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 1, 1], ["a", "a", "b", "b", "c", "c"])
    assert (rate.value, rate.n, rate.method) == (0.5, 4, "wilson-clustered")


def test_missing_class() -> None:
    """A class without labels leaves its rate, and what is made of it, undefined."""
    human, judge = [1, 1, 1], [1, 0, 1]
    assert true_negative_rate(human, judge).reason == "the human labels hold no negative"
    assert balanced_accuracy(human, judge, seed=1, draws=50).reason == "the human labels hold no negative"
    assert mcc(human, judge, seed=1, draws=50).reason == "one of the raters gave only one of the two classes"
    assert true_positive_rate(human, judge).value == pytest.approx(2 / 3)


def test_proportions_and_means_load_no_numpy() -> None:
    """What a run and its summary need of statistics stays without numpy, which takes long to load."""
    modules = ", ".join(f"turnwise.stats.{name}" for name in ("intervals", "sums", "trials", "percentiles"))
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, {modules}; sys.exit('numpy' in sys.modules)"], timeout=30
    )
    assert done.returncode == 0
