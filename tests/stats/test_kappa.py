"""Cohen's κ, plain and weighted."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from rater_data import PANDALM, TABLE, VALUES, columns, lines, pandalm_labels
from turnwise.stats.intervals import wilson
from turnwise.stats.statistic import Statistic
from turnwise.stats.weighted_kappa import Weights, cohen_kappa, disagreements, kappa_of_table, weighted_kappa

Table = list[list[int]]

HUMAN, JUDGE = columns(TABLE)

tables: st.SearchStrategy[Table] = st.integers(2, 5).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 12), min_size=k, max_size=k), min_size=k, max_size=k)
)
scales = st.lists(st.integers(-20, 20), min_size=5, max_size=5, unique=True).map(sorted)


def spread(table: Table) -> bool:
    """Whether both raters used at least two labels, and differ at least once."""
    counts = np.array(table)
    used = (counts.sum(axis=0) > 0).sum() > 1 and (counts.sum(axis=1) > 0).sum() > 1
    return bool(used and np.trace(counts) < counts.sum())


varied = tables.filter(spread)


def figures(statistic: Statistic) -> tuple[float, float, float]:
    """The standard error and the ends of an interval that must exist."""
    assert statistic.se is not None
    assert statistic.lo is not None
    assert statistic.hi is not None
    return statistic.se, statistic.lo, statistic.hi


@pytest.mark.parametrize(
    ("weights", "value", "se"),
    [(None, 0.603102, 0.045233), ("linear", 0.772400, 0.029471), ("quadratic", 0.887314, 0.019096)],
)
def test_worked_table(weights: Weights | None, value: float, se: float) -> None:
    """The table of 168 samples has the known κ and standard error with each kind of weight."""
    kappa = weighted_kappa(HUMAN, JUDGE, VALUES, weights) if weights else cohen_kappa(HUMAN, JUDGE, 5)
    assert kappa.value == pytest.approx(value, abs=5e-7)
    assert kappa.se == pytest.approx(se, abs=5e-7)
    assert (kappa.n, kappa.method, kappa.design_effect) == (168, "fleiss-cohen-everitt", None)


def test_worked_interval() -> None:
    """The interval of the table's quadratic κ is symmetric on Fisher's z."""
    assert figures(weighted_kappa(HUMAN, JUDGE, VALUES))[1:] == pytest.approx((0.843496, 0.919401), abs=5e-7)


@given(varied)
def test_plain_against_other_libraries(table: Table) -> None:
    """Plain κ and its standard error are those of statsmodels, and κ that of scikit-learn."""
    human, judge = columns(table)
    kappa = cohen_kappa(human, judge, len(table))
    assert kappa.value == pytest.approx(cohen_kappa_score(human, judge), abs=1e-6)
    check_against_statsmodels(kappa, cohens_kappa(table))


@given(varied, scales, st.sampled_from(["linear", "quadratic"]))
def test_weighted_against_statsmodels(table: Table, scale: list[int], weights: Weights) -> None:
    """Weighted κ weighs by the score values, as statsmodels does, and has the same standard error."""
    scores = scale[: len(table)]
    kappa = weighted_kappa(*columns(table), scores, weights)
    check_against_statsmodels(kappa, cohens_kappa(table, weights=np.array(scores), wt=weights))


def check_against_statsmodels(kappa: Statistic, expected: Any) -> None:
    """Value and standard error agree; without one there, no interval is claimed here."""
    assert kappa.value == pytest.approx(expected.kappa, abs=1e-6)
    if expected.var_kappa < 1e-14:
        assert kappa.lo is None
    else:
        assert kappa.se == pytest.approx(expected.std_kappa, abs=1e-6)


@given(varied)
def test_quadratic_of_ranks_is_scikit_learn(table: Table) -> None:
    """On a scale without gaps quadratic κ is that of scikit-learn."""
    human, judge = columns(table)
    ours = weighted_kappa(human, judge, [float(code) for code in range(len(table))])
    expected = cohen_kappa_score(human, judge, weights="quadratic", labels=range(len(table)))
    assert ours.value == pytest.approx(expected, abs=1e-6)


@given(varied)
def test_interval_holds_the_value(table: Table) -> None:
    """The interval lies between -1 and 1 and holds κ."""
    kappa = cohen_kappa(*columns(table), len(table))
    assert kappa.value is not None
    if kappa.lo is not None and kappa.hi is not None:
        assert -1.0 <= kappa.lo <= kappa.value <= kappa.hi <= 1.0
    else:
        assert kappa.reason


@given(varied, st.randoms(use_true_random=False), st.sampled_from(["linear", "quadratic"]))
def test_invariance(table: Table, random: Any, weights: Weights) -> None:
    """Neither the order of samples, nor names of labels, nor which rater comes first changes a figure."""
    human, judge = columns(table)
    k = len(table)
    names = random.sample(range(k), k)
    order = random.sample(range(human.size), human.size)
    renamed, values = np.array(names), np.argsort(names).astype(float).tolist()
    before = weighted_kappa(human, judge, [float(code) for code in range(k)], weights)
    after = weighted_kappa(renamed[judge[order]], renamed[human[order]], values, weights)
    assert after.value == pytest.approx(before.value, abs=1e-9)
    assert (after.se, after.lo, after.hi) == pytest.approx((before.se, before.lo, before.hi), abs=1e-9)


@given(varied, st.floats(0.01, 100.0), st.floats(-50.0, 50.0))
def test_units_do_not_matter(table: Table, factor: float, shift: float) -> None:
    """A scale in other units has the same weighted κ."""
    human, judge = columns(table)
    codes = range(len(table))
    plain = weighted_kappa(human, judge, [float(code) for code in codes], "linear")
    other = weighted_kappa(human, judge, [factor * code + shift for code in codes], "linear")
    assert other.value == pytest.approx(plain.value, abs=1e-9)


def test_two_labels_need_no_weights() -> None:
    """With two labels every kind of κ is the same."""
    human, judge = columns([[30, 5], [8, 20]])
    plain = cohen_kappa(human, judge, 2)
    for weights in ("linear", "quadratic"):
        other = weighted_kappa(human, judge, [0.0, 7.0], weights)
        assert other.value == pytest.approx(plain.value)
        assert other.se == pytest.approx(plain.se)


def test_full_agreement() -> None:
    """κ of 1 has a lower bound from the agreement: of 20 pairs, half in each class, (p_lo - 1/2) / (1/2)."""
    labels = [0, 1] * 10
    kappa = cohen_kappa(labels, labels, 2)
    least = wilson(20, 20).lo
    assert least is not None
    assert (kappa.value, kappa.hi, kappa.method) == (1.0, 1.0, "wilson-agreement")
    assert kappa.lo == pytest.approx((least - 0.5) / 0.5)


def test_full_agreement_in_clusters() -> None:
    """Where all agree, a cluster tells no more than one pair: 20 pairs in 10 clusters are 10."""
    labels = [0, 1] * 10
    kappa = cohen_kappa(labels, labels, 2, clusters=[index // 2 for index in range(20)])
    least = wilson(10, 10).lo
    assert least is not None
    assert kappa.lo == pytest.approx((least - 0.5) / 0.5)


def test_one_label_throughout() -> None:
    """Where both raters know one label only, there is no κ, and the reason is told."""
    kappa = cohen_kappa([1, 1, 1], [1, 1, 1], 2)
    assert (kappa.value, kappa.lo, kappa.n) == (None, None, 3)
    assert kappa.reason == "both raters gave one and the same label throughout"


def test_constant_judge() -> None:
    """A judge that always says the same is no better than chance, and no interval is claimed around that."""
    kappa = cohen_kappa([0, 1, 1, 0, 1], [1, 1, 1, 1, 1], 2)
    assert kappa.value == pytest.approx(0.0, abs=1e-15)
    assert (kappa.lo, kappa.hi, kappa.method) == (None, None, "none")
    assert kappa.reason is not None


@pytest.mark.parametrize(("human", "judge"), [([], []), ([0], [0]), ([1], [1])])
def test_too_few(human: list[int], judge: list[int]) -> None:
    """No pair, or one on which both agree, has no κ."""
    for kappa in (cohen_kappa(human, judge, 2), weighted_kappa(human, judge, [0.0, 1.0])):
        assert (kappa.value, kappa.n) == (None, len(human))
        assert kappa.reason


def test_complete_disagreement() -> None:
    """κ of -1 has no interval."""
    kappa = cohen_kappa([0, 1, 0, 1], [1, 0, 1, 0], 2)
    assert (kappa.value, kappa.lo, kappa.hi) == (-1.0, None, None)


def test_cluster_robust_by_hand() -> None:
    """Each pair twice, as a cluster: the variance of the single pairs, by G/(G-1), and a design effect near 2."""
    table = np.array([[6, 2], [1, 5]])
    human, judge = columns(table)
    single = cohen_kappa(human, judge, 2)
    double = cohen_kappa(np.repeat(human, 2), np.repeat(judge, 2), 2, clusters=np.repeat(np.arange(14), 2))
    assert single.se is not None
    assert double.value == pytest.approx(single.value)
    assert double.se == pytest.approx(single.se * math.sqrt(14 / 13))
    assert double.design_effect == pytest.approx(2 * (14 / 13) / (28 / 27))
    assert double.method == "fisher-z-clustered"


def test_clusters_of_one() -> None:
    """Where each pair has a cluster of its own, clusters change nothing."""
    assert cohen_kappa(HUMAN, JUDGE, 5, clusters=range(168)) == cohen_kappa(HUMAN, JUDGE, 5)
    assert cohen_kappa(HUMAN, JUDGE, 5, clusters=[None] * 168) == cohen_kappa(HUMAN, JUDGE, 5)


def test_single_cluster() -> None:
    """One cluster tells nothing of how clusters vary: a value, but no interval."""
    kappa = cohen_kappa([0, 1, 1, 0], [0, 1, 0, 0], 2, clusters=["a"] * 4)
    assert kappa.value == pytest.approx(0.5)
    assert (kappa.lo, kappa.reason) == (None, "all pairs belong to one cluster")


def test_values_decide_not_ranks() -> None:
    """Linear disagreement of scores 1, 2 and 5 is 1/4 and 1, not 1/2 and 1."""
    assert disagreements([1.0, 2.0, 5.0], "linear").tolist() == [[0, 0.25, 1], [0.25, 0, 0.75], [1, 0.75, 0]]
    assert disagreements([1.0, 2.0, 5.0], "quadratic")[0].tolist() == [0, 0.0625, 1]


def test_table_with_nothing_to_expect() -> None:
    """A table with one cell in use has no κ."""
    assert kappa_of_table([[5, 0], [0, 0]], 1.0 - np.eye(2)) is None


@pytest.mark.parametrize(
    ("human", "judge", "message"),
    [
        ([0, 1], [0], r"one value per sample; found shapes \(2,\) and \(1,\)"),
        ([0, 2], [0, 1], "a label's code must be 0 to 1; found 2"),
        ([0, -1], [0, 1], "found -1"),
        ([0.5, 1.0], [0, 1], "whole-number codes; found values of type float64"),
    ],
)
def test_wrong_columns(human: list[int], judge: list[int], message: str) -> None:
    """Columns that do not fit are refused, and the message says what was found."""
    with pytest.raises(ValueError, match=message):
        cohen_kappa(human, judge, 2)


def test_wrong_number_of_clusters() -> None:
    """Clusters that do not fit the pairs are refused."""
    with pytest.raises(ValueError, match="each of the 2 pairs needs a cluster; found 1"):
        cohen_kappa([0, 1], [0, 1], 2, clusters=["a"])


@pytest.mark.parametrize(("first", "second", "value"), [(0, 1, 0.852023), (0, 2, 0.878944), (1, 2, 0.861661)])
def test_published_raters(first: int, second: int, value: float) -> None:
    """The annotators of PandaLM agree as published."""
    labels = pandalm_labels()
    kappa = cohen_kappa(labels[:, first], labels[:, second], 3)
    assert kappa.value == pytest.approx(value, abs=5e-7)
    assert kappa.n == 999


def test_published_judge() -> None:
    """gpt-3.5-turbo against the majority of PandaLM's annotators, its usable outputs only."""
    majority = [Counter(row).most_common(1)[0] for row in pandalm_labels().tolist()]
    outputs = [each["output"] for each in lines("pandalm/replay.jsonl") if each["model"] == "gpt-3.5-turbo"]
    usable = [
        (label, PANDALM.index(output.casefold()))
        for (label, votes), output in zip(majority, outputs, strict=True)
        if votes > 1 and output.casefold() in PANDALM
    ]
    kappa = cohen_kappa([label for label, _ in usable], [output for _, output in usable], 3)
    assert kappa.n == 974
    assert kappa.value == pytest.approx(0.492865, abs=5e-7)
    assert figures(kappa) == pytest.approx((0.023749, 0.444924, 0.537988), abs=5e-7)
