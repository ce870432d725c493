"""Standard errors from influence values: how far each pair moves a figure, summed over the pairs of a cluster."""

from __future__ import annotations

import math

import numpy as np

from .normal import two_sided_z
from .pairs import Codes, Floats
from .statistic import NO_VARIATION, ONE_CLUSTER, Statistic, bare

__all__ = ["NO_SPREAD", "design_effect", "fisher_interval", "fisher_statistic", "inside", "snapped", "standard_error"]

NO_SPREAD = 1e-12
"""A standard error below this is rounding: influence values that are all zero in exact arithmetic."""


def standard_error(influence: Floats, clusters: Codes | None = None) -> float | None:
    """The standard error of a figure from the influence values of its pairs.

    Without clusters that is the large-sample one, with the number of pairs as denominator; with G clusters the sums of
    clusters take the place of single values, and G/(G-1) corrects for few clusters. None for a single cluster.
    """
    n = influence.size
    if clusters is None:
        return math.sqrt(float(influence @ influence)) / n if n else None
    sums = np.bincount(clusters, weights=influence)
    if sums.size < 2:
        return None
    return math.sqrt(sums.size / (sums.size - 1) * float(sums @ sums)) / n


def design_effect(influence: Floats, clusters: Codes | None) -> float | None:
    """How many times larger than with independent pairs the variance is; None without clusters, or without spread."""
    if clusters is None:
        return None
    alone = standard_error(influence, np.arange(influence.size))
    together = standard_error(influence, clusters)
    if alone is None or together is None or alone < NO_SPREAD:
        return None
    return (together / alone) ** 2


def inside(value: float) -> float:
    """The value without the rounding that leads past -1 or 1, or just not up to them.

    >>> inside(1.0000000000000002), inside(0.5)
    (1.0, 0.5)
    """
    return math.copysign(1.0, value) if abs(value) > 1.0 - NO_SPREAD else value


def snapped(value: float) -> float:
    """The value without the rounding beside -1, 0 and 1, which mean something that no other value means.

    >>> snapped(-1e-16), snapped(1.0000000000000002), snapped(0.5)
    (0.0, 1.0, 0.5)
    """
    return 0.0 if abs(value) < NO_SPREAD else inside(value)


def fisher_interval(value: float, se_of_z: float, level: float) -> tuple[float, float]:
    """The interval around a value between -1 and 1 that is symmetric on Fisher's z.

    >>> low, high = fisher_interval(0.0, 0.1, 0.95)
    >>> round(low, 6), round(high, 6)
    (-0.193525, 0.193525)
    """
    half = two_sided_z(level) * se_of_z
    z = math.atanh(value)
    # Rounding must not push an end past the value itself.
    return min(math.tanh(z - half), value), max(math.tanh(z + half), value)


def fisher_statistic(value: float, influence: Floats, clusters: Codes | None, method: str, level: float) -> Statistic:
    """A value between -1 and 1, with the interval that its influence values give on Fisher's z.

    There is none where the influence values do not vary, or where the value is an end of the scale.
    """
    n = influence.size
    se = standard_error(influence, clusters)
    if se is None:
        return bare(value, n, ONE_CLUSTER)
    if abs(value) > 1.0 - NO_SPREAD or se < NO_SPREAD:
        return bare(value, n, NO_VARIATION)
    lo, hi = fisher_interval(value, se / (1.0 - value * value), level)
    effect = design_effect(influence, clusters)
    return Statistic(value, n, lo, hi, method if clusters is None else "fisher-z-clustered", se, None, effect)
