"""How samples are drawn: the way never shows in the result, and memory stays bounded."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from turnwise.stats import draws as draws_module
from turnwise.stats.bootstrap import moment_rows, resample
from turnwise.stats.draws import cluster_rows, distinct_rows, drawn_sums

ROWS = np.random.default_rng(5).normal(size=(60, 3))
ONCE = np.ones(60, dtype=np.int64)


def test_kept_counts_are_fresh_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether counts are kept or drawn anew, the same is drawn."""
    kept = drawn_sums(ROWS, ONCE, 50, 1)
    monkeypatch.setattr(draws_module, "KEPT", 0)
    assert drawn_sums(ROWS, ONCE, 50, 1).tolist() == kept.tolist()


@pytest.mark.parametrize("times", [1, 3, 20])
def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Many small blocks hold what one large block holds, but for rounding."""
    at_once = drawn_sums(ROWS, ONCE * times, 50, 1)
    monkeypatch.setattr(draws_module, "CHUNK", 200)
    draws_module._kept_counts.cache_clear()
    assert drawn_sums(ROWS, ONCE * times, 50, 1) == pytest.approx(at_once, abs=1e-9)


@pytest.mark.parametrize("times", [1, 3, 20])
def test_as_many_rows_as_there_are(times: int) -> None:
    """Every resample holds as many rows as the samples, and each row as often as its share, on average."""
    marks = np.eye(5)
    sums = drawn_sums(marks, np.full(5, times), 4000, 2)
    assert (sums.sum(axis=1) == 5 * times).all()
    assert sums.mean(axis=0) == pytest.approx([times] * 5, abs=5 * (times * 0.8 / 4000) ** 0.5)
    assert sums.var(axis=0) == pytest.approx([times * 0.8] * 5, rel=0.15)


def test_single_precision_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole numbers are summed exactly, in single precision as in double."""
    whole = np.random.default_rng(1).integers(-9, 10, size=(60, 4)).astype(np.float64)
    quick = drawn_sums(whole, ONCE, 50, 1)
    monkeypatch.setattr(draws_module, "EXACT", 0.0)
    assert drawn_sums(whole, ONCE, 50, 1).tolist() == quick.tolist()


def test_clusters_are_summed() -> None:
    """Rows of one cluster are summed; a row without a cluster stays alone."""
    table = np.array([[1.0, 2.0], [10.0, 20.0], [100.0, 0.5], [7.0, 7.0], [8.0, 8.0]])
    sums = cluster_rows(table, ["a", "b", "a", None, None])
    assert sorted(sums.tolist()) == [[7.0, 7.0], [8.0, 8.0], [10.0, 20.0], [101.0, 2.5]]


def test_distinct_rows_know_their_number() -> None:
    """Equal rows are counted together, and minus zero is zero."""
    rows, times = distinct_rows(np.array([[0.0, 1.0], [2.0, 1.0], [-0.0, 1.0]]))
    assert (rows.tolist(), times.tolist()) == ([[0.0, 1.0], [2.0, 1.0]], [2, 1])


def test_no_draws_are_refused() -> None:
    """Resampling without resamples is a mistake, and says what was found."""
    with pytest.raises(ValueError, match="found 0"):
        resample([[1.0], [2.0]], seed=1, draws=0)


def test_memory_is_bounded() -> None:
    """2,000 draws from 10,000 different rows, which are 20 million numbers, need less than 100 MB at their peak."""
    rng = np.random.default_rng(1)
    rows = moment_rows(rng.normal(size=10_000), rng.normal(size=10_000))
    draws_module._kept_counts.cache_clear()
    tracemalloc.start()
    try:
        resample(rows, seed=9)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100e6
