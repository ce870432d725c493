"""Figures whose interval comes from resampling, in the shape of all others: with a reason where there is none."""

from __future__ import annotations

import numpy as np

from .bootstrap import MOST_UNDEFINED, Resamples, SumStatistic
from .statistic import NO_VARIATION, ONE_CLUSTER, ONE_PAIR, Statistic, bare

__all__ = ["resampled", "why_no_interval"]


def resampled(value: float, drawn: Resamples, statistic: SumStatistic, level: float, scale: float = 1.0) -> Statistic:
    """The value with the interval and the standard error of its resamples, which are `statistic` times `scale`.

    >>> from .bootstrap import resample
    >>> drawn = resample([[1, 1], [1, 0], [1, 1], [1, 1]], seed=1)
    >>> resampled(0.75, drawn, lambda sums: sums[:, 1] / sums[:, 0], 0.95).method
    'bootstrap-bca'
    """
    found = drawn.interval(statistic, level)
    if found.lo is None or found.hi is None or found.se is None:
        return bare(value, drawn.n, why_no_interval(drawn, statistic))
    lo, hi, se = (scale * each for each in (found.lo, found.hi, found.se))
    # The value may come from another formula: rounding must not push an end past it.
    return Statistic(value, drawn.n, min(lo, value), max(hi, value), found.method, se)


def why_no_interval(drawn: Resamples, statistic: SumStatistic) -> str:
    """Why resampling gives the statistic no interval: too few clusters, too often undefined, or nothing varies."""
    if drawn.clusters < 2:
        return ONE_PAIR if drawn.n < 2 else ONE_CLUSTER
    if not np.isfinite(statistic(drawn.sums)).mean() >= 1.0 - MOST_UNDEFINED:
        return f"the figure is not defined in more than {MOST_UNDEFINED:.0%} of the resamples"
    return NO_VARIATION
