"""What intervals need to know of values in clusters, worked out at once from whole columns."""

from __future__ import annotations

import math

import numpy as np

from .pairs import Codes, Floats
from .sums import ClusterSums

__all__ = ["ColumnSums"]

ROUNDING = 1e-14
"""A standard error below this share of the largest value is what rounding left of none at all."""


class ColumnSums(ClusterSums):
    """`ClusterSums` of values that are all there already: the same figures but for rounding, a hundred times as quick.

    The order of values never changes a digit here either. `clusters` are codes from 0, each of which occurs; without
    them every value is a cluster of its own.

    >>> sums = ColumnSums(np.array([1.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 2]))
    >>> sums.n, sums.clusters, sums.mean
    (4, 3, 0.75)
    """

    __slots__ = ("_clusters", "_mean", "_n", "_squares", "_unit")

    def __init__(self, values: Floats, clusters: Codes | None) -> None:
        super().__init__()
        self._n = values.size
        self._clusters = values.size if clusters is None else int(clusters.max(initial=-1)) + 1
        self._zero_or_one = bool(((values == 0.0) | (values == 1.0)).all())
        # A power of two is taken out without rounding, so that no square overflows or vanishes.
        self._unit = math.frexp(float(np.abs(values).max(initial=0.0)))[1]
        scaled: Floats = np.ldexp(values, -self._unit)
        self._mean = math.fsum(scaled) / max(self._n, 1)
        self._squares = _squared_residuals(scaled - self._mean, clusters)

    def add(self, cluster: str | None, value: float) -> None:
        """Refused: the columns are complete."""
        raise TypeError(f"the columns are complete; found {value!r} of cluster {cluster!r} after them")

    @property
    def n(self) -> int:
        """How many values there are."""
        return self._n

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return self._clusters

    @property
    def mean(self) -> float | None:
        """The mean of all values; None where there is none."""
        return math.ldexp(self._mean, self._unit) if self._n else None

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean, robust against clusters, times G/(G-1); None with fewer than two clusters."""
        if self._clusters < 2:
            return None
        error = math.sqrt(self._clusters / (self._clusters - 1) * self._squares) / self._n
        return math.ldexp(error, self._unit) if error > ROUNDING else 0.0

    @property
    def design_effect(self) -> float | None:
        """How many times larger than that of independent values of 0 and 1 the variance of their mean is."""
        error, rate = self.standard_error, self.mean
        if not self.zero_or_one or error is None or rate is None or rate in (0.0, 1.0):
            return None
        return error * error * (self._n - 1) / (rate * (1.0 - rate))


def _squared_residuals(residuals: Floats, clusters: Codes | None) -> float:
    """The sum over clusters of their summed residuals, squared."""
    if clusters is not None:
        # Sums of floats depend on the order at the last digit, so that the values set it themselves.
        order = np.argsort(residuals)
        residuals = np.asarray(np.bincount(clusters[order], weights=residuals[order]), dtype=np.float64)
    return math.fsum(residuals * residuals)
