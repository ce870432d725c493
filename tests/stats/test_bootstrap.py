"""Resampling: intervals of any statistic of sums."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnwise.stats.bootstrap import (
    BootstrapInterval,
    Floats,
    cell_rows,
    kappa_statistic,
    moment_rows,
    resample,
)

TABLE = np.array([[20, 5, 1, 0, 0], [4, 18, 6, 1, 0], [1, 5, 22, 7, 1], [0, 1, 6, 25, 8], [0, 0, 1, 6, 30]])


def columns(table: np.ndarray) -> tuple[list[int], list[int]]:
    """The labels of the samples that a table counts."""
    cells = [(i, j) for i, line in enumerate(table.tolist()) for j, count in enumerate(line) for _ in range(count)]
    return [i for i, _ in cells], [j for _, j in cells]


def mean(sums: Floats) -> Floats:
    """The mean of the second column, where the first is 1."""
    return np.asarray(sums[:, 1] / sums[:, 0])


def with_ones(values: list[float]) -> Floats:
    """Rows of 1 and the value."""
    return np.column_stack([np.ones(len(values)), values])


def ends(interval: BootstrapInterval) -> tuple[float, float]:
    """The ends of an interval that must exist."""
    assert interval.lo is not None
    assert interval.hi is not None
    return interval.lo, interval.hi


@pytest.mark.parametrize(
    ("power", "kappa", "se"), [(0, 0.603102, 0.045233), (1, 0.772400, 0.029471), (2, 0.887314, 0.019096)]
)
def test_kappa_of_the_five_value_table(power: int, kappa: float, se: float) -> None:
    """κ is the known one, and its bootstrap error is near the large-sample one."""
    found = resample(cell_rows(*columns(TABLE), 5), seed=1).interval(kappa_statistic(range(1, 6), power))
    assert found.value == pytest.approx(kappa, abs=5e-7)
    assert found.se == pytest.approx(se, rel=0.1)


def test_quadratic_interval_is_near_fishers() -> None:
    """For a statistic that has a good formula, the bootstrap interval is close to it."""
    found = resample(cell_rows(*columns(TABLE), 5), seed=1).interval(kappa_statistic(range(1, 6), 2))
    assert ends(found) == pytest.approx((0.843496, 0.919401), abs=0.012)


@pytest.mark.parametrize("power", [0, 1, 2])
def test_kappa_agrees_with_statsmodels(power: int) -> None:
    """κ over many tables at once is κ of each, as statsmodels has it."""
    from statsmodels.stats.inter_rater import cohens_kappa

    rng = np.random.default_rng(7)
    tables = rng.integers(1, 20, size=(5, 4, 4))
    values = [1.0, 2.0, 4.0, 8.0]
    gaps = np.abs(np.subtract.outer(values, values))
    weights = 1.0 - np.eye(4) if power == 0 else gaps**power
    expected = [cohens_kappa(table, weights=weights).kappa if power else cohens_kappa(table).kappa for table in tables]
    found = kappa_statistic(values, power)(tables.reshape(5, 16).astype(np.float64))
    assert found == pytest.approx(expected, abs=1e-12)


def test_same_seed_same_interval() -> None:
    """The seed alone decides what is drawn."""
    rows = with_ones([1.0, 2.0, 4.0, 8.0, 9.0])
    assert resample(rows, seed=3).interval(mean) == resample(rows, seed=3).interval(mean)
    assert resample(rows, seed=3).interval(mean) != resample(rows, seed=4).interval(mean)


@given(st.randoms(use_true_random=False), st.booleans())
@settings(max_examples=20, deadline=None)
def test_order_does_not_matter(random: object, clustered: bool) -> None:
    """Samples in another order give the same interval to the last digit, with and without clusters."""
    rng = np.random.default_rng(1)
    values, names = rng.normal(size=40), rng.integers(0, 12, size=40)
    order = list(range(40))
    random.shuffle(order)  # type: ignore[attr-defined]
    first = resample(with_ones(values.tolist()), names.tolist() if clustered else None, seed=1, draws=50)
    second = resample(with_ones(values[order].tolist()), names[order].tolist() if clustered else None, seed=1, draws=50)
    assert first.interval(mean) == second.interval(mean)


def test_named_singles_are_independent_samples() -> None:
    """Clusters of one sample each, named or not, change nothing."""
    rows = with_ones([0.0, 1.0, 3.0, 7.0])
    plain = resample(rows, seed=2).interval(mean)
    assert resample(rows, ["a", "b", "c", "d"], seed=2).interval(mean) == plain
    assert resample(rows, [None] * 4, seed=2).interval(mean) == plain
    assert plain.method == "bootstrap-bca"


def test_copies_within_clusters_add_nothing() -> None:
    """Five copies of each sample, known as clusters, give the interval of the samples alone."""
    values = [0.0, 1.0, 3.0, 7.0, 8.0, 2.0]
    alone = resample(with_ones(values), seed=2).interval(mean)
    copied = resample(with_ones(values * 5), list(range(6)) * 5, seed=2).interval(mean)
    assert ends(copied) == pytest.approx(ends(alone), abs=1e-12)
    assert copied.n == 30
    assert copied.method == "bootstrap-bca-clustered"


def test_many_distinct_rows_are_drawn_alike() -> None:
    """Drawing each sample and drawing counts per distinct row have the same spread: that of the mean."""
    values = np.random.default_rng(3).normal(size=2000)
    found = resample(with_ones(values.tolist()), seed=1, draws=1000).interval(mean)
    assert found.se == pytest.approx(values.std(ddof=1) / 2000**0.5, rel=0.1)


@pytest.mark.parametrize("values", [[], [3.0], [2.0, 2.0, 2.0]])
def test_no_interval_without_spread(values: list[float]) -> None:
    """No sample, one, or samples that are all the same have no interval, rather than one without width."""
    found = resample(np.reshape(with_ones(values), (-1, 2)), seed=1).interval(mean)
    assert (found.lo, found.hi, found.se, found.method) == (None, None, None, "none")
    assert found.value == (values[0] if values else None)


def test_no_interval_where_often_undefined() -> None:
    """κ of four samples with one rare label is undefined in many resamples, and then has no interval."""
    found = resample(cell_rows([0, 0, 0, 1], [0, 0, 0, 1], 2), seed=1).interval(kappa_statistic([0, 1]))
    assert found.value == 1.0
    assert found.method == "none"


def test_moments_give_concordance() -> None:
    """The moments of scores are what a mean absolute error and Lin's concordance are made of."""
    human, judge = (np.array(each, dtype=np.float64) + 1 for each in columns(TABLE))
    n, x, y, xx, yy, xy, gap = moment_rows(human, judge).sum(axis=0)
    assert gap / n == pytest.approx(0.351190, abs=5e-7)
    ccc = 2 * (xy / n - x * y / n**2) / (xx / n + yy / n - 2 * x * y / n**2)
    assert ccc == pytest.approx(0.887314, abs=5e-7)


def test_wrong_shapes_are_refused() -> None:
    """Rows that are no table, and clusters that do not fit the rows, are an error that names what was found."""
    with pytest.raises(ValueError, match="1 dimension"):
        resample([1.0, 2.0], seed=1)
    with pytest.raises(ValueError, match="2 rows and 1 clusters"):
        resample([[1.0], [2.0]], ["a"], seed=1)


def coverage(n: int, simulations: int, copies: int = 1) -> float:
    """How often the interval of κ holds the true κ of .6, with every sample occurring so many times."""
    rng = np.random.default_rng(11)
    hits = 0
    for seed in range(simulations):
        human = rng.integers(0, 2, n)
        judge = np.where(rng.random(n) < 0.8, human, 1 - human)
        rows = cell_rows(np.repeat(human, copies).tolist(), np.repeat(judge, copies).tolist(), 2)
        drawn = resample(rows, np.repeat(np.arange(n), copies).tolist(), seed=seed, draws=500)
        lo, hi = ends(drawn.interval(kappa_statistic([0, 1])))
        hits += lo <= 0.6 <= hi
    return hits / simulations


@pytest.mark.parametrize("copies", [1, 3])
def test_coverage(copies: int) -> None:
    """About 95 of 100 intervals hold the truth, clusters or not: four standard errors below 95 % would be a fault."""
    assert coverage(60, 150, copies) >= 0.88


@pytest.mark.slow
@pytest.mark.parametrize("n", [40, 100, 300])
@pytest.mark.parametrize("copies", [1, 3])
def test_coverage_closely(n: int, copies: int) -> None:
    """Between 93.5 % and 98 % of many intervals hold the truth, whatever the number of samples."""
    assert 0.935 <= coverage(n, 3000, copies) <= 0.98


@pytest.mark.slow
def test_ten_thousand_samples_of_four_models_take_three_seconds() -> None:
    """Four models on 10,000 samples with 2,000 draws each are quick enough to wait for."""
    rng = np.random.default_rng(2)
    human = rng.integers(0, 5, 10_000)
    begun = time.perf_counter()
    for seed in range(4):
        judge = np.where(rng.random(10_000) < 0.7, human, rng.integers(0, 5, 10_000))
        found = resample(cell_rows(human.tolist(), judge.tolist(), 5), seed=seed).interval(kappa_statistic(range(5)))
        assert found.value == pytest.approx(0.7, abs=0.05)
    assert time.perf_counter() - begun < 3.0
