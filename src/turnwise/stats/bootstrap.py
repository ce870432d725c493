"""The bootstrap: intervals for statistics that have no good formula, with clusters drawn whole.

A statistic is a function of sums: every sample is a row of numbers, and the statistic sees nothing but the rows' sum.
A table of two graders' labels is such a sum, and so are the moments behind a concordance. Samples with the same row
need not be told apart, so that 10,000 labels on five values are drawn as 25 counts. The order of samples never changes
a digit.

The interval is Efron's BCa, with the ends moved out as Student's t asks for few clusters. `method` says how it was
made:

bootstrap-bca            corrected for bias and skewness
bootstrap-bca-clustered  the same, clusters drawn whole
none                     no interval: fewer than two clusters, nothing varies, or a statistic that is often undefined
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .draws import Clusters, Counts, Floats, cluster_rows, distinct_rows, drawn_sums
from .normal import check_level
from .student import two_sided_t

__all__ = [
    "DRAWS",
    "BootstrapInterval",
    "BootstrapMethod",
    "Clusters",
    "Counts",
    "Floats",
    "Resamples",
    "SumStatistic",
    "cell_rows",
    "concordance_of_moments",
    "kappa_statistic",
    "moment_rows",
    "resample",
]

SumStatistic: TypeAlias = Callable[[Floats], Floats]
"""From sums, one resample a line, to one value a resample; NaN where it is not defined."""
BootstrapMethod = Literal["bootstrap-bca", "bootstrap-bca-clustered", "none"]

DRAWS = 2000
ROUNDING = 1e-12
"""Numbers that differ by less than this share of their size are the same but for rounding."""
MOST_UNDEFINED = 0.05
"""The share of resamples without a value up to which the others still tell how the statistic varies."""


@dataclass(frozen=True, slots=True)
class BootstrapInterval:
    """A statistic of `n` samples, its standard error, and the interval around it; None where not defined."""

    value: float | None
    n: int
    lo: float | None
    hi: float | None
    se: float | None
    method: BootstrapMethod


@dataclass(frozen=True, slots=True)
class Resamples:
    """The sums of many resamples, on which any number of statistics can be computed.

    `rows` are the distinct clusters' sums and `times` how often each occurs; `sums` has a line per resample.
    """

    rows: Floats
    times: Counts
    sums: Floats
    n: int

    @property
    def clusters(self) -> int:
        """How many clusters were drawn in each resample."""
        return int(self.times.sum())

    def value(self, statistic: SumStatistic) -> float | None:
        """The statistic of the samples themselves; None where it is not defined."""
        if not self.n:
            return None
        value = float(statistic((self.times @ self.rows)[None, :])[0])
        return value if math.isfinite(value) else None

    def values(self, statistic: SumStatistic, size: float | None = None) -> Floats | None:
        """The statistic of every resample that has one; None where too few have, or where nothing varies.

        What varies by less than rounding would does not vary. `size` is that of the numbers which the statistic was
        made of, where these are larger than the statistic itself.
        """
        if self.clusters < 2:
            return None
        values = statistic(self.sums)
        defined = values[np.isfinite(values)]
        if len(defined) < (1.0 - MOST_UNDEFINED) * len(values):
            return None
        largest = float(np.abs(defined).max()) if size is None else size
        return defined if np.ptp(defined) > ROUNDING * largest else None

    def interval(self, statistic: SumStatistic, level: float = 0.95) -> BootstrapInterval:
        """The statistic with its BCa interval."""
        check_level(level)
        value, values = self.value(statistic), self.values(statistic)
        if value is None or values is None:
            return BootstrapInterval(value, self.n, None, None, None, "none")
        lo, hi = np.quantile(values, self._shares(value, values, statistic, level))
        method: BootstrapMethod = "bootstrap-bca" if self.clusters == self.n else "bootstrap-bca-clustered"
        # Rounding, or a bias that is larger than the spread, must not push an end past the value itself.
        return BootstrapInterval(
            value, self.n, min(float(lo), value), max(float(hi), value), float(values.std(ddof=1)), method
        )

    def _shares(self, value: float, values: Floats, statistic: SumStatistic, level: float) -> tuple[float, float]:
        """The shares of resamples below the two ends."""
        from statistics import NormalDist

        normal, few = NormalDist(), self.clusters
        bias = normal.inv_cdf(_share_below(value, values))
        skew = self._acceleration(statistic)
        # Resamples of G clusters vary by (G-1)/G too little, and t takes the place of z.
        width = two_sided_t(level, few - 1) * math.sqrt(few / (few - 1))
        low, high = (bias + (bias + z) / max(1.0 - skew * (bias + z), 0.1) for z in (-width, width))
        return normal.cdf(low), normal.cdf(high)

    def _acceleration(self, statistic: SumStatistic) -> float:
        """How skewed the statistic is, from leaving out one cluster at a time; 0 where that is not defined."""
        left_out = statistic(self.times @ self.rows - self.rows)
        defined = np.isfinite(left_out)
        weights, left_out = self.times[defined], left_out[defined]
        if not len(left_out):
            return 0.0
        gaps = np.average(left_out, weights=weights) - left_out
        largest = float(np.abs(gaps).max())
        if largest <= ROUNDING * float(np.abs(left_out).max()):
            return 0.0
        gaps = gaps / largest
        return float(weights @ gaps**3) / (6.0 * math.sqrt(float(weights @ gaps**2)) ** 3)


def resample(rows: npt.ArrayLike, clusters: Clusters = None, *, seed: int, draws: int = DRAWS) -> Resamples:
    """Draw as many clusters as there are, with replacement, and sum their rows; again and again.

    `clusters` names the cluster of every row, or None for a row on its own; without it, all rows are.

    >>> flips = resample([[1, 1], [1, 0], [1, 1], [1, 1]], seed=1)
    >>> flips.value(lambda sums: sums[:, 1] / sums[:, 0])
    0.75
    """
    table = np.asarray(rows, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"rows must be a table with a line per sample; found {table.ndim} dimension(s)")
    if draws < 1:
        raise ValueError(f"resampling needs at least one draw; found {draws}")
    distinct, times = distinct_rows(cluster_rows(table, clusters))
    return Resamples(distinct, times, drawn_sums(distinct, times, draws, seed), len(table))


def _share_below(value: float, values: Floats) -> float:
    """The share of values below `value`, ties by half; never 0 or 1, which no normal quantile has."""
    close = np.isclose(values, value, rtol=ROUNDING, atol=ROUNDING * float(np.abs(values).max()))
    below = float(np.count_nonzero((values < value) & ~close)) + np.count_nonzero(close) / 2.0
    return float(min(max(below, 0.5), len(values) - 0.5)) / len(values)


def cell_rows(human: Sequence[int], judge: Sequence[int], labels: int) -> Floats:
    """A row per sample with a 1 in the cell of its two labels, numbered from 0: their sum is the flattened table.

    >>> cell_rows([0, 1], [0, 0], labels=2).sum(axis=0).reshape(2, 2).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    rows = np.zeros((len(human), labels * labels))
    cells = np.asarray(human, dtype=np.intp) * labels + np.asarray(judge, dtype=np.intp)
    rows[np.arange(len(human)), cells] = 1.0
    return rows


def kappa_statistic(values: Sequence[float], power: int = 0) -> SumStatistic:
    """Cohen's κ of flattened tables: 0 counts disagreements, 1 weighs them by the labels' distance, 2 by its square.

    >>> round(float(kappa_statistic([0, 1])(np.array([[20.0, 5.0, 10.0, 15.0]]))[0]), 6)
    0.4
    """
    distances = np.abs(np.subtract.outer(np.asarray(values, dtype=np.float64), values))
    cost = distances**power if power else (distances > 0).astype(np.float64)

    def kappas(sums: Floats) -> Floats:
        tables = sums.reshape(-1, len(cost), len(cost))
        observed = (tables * cost).sum(axis=(1, 2)) * tables.sum(axis=(1, 2))
        expected = np.einsum("ri,ij,rj->r", tables.sum(axis=2), cost, tables.sum(axis=1))
        shares: Floats = np.divide(observed, expected, out=np.full_like(observed, np.nan), where=expected > 0)
        return 1.0 - shares

    return kappas


def moment_rows(human: npt.ArrayLike, judge: npt.ArrayLike) -> Floats:
    """A row per sample with 1, x, y, x², y², xy and |y-x|: what means, errors, correlation and concordance need."""
    x, y = np.asarray(human, dtype=np.float64), np.asarray(judge, dtype=np.float64)
    return np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y, np.abs(y - x)])


def concordance_of_moments(sums: Floats) -> Floats:
    """Lin's concordance of sums of `moment_rows`. Scores far from 0 lose digits: move both columns alike, first.

    >>> rows = moment_rows([1, 2, 3], [2, 3, 5])
    >>> round(float(concordance_of_moments(rows.sum(axis=0)[None, :])[0]), 6)
    0.5
    """
    n, x, y, xx, yy, xy, _ = sums.T
    shared = 2.0 * x * y
    together, whole = 2.0 * n * xy - shared, n * (xx + yy) - shared
    result: Floats = np.divide(together, whole, out=np.full_like(whole, np.nan), where=whole > 0)
    return np.where(np.abs(result) <= ROUNDING, 0.0, result)
