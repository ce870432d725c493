"""Figures of two raters whose intervals come from resampling."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rater_data import TABLE, columns
from turnwise.stats.classes import balanced_accuracy, mcc
from turnwise.stats.concordance import errors, mae, rmse
from turnwise.stats.statistic import Statistic

Pairs = list[tuple[int, int]]

HUMAN, JUDGE = columns(TABLE)
BINARY = columns([[70, 30], [20, 80]])
FIGURES: dict[str, Callable[..., Statistic]] = {
    "balanced_accuracy": balanced_accuracy,
    "mae": mae,
    "mcc": mcc,
    "rmse": rmse,
}
every_figure = pytest.mark.parametrize("name", FIGURES)
labels: st.SearchStrategy[Pairs] = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=30)


def ends(figure: Statistic) -> tuple[float, float, float]:
    """The ends and the standard error of a figure that must have them."""
    assert figure.lo is not None
    assert figure.hi is not None
    assert figure.se is not None
    return figure.lo, figure.hi, figure.se


def test_error_of_balanced_accuracy() -> None:
    """Of 100 each, .8 and .7 are found: the error of the mean of the two rates is √(.8·.2/100 + .7·.3/100) / 2."""
    figure = balanced_accuracy(*BINARY, seed=1)
    assert (figure.value, figure.n, figure.method) == (0.75, 200, "bootstrap-bca")
    assert ends(figure)[2] == pytest.approx(math.sqrt(0.0016 + 0.0021) / 2.0, rel=0.08)


def test_error_of_matthews_correlation() -> None:
    """The error is near that of the large-sample formula for a correlation of zeros and ones."""
    human, judge = ((column - column.mean()) / column.std() for column in BINARY)
    value = float((human * judge).mean())
    influence = human * judge - value * (human**2 + judge**2) / 2.0
    figure = mcc(*BINARY, seed=1)
    assert figure.value == pytest.approx(value)
    assert ends(figure)[2] == pytest.approx(float(np.sqrt((influence**2).mean() / influence.size)), rel=0.08)


def test_errors_of_the_worked_table() -> None:
    """The mean of 168 sizes has nearly the interval of a mean, and the root mean square that of its square."""
    sizes = np.abs(JUDGE - HUMAN)
    mean, root = errors(HUMAN, JUDGE, seed=1)
    half = 1.974 * sizes.std(ddof=1) / math.sqrt(168)
    assert mean.value == pytest.approx(0.351190, abs=5e-7)
    assert ends(mean)[:2] == pytest.approx((0.351190 - half, 0.351190 + half), abs=0.02)
    assert root.value == pytest.approx(math.sqrt((sizes**2).mean()))
    assert ends(root)[2] == pytest.approx((sizes**2).std() / math.sqrt(168) / (2 * (root.value or 0)), rel=0.1)


def test_both_errors_for_the_price_of_one() -> None:
    """Together or alone, the two errors are the same."""
    assert errors(HUMAN, JUDGE, seed=3, draws=100) == (
        mae(HUMAN, JUDGE, seed=3, draws=100),
        rmse(HUMAN, JUDGE, seed=3, draws=100),
    )


@every_figure
def test_seed_decides(name: str) -> None:
    """The same seed gives the same interval, and another one another."""
    first, again, other = (FIGURES[name](*BINARY, seed=seed, draws=200) for seed in (1, 1, 2))
    assert first == again
    assert ends(first) != ends(other)


@every_figure
def test_copies_in_clusters_add_nothing(name: str) -> None:
    """Every pair four times over, known as clusters, has the interval of the pairs alone; unknown, a narrower one."""
    alone = FIGURES[name](*BINARY, seed=1)
    copies, names = [np.repeat(column, 4) for column in BINARY], np.repeat(np.arange(200), 4)
    together, unknown = FIGURES[name](*copies, names, seed=1), FIGURES[name](*copies, seed=1)
    assert ends(together) == pytest.approx(ends(alone), abs=1e-9)
    assert (together.n, together.method) == (800, "bootstrap-bca-clustered")
    assert ends(unknown)[2] < 0.6 * ends(together)[2]


@every_figure
def test_wider_level_wider_interval(name: str) -> None:
    """An interval of 99 % holds that of 90 %."""
    narrow, wide = (FIGURES[name](*BINARY, level=level, seed=1) for level in (0.9, 0.99))
    assert ends(wide)[0] < ends(narrow)[0] < ends(narrow)[1] < ends(wide)[1]


@given(labels, st.randoms(use_true_random=False), st.booleans())
@settings(deadline=None, max_examples=40)
def test_order_never_changes_a_digit(pairs: Pairs, chance: random.Random, clustered: bool) -> None:
    """Samples in another order have the same figures, with clusters and without."""
    rows = [(a, b, index % 5) for index, (a, b) in enumerate(pairs)]
    shuffled = list(rows)
    chance.shuffle(shuffled)
    for figure in FIGURES.values():
        found = [
            figure([a for a, _, _ in order], [b for _, b, _ in order], names if clustered else None, seed=1, draws=30)
            for order in (rows, shuffled)
            for names in [[name for _, _, name in order]]
        ]
        assert found[0] == found[1]


@given(labels)
@settings(deadline=None, max_examples=40)
def test_bounds(pairs: Pairs) -> None:
    """Ends lie around the value and inside what the figure can be; what is missing has a reason."""
    human, judge = [a for a, _ in pairs], [b for _, b in pairs]
    for name, figure in FIGURES.items():
        found = figure(human, judge, seed=1, draws=30)
        if found.value is not None and found.lo is not None and found.hi is not None:
            least = -1.0 if name == "mcc" else 0.0
            assert least <= found.lo <= found.value <= found.hi <= 1.0
        else:
            assert found.reason


@given(labels)
@settings(deadline=None, max_examples=40)
def test_raters_change_places(pairs: Pairs) -> None:
    """Errors and Matthews' correlation do not care who is who: errors to the last digit of their intervals."""
    human, judge = [a for a, _ in pairs], [b for _, b in pairs]
    for figure in (mae, rmse):
        assert figure(human, judge, seed=1, draws=30) == figure(judge, human, seed=1, draws=30)
    assert mcc(human, judge, seed=1, draws=30).value == mcc(judge, human, seed=1, draws=30).value


@given(labels)
@settings(deadline=None, max_examples=40)
def test_classes_change_names(pairs: Pairs) -> None:
    """Calling the other class positive leaves balanced accuracy and Matthews' correlation as they are."""
    human, judge = np.array(pairs).T
    for figure in (balanced_accuracy, mcc):
        plain, renamed = figure(human, judge, seed=1, draws=30), figure(1 - human, 1 - judge, seed=1, draws=30)
        assert plain.value == renamed.value


@pytest.mark.parametrize("factor", [1e-200, 0.25, 1e200])
@pytest.mark.parametrize("figure", [mae, rmse])
def test_units(figure: Callable[..., Statistic], factor: float) -> None:
    """Scores in another unit, however small or large, have errors and intervals in that unit."""
    human, judge = [1.0, 2.0, 3.0, 5.0, 4.0, 2.0], [1.0, 2.5, 2.0, 5.5, 4.0, 5.0]
    plain = figure(human, judge, seed=1)
    sized = figure([factor * each for each in human], [factor * each for each in judge], seed=1)
    assert [each / factor for each in ends(sized)] == pytest.approx(ends(plain), rel=1e-9)


@pytest.mark.parametrize(
    ("human", "judge", "clusters", "reason"),
    [
        ([0, 1] * 9, [0, 1] * 9, None, "the pairs show no spread from which an interval could be made"),
        ([0, 1, 1], [0, 1, 0], ["a"] * 3, "all pairs belong to one cluster"),
        ([0, 0, 0, 1], [0, 1, 0, 1], None, "the figure is not defined in more than 5% of the resamples"),
    ],
)
@pytest.mark.parametrize("figure", [balanced_accuracy, mcc])
def test_no_interval(
    figure: Callable[..., Statistic], human: list[int], judge: list[int], clusters: list[str] | None, reason: str
) -> None:
    """Where resampling gives no interval, the value stays, and the reason is said."""
    found = figure(human, judge, clusters, seed=1)
    assert found.value is not None
    assert (found.lo, found.hi, found.se, found.method, found.reason) == (None, None, None, "none", reason)


@pytest.mark.parametrize("figure", [mae, rmse])
def test_errors_without_interval(figure: Callable[..., Statistic]) -> None:
    """One pair, and differences of one and the same size, have an error but no interval."""
    assert figure([1], [3], seed=1).reason == "the interval needs at least two pairs"
    same = figure([1.0, 2.0, 3.0], [3.0, 0.0, 5.0], seed=1)
    assert (same.value, same.lo) == (2.0, None)
    assert same.reason == "the pairs show no spread from which an interval could be made"


@every_figure
def test_impossible_level(name: str) -> None:
    """A level that is no share is refused."""
    with pytest.raises(ValueError, match="level"):
        FIGURES[name]([0, 1], [0, 1], level=95.0, seed=1)
