"""κ from agreement and margins is κ of the table, in far fewer columns."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from turnwise.stats.bootstrap import cell_rows, kappa_statistic
from turnwise.stats.draws import WIDE, distinct_rows
from turnwise.stats.margin_sums import kappa_of_margins, margin_rows

labels = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30)


@given(labels)
def test_margins_tell_kappa(pairs: list[tuple[int, int]]) -> None:
    """κ of margins is digit for digit that of the whole table, and undefined where that is."""
    human, judge = [one for one, _ in pairs], [other for _, other in pairs]
    by_table = kappa_statistic(range(4))(cell_rows(human, judge, 4).sum(axis=0)[None, :])
    np.testing.assert_array_equal(kappa_of_margins(margin_rows(human, judge, 4).sum(axis=0)[None, :]), by_table)


def test_margins_agree_with_an_oracle() -> None:
    """κ of 100 labels is that of scikit-learn, from 202 columns."""
    rng = np.random.default_rng(3)
    human = rng.integers(0, 100, 500)
    judge = np.where(rng.random(500) < 0.7, human, rng.integers(0, 100, 500))
    rows = margin_rows(human.tolist(), judge.tolist(), 100)
    assert rows.shape == (500, 202)
    found = kappa_of_margins(rows.sum(axis=0)[None, :])[0]
    np.testing.assert_allclose(found, cohen_kappa_score(human, judge))


def test_wide_rows_are_told_apart_as_narrow_ones_are() -> None:
    """Rows with more columns than fit into a key are counted as narrow ones are, and -0 is 0."""
    narrow = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -0.0], [1.0, 0.0]])
    wide = np.hstack([narrow, np.zeros((4, WIDE))])
    rows, times = distinct_rows(wide)
    expected_rows, expected_times = distinct_rows(narrow)
    np.testing.assert_array_equal(rows[:, :2], expected_rows)
    assert sorted(times.tolist()) == sorted(expected_times.tolist()) == [1, 3]
    assert not np.signbit(rows).any()
