"""Figures whose interval comes from resampling, in the shape of all others: with a reason where there is none."""

from __future__ import annotations

import numpy as np

from .bootstrap import MOST_UNDEFINED, Resamples, SumStatistic
from .statistic import Statistic, bare

__all__ = ["resampled"]


def resampled(value: float, drawn: Resamples, statistic: SumStatistic, level: float, scale: float = 1.0) -> Statistic:
    """The value with the interval and the standard error of its resamples, which are `statistic` times `scale`.

    >>> from .bootstrap import resample
    >>> drawn = resample([[1, 1], [1, 0], [1, 1], [1, 1]], seed=1)
    >>> resampled(0.75, drawn, lambda sums: sums[:, 1] / sums[:, 0], 0.95).method
    'bootstrap-bca'
    """
    found = drawn.interval(statistic, level)
    if found.lo is None or found.hi is None or found.se is None:
        return bare(value, drawn.n, _why_none(drawn, statistic))
    lo, hi, se = (scale * each for each in (found.lo, found.hi, found.se))
    # The value may come from another formula: rounding must not push an end past it.
    return Statistic(value, drawn.n, min(lo, value), max(hi, value), found.method, se)


def _why_none(drawn: Resamples, statistic: SumStatistic) -> str:
    if drawn.clusters < 2:
        return "the interval needs at least two pairs" if drawn.n < 2 else "all pairs belong to one cluster"
    if np.isnan(statistic(drawn.sums)).mean() > MOST_UNDEFINED:
        return f"the figure is not defined in more than {MOST_UNDEFINED:.0%} of the resamples"
    return "the pairs show no spread from which an interval could be made"
