"""Krippendorff's α: how far all raters of many units agree, however many there are and whoever labelled what.

α is 1 - distances within units / distances among all labels. Both are functions of sums over units, and of few: what a
unit adds are counts of its labels, and distances that do not change from resample to resample are summed at once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from .bootstrap import DRAWS, Clusters, Floats, SumStatistic, resample
from .pairs import Codes
from .resampled import resampled
from .statistic import Statistic, bare, undefined

__all__ = ["Metric", "krippendorff_alpha"]

Metric = Literal["nominal", "ordinal", "interval"]
Units: TypeAlias = Sequence[Sequence[float]] | Sequence[Sequence[str]]

MOST_LABELS = 300
MOST_CELLS = 12_000_000
"""So many numbers, about 100 MB, are held at once for resampling."""
TOO_MANY = f"resampling needs a count of each label, and there are more than {MOST_LABELS} different ones"
TOO_LARGE = "resampling needs too much memory for so many units and so many pairs of different labels"


@dataclass(frozen=True, slots=True)
class _Sums:
    """What each unit adds to which column, one entry after the other, and α as a function of the columns' sums."""

    entries: Sequence[tuple[int, int, float]]
    units: int
    width: int
    statistic: SumStatistic

    def rows(self) -> Floats:
        """A row per unit."""
        table = np.zeros((self.units, self.width))
        units, columns, amounts = self._columns()
        table[units, columns] = amounts
        return table

    def value(self) -> float:
        """α of all units."""
        _, columns, amounts = self._columns()
        # Sums of floats depend on the order at the last digit, so that the amounts set it themselves.
        order = np.argsort(amounts, kind="stable")
        sums = np.bincount(columns[order], weights=amounts[order], minlength=self.width)
        return float(self.statistic(sums[None, :].astype(np.float64))[0])

    def _columns(self) -> tuple[Codes, Codes, Floats]:
        units, columns, amounts = zip(*self.entries, strict=True)
        return np.array(units, dtype=np.int64), np.array(columns, dtype=np.int64), np.array(amounts, dtype=np.float64)


def krippendorff_alpha(
    units: Units,
    metric: Metric = "nominal",
    clusters: Clusters = None,
    *,
    seed: int,
    draws: int = DRAWS,
    level: float = 0.95,
) -> Statistic:
    """Krippendorff's α over the labels that each unit has; units are drawn whole for the interval.

    Missing labels are left out of a unit, and a unit with fewer than two labels tells nothing. Ordinal and interval
    need numbers. No value where all labels are the same: there is nothing to tell apart. No interval for names or ranks
    with more than 300 different labels.

    >>> round(krippendorff_alpha([[1, 1], [2, 2], [1, 2], [3, 3]], seed=1).value, 6)
    0.666667
    """
    if clusters is not None and len(clusters) != len(units):
        raise ValueError(f"every unit needs a cluster; found {len(units)} units and {len(clusters)} clusters")
    told = [place for place, unit in enumerate(units) if len(unit) > 1]
    values: list[float | str] = sorted({label for place in told for label in units[place]})
    if len(values) < 2:
        return undefined(len(told), "all labels are the same" if told else "no unit has the labels of two raters")
    numbers = {label: number for number, label in enumerate(values)}
    coded = [sorted(numbers[label] for label in units[place]) for place in told]
    sums = _SUMS[metric](coded, values)
    if metric != "interval" and len(values) > MOST_LABELS:
        return bare(sums.value(), len(told), TOO_MANY)
    if sums.units * sums.width > MOST_CELLS:
        return bare(sums.value(), len(told), TOO_LARGE)
    kept = None if clusters is None else [clusters[place] for place in told]
    drawn = resample(sums.rows(), kept, seed=seed, draws=draws)
    value = drawn.value(sums.statistic)
    return resampled(sums.value() if value is None else value, drawn, sums.statistic, level)


def _nominal(units: Sequence[Sequence[int]], values: Sequence[object]) -> _Sums:
    """A column of disagreements within units, and one for the count of each label."""
    entries: list[tuple[int, int, float]] = []
    for place, unit in enumerate(units):
        counts = Counter(unit)
        alike = sum(count * count for count in counts.values())
        entries.append((place, 0, (len(unit) ** 2 - alike) / (len(unit) - 1)))
        entries += [(place, 1 + label, float(count)) for label, count in counts.items()]

    def alphas(sums: Floats) -> Floats:
        counts = sums[:, 1:]
        n = counts.sum(axis=1)
        return _alphas(n, sums[:, 0], n * n - (counts * counts).sum(axis=1), n * n)

    return _Sums(entries, len(units), 1 + len(values), alphas)


def _interval(units: Sequence[Sequence[int]], values: Sequence[float | str]) -> _Sums:
    """Columns of the number of labels, the squared distances within units, the labels, and their squares."""
    # Distances between the smallest and the largest value are shares of 1: no square overflows or vanishes.
    low, high = float(values[0]), float(values[-1])
    scores = (np.asarray(values, dtype=np.float64) - low) / (high - low) - 0.5
    entries: list[tuple[int, int, float]] = []
    for place, unit in enumerate(units):
        own = scores[unit]
        mean = math.fsum(own) / len(unit)
        within = 2.0 * len(unit) * math.fsum((own - mean) ** 2) / (len(unit) - 1)
        sums = (float(len(unit)), within, math.fsum(own), math.fsum(own * own))
        entries += [(place, column, amount) for column, amount in enumerate(sums)]

    def alphas(sums: Floats) -> Floats:
        n, within, total, squares = sums.T
        return _alphas(n, within, 2.0 * (n * squares - total * total), n * n)

    return _Sums(entries, len(units), 4, alphas)


def _ordinal(units: Sequence[Sequence[int]], values: Sequence[object]) -> _Sums:
    """A column for the count of each label, and one for each two labels that any unit holds together."""
    entries: list[tuple[int, int, float]] = []
    columns: dict[tuple[int, int], int] = {}
    for place, unit in enumerate(units):
        counts = Counter(unit)
        entries += [(place, label, float(count)) for label, count in counts.items()]
        for two in combinations(sorted(counts), 2):
            column = columns.setdefault(two, len(values) + len(columns))
            entries.append((place, column, 2.0 * counts[two[0]] * counts[two[1]] / (len(unit) - 1)))
    lower, upper = (np.array([two[end] for two in columns], dtype=np.intp) for end in (0, 1))

    def alphas(sums: Floats) -> Floats:
        counts, together = sums[:, : len(values)], sums[:, len(values) :]
        n = counts.sum(axis=1)
        # Between two ranks lie all labels in between, and half of those that have either rank.
        ranks = np.cumsum(counts, axis=1) - counts / 2.0 - n[:, None] / 2.0
        within = (together * (ranks[:, upper] - ranks[:, lower]) ** 2).sum(axis=1)
        total = (counts * ranks).sum(axis=1)
        return _alphas(n, within, 2.0 * (n * (counts * ranks**2).sum(axis=1) - total**2), n**4)

    return _Sums(entries, len(units), len(values) + len(columns), alphas)


def _alphas(n: Floats, within: Floats, among: Floats, size: Floats) -> Floats:
    """α from the sums of distances; `size` is what the distances among all labels are measured against."""
    # Leaving a unit out can leave a trace of a label that nobody gave; such a trace is no spread.
    shares = np.divide(within * (n - 1.0), among, out=np.full_like(n, np.nan), where=among > 1e-12 * size)
    return np.asarray(1.0 - shares, dtype=np.float64)


_SUMS: dict[Metric, Callable[[Sequence[Sequence[int]], Sequence[float | str]], _Sums]] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
}
