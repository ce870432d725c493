"""Pearson's, Spearman's and Kendall's correlation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rater_data import TABLE, columns, topical_chat
from turnwise.stats.concordance import lin_ccc
from turnwise.stats.correlation import pearson, spearman
from turnwise.stats.kendall import kendall
from turnwise.stats.statistic import Statistic

Figure = Callable[..., Statistic]
Pairs = list[tuple[float, float]]

FIGURES: list[Figure] = [pearson, spearman, kendall]
each_figure = pytest.mark.parametrize("figure", FIGURES)
HUMAN, JUDGE = columns(TABLE)


def varied(pairs: Pairs) -> bool:
    """Whether both columns vary."""
    return all(len(set(column)) > 1 for column in zip(*pairs, strict=True))


def split(pairs: Pairs) -> tuple[list[float], list[float]]:
    """Both columns."""
    return [a for a, _ in pairs], [b for _, b in pairs]


tied = st.integers(0, 5).map(float)
untied = st.integers(-10_000, 10_000).map(lambda whole: whole / 7)
samples: st.SearchStrategy[Pairs] = st.one_of(
    [st.lists(st.tuples(values, values), min_size=3, max_size=30).filter(varied) for values in (tied, untied)]
)


@given(samples)
def test_against_scipy(pairs: Pairs) -> None:
    """All three are those of scipy."""
    human, judge = split(pairs)
    assert pearson(human, judge).value == pytest.approx(stats.pearsonr(human, judge).statistic, abs=1e-6)
    assert spearman(human, judge).value == pytest.approx(stats.spearmanr(human, judge).statistic, abs=1e-6)
    assert kendall(human, judge).value == pytest.approx(stats.kendalltau(human, judge).statistic, abs=1e-6)


def test_worked_table() -> None:
    """The table of 168 samples has the known rank correlations."""
    assert spearman(HUMAN, JUDGE).value == pytest.approx(0.885793, abs=5e-7)
    assert kendall(HUMAN, JUDGE).value == pytest.approx(0.814587, abs=5e-7)


@pytest.mark.parametrize(("figure", "value"), [(pearson, 0.595143), (spearman, 0.612942), (kendall, 0.465915)])
def test_published_correlation(figure: Figure, value: float) -> None:
    """UniEval's coherence on Topical-Chat correlates with people's as published, whatever is known of clusters."""
    human, judge, clusters = topical_chat()
    assert figure(human, judge).value == pytest.approx(value, abs=5e-7)
    clustered = figure(human, judge, clusters)
    assert clustered.value == pytest.approx(value, abs=5e-7)
    assert clustered.method == "fisher-z-clustered"


@pytest.mark.parametrize(
    ("figure", "factor", "less", "method"),
    [(pearson, 0.0, 3, "fisher-z"), (spearman, 0.5, 3, "bonett-wright"), (kendall, None, 4, "fieller")],
)
def test_width_on_fishers_scale(figure: Figure, factor: float | None, less: int, method: str) -> None:
    """On Fisher's z the interval is z standard errors to both sides, by the formula of each correlation."""
    result = figure(HUMAN, JUDGE)
    assert result.value is not None
    assert result.lo is not None
    assert result.hi is not None
    numerator = 0.437 if factor is None else 1.0 + factor * result.value**2
    half = 1.959964 * math.sqrt(numerator / (168 - less))
    assert math.atanh(result.hi) - math.atanh(result.value) == pytest.approx(half, abs=1e-6)
    assert math.atanh(result.value) - math.atanh(result.lo) == pytest.approx(half, abs=1e-6)
    assert result.method == method


def test_pearson_interval_is_scipys() -> None:
    """The interval of Pearson's correlation is that of scipy."""
    expected = stats.pearsonr(HUMAN, JUDGE).confidence_interval(0.95)
    result = pearson(HUMAN, JUDGE)
    assert (result.lo, result.hi) == pytest.approx((expected.low, expected.high), abs=1e-9)


@each_figure
@given(pairs=samples, random=st.randoms(use_true_random=False))
def test_symmetry(figure: Figure, pairs: Pairs, random: Any) -> None:
    """Neither the order of samples nor that of raters matters, and a mirrored scale changes the sign only."""
    before = figure(*split(pairs))
    shuffled = random.sample(pairs, len(pairs))
    after = figure(*reversed(split(shuffled)))
    human, judge = split(pairs)
    mirrored = figure(human, [-value for value in judge])
    assert before.value is not None
    assert -1.0 <= before.value <= 1.0
    assert after.value == pytest.approx(before.value, abs=1e-9)
    assert mirrored.value == pytest.approx(-before.value, abs=1e-9)


@given(samples)
def test_ranks_only(pairs: Pairs) -> None:
    """Rank correlations do not feel a bent scale that keeps the order."""
    human, judge = split(pairs)
    bent = [math.atan(value / 1000.0) for value in judge]
    assert spearman(human, bent).value == pytest.approx(spearman(human, judge).value, abs=1e-12)
    assert kendall(human, bent).value == pytest.approx(kendall(human, judge).value, abs=1e-12)


@each_figure
@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_size_of_numbers(figure: Figure, size: float) -> None:
    """Scores may be very small or very large: no square overflows or vanishes."""
    plain = figure([1, 2, 3, 4, 5, 6], [1, 3, 2, 4, 6, 5])
    sized = figure([size * each for each in (1, 2, 3, 4, 5, 6)], [1, 3, 2, 4, 6, 5])
    assert (sized.value, sized.lo) == pytest.approx((plain.value, plain.lo))


@each_figure
@pytest.mark.parametrize(
    ("human", "judge", "reason"),
    [
        ([], [], "at least two pairs"),
        ([1.0], [2.0], "at least two pairs"),
        ([0.1, 0.1, 0.1], [1.0, 2.0, 3.0], "all human scores are the same"),
        ([1.0, 2.0, 3.0], [0.1, 0.1, 0.1], "all judge scores are the same"),
    ],
)
def test_undefined(figure: Figure, human: list[float], judge: list[float], reason: str) -> None:
    """Too few pairs or a constant column have no correlation, and the reason is told."""
    for clusters in (None, ["a"] * len(human)):
        result = figure(human, judge, clusters)
        assert (result.value, result.lo, result.hi, result.n) == (None, None, None, len(human))
        assert reason in (result.reason or "")


@each_figure
def test_perfect(figure: Figure) -> None:
    """A perfect correlation is exactly 1 or -1, and no interval is claimed around it."""
    human = [0.1 * step for step in range(10)]
    for sign in (1.0, -1.0):
        result = figure(human, [sign * 3.0 * each for each in human])
        assert (result.value, result.lo, result.hi) == (sign, None, None)
        assert result.reason


@each_figure
def test_too_few_for_an_interval(figure: Figure) -> None:
    """Three pairs have a correlation but no interval."""
    result = figure([1, 2, 3], [1, 3, 2])
    assert (result.lo, result.method) == (None, "none")
    assert "the interval needs more than" in (result.reason or "")


@each_figure
def test_not_a_number(figure: Figure) -> None:
    """A score that is no finite number is refused, and named."""
    with pytest.raises(ValueError, match=r"finite number .* found nan"):
        figure([1.0, math.nan], [1.0, 2.0])


@pytest.mark.parametrize("figure", [*FIGURES, lin_ccc])
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 1000), ties=st.booleans())
def test_cluster_robust_by_definition(figure: Figure, seed: int, ties: bool) -> None:
    """The standard error is that of the influence of each pair, found by adding it once to many copies of the data."""
    random = np.random.default_rng(seed)
    human = random.normal(size=15)
    judge = human + random.normal(size=15)
    if ties:
        human, judge = np.round(human), np.round(judge)
    clusters, copies = np.arange(15) % 5, 300
    many = np.tile(human, copies), np.tile(judge, copies)
    before = figure(*many).value
    moved = [figure(np.append(many[0], a), np.append(many[1], b)).value for a, b in zip(human, judge, strict=True)]
    influence = (np.array(moved) - before) * (15 * copies + 1)
    sums = np.bincount(clusters, weights=influence)
    expected = math.sqrt(5 / 4 * float(sums @ sums)) / 15
    assert figure(human, judge, clusters).se == pytest.approx(expected, rel=0.02, abs=1e-3)


@each_figure
def test_doubled_pairs(figure: Figure) -> None:
    """Pairs that occur twice, as a cluster each, have a design effect near 2 and the same value."""
    human, judge = columns([[6, 2, 1], [1, 5, 2], [0, 2, 6]])
    double = figure(np.repeat(human, 2), np.repeat(judge, 2), np.repeat(np.arange(25), 2))
    assert double.value == pytest.approx(figure(human, judge).value)
    assert double.design_effect == pytest.approx(2 * (25 / 24) / (50 / 49))


@each_figure
def test_single_cluster(figure: Figure) -> None:
    """One cluster tells nothing of how clusters vary: a value, but no interval."""
    result = figure([1, 2, 3, 4, 5, 6], [1, 3, 2, 4, 6, 5], ["a"] * 6)
    assert result.value is not None
    assert (result.lo, result.reason) == (None, "all pairs belong to one cluster")
