"""Cohen's κ from sums of few columns: how often two raters agree, and how often each of them gives each label."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .bootstrap import Floats

__all__ = ["kappa_of_margins", "margin_rows"]


def margin_rows(human: Sequence[int], judge: Sequence[int], labels: int) -> Floats:
    """A row per sample: 1, whether its two labels agree, and a 1 in the column of either rater's label.

    >>> margin_rows([0, 1], [0, 0], labels=2).tolist()
    [[1.0, 1.0, 1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0, 1.0, 0.0]]
    """
    first, second = np.asarray(human, dtype=np.intp), np.asarray(judge, dtype=np.intp)
    rows, places = np.zeros((first.size, 2 + 2 * labels)), np.arange(first.size)
    rows[:, 0] = 1.0
    rows[:, 1] = first == second
    rows[places, 2 + first] = 1.0
    rows[places, 2 + labels + second] = 1.0
    return rows


def kappa_of_margins(sums: Floats) -> Floats:
    """Cohen's κ of sums of `margin_rows`; NaN where no disagreement can be expected.

    >>> kappa_of_margins(margin_rows([0, 0, 1, 1], [0, 0, 1, 0], labels=2).sum(axis=0)[None, :]).tolist()
    [0.5]
    """
    n, agreed = sums[:, 0], sums[:, 1]
    human, judge = np.hsplit(sums[:, 2:], 2)
    observed, expected = n * (n - agreed), n * n - (human * judge).sum(axis=1)
    shares: Floats = np.divide(observed, expected, out=np.full_like(observed, np.nan), where=expected > 0)
    return 1.0 - shares
