"""Krippendorff's α of many different labels: few sums per unit, the same value, and an interval if possible."""

from __future__ import annotations

import tracemalloc
from itertools import permutations

import numpy as np
import pytest

from turnwise.stats.krippendorff import MOST_LABELS, Metric, krippendorff_alpha

MEGABYTES = 1_000_000


def scores(units: int, seed: int = 1) -> list[list[float]]:
    """Two raters' scores of each unit, with an error of .3 each around a truth with spread 1."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(units, 1))
    found: list[list[float]] = (truth + 0.3 * rng.normal(size=(units, 2))).tolist()
    return found


def interval_alpha(units: list[list[float]]) -> float:
    """Interval α of units with two labels each, from every two labels."""
    every = [label for unit in units for label in unit]
    within = sum((one - other) ** 2 for one, other in units) * 2 / len(every)
    among = sum((one - other) ** 2 for one, other in permutations(every, 2)) / (len(every) * (len(every) - 1))
    return 1 - within / among


def test_continuous_labels_need_little_memory() -> None:
    """2,000 units with 4,000 different scores take less than 100 MB, and have an interval."""
    units = scores(2000)
    tracemalloc.start()
    found = krippendorff_alpha(units, "interval", seed=1, draws=500)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * MEGABYTES
    assert found.lo is not None
    assert found.hi is not None
    # The true α is the share of the truth in the variance, 1 / 1.09.
    assert found.lo < 1 / 1.09 < found.hi


def test_interval_alpha_of_moments_is_its_definition() -> None:
    """α from moments is α from every two labels, far away from 0 as well."""
    units = scores(40)
    expected = pytest.approx(interval_alpha(units), abs=1e-9)
    assert krippendorff_alpha(units, "interval", seed=1, draws=20).value == expected
    for factor, shift in ((1e-90, 0.0), (1e90, 0.0), (1.0, 1e6)):
        moved = [[label * factor + shift for label in unit] for unit in units]
        assert krippendorff_alpha(moved, "interval", seed=1, draws=20).value == pytest.approx(
            interval_alpha(units), abs=1e-8
        )


@pytest.mark.parametrize("metric", ["nominal", "ordinal"])
def test_too_many_labels_leave_the_value(metric: Metric) -> None:
    """Above 300 different labels α has a value but no interval, and says why; at 300 it has one."""
    few, many = ([[place, place] for place in range(size)] + [[0, 1]] for size in (MOST_LABELS, MOST_LABELS + 1))
    assert krippendorff_alpha(few, metric, seed=1, draws=50).lo is not None
    found = krippendorff_alpha(many, metric, seed=1, draws=50)
    assert (found.lo, found.method) == (None, "none")
    assert found.reason == "resampling needs a count of each label, and there are more than 300 different ones"
    if metric == "nominal":
        # Of n = 604 labels 0 and 1 occur three times, each other one twice, and one unit of two disagrees.
        among = 604**2 - (2 * 9 + 299 * 4)
        assert found.value == pytest.approx(1 - 603 * 2 / among)


def test_too_many_units_leave_the_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that would not fit into memory are never made: α then has no interval, and says why."""
    units = [[0, 0], [1, 1], [2, 2], [0, 2]]
    whole = krippendorff_alpha(units, "ordinal", seed=1)
    monkeypatch.setattr("turnwise.stats.krippendorff.MOST_CELLS", 10)
    found = krippendorff_alpha(units, "ordinal", seed=1)
    assert found.value == pytest.approx(whole.value)
    assert found.lo is None
    assert found.reason is not None
    assert "memory" in found.reason


@pytest.mark.parametrize(
    ("units", "clusters", "reason"),
    [
        ([[1], [2]], None, "no unit has the labels of two raters"),
        ([[1, 1], [1, 1]], None, "all labels are the same"),
        ([[1, 1], [1, 2]], ["a", "a"], "all pairs belong to one cluster"),
    ],
)
def test_alpha_says_what_is_missing(units: list[list[int]], clusters: list[str] | None, reason: str) -> None:
    """No value, or no interval, has the reason that is true."""
    assert krippendorff_alpha(units, "nominal", clusters, seed=1).reason == reason
