"""Percentiles: exact for as many values as fit, within 1 % beyond that.

A percentile lies between the two values at the neighbouring ranks, in proportion: the definition of most spreadsheets,
where 50 is the median, 0 the least and 100 the largest value.

Past the limit, values are counted in buckets whose upper end is 2 % above their lower end. Each value then stands for
the middle of its bucket, less than 1 % away; so a percentile of values of one sign is less than 1 % off. The least and
the largest value stay exact, and sizes below 1e-250 count as zero. Floats have about 58,000 such buckets for each sign:
that bounds the memory, and values that span six powers of ten take about 700.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import accumulate

from .exact import LARGEST, check_number

__all__ = ["Percentiles"]

LOG_WIDTH = math.log(1.02)


class Percentiles:
    """Values, added one by one, and their percentiles. The order in which they are added does not matter.

    >>> times = Percentiles()
    >>> for value in (1.0, 2.0, 4.0):
    ...     times.add(value)
    >>> times.at(50), times.at(75)
    (2.0, 3.0)
    """

    __slots__ = ("_buckets", "_exact_up_to", "_largest", "_least", "_n", "_values")

    def __init__(self, exact_up_to: int = 100_000) -> None:
        self._exact_up_to = exact_up_to
        self._values: list[float] = []
        self._buckets: Counter[tuple[int, int]] = Counter()
        self._n = 0
        self._least = math.inf
        self._largest = -math.inf

    @property
    def n(self) -> int:
        """How many values there are."""
        return self._n

    @property
    def exact(self) -> bool:
        """Whether percentiles are exact: whether all values are still there."""
        return self._n <= self._exact_up_to

    def add(self, value: float) -> None:
        """Count one value in. Raises `ValueError` for a value that is no finite number."""
        number = check_number(value)
        self._n += 1
        self._least, self._largest = min(self._least, number), max(self._largest, number)
        self._values.append(number)
        if not self.exact:
            self._buckets.update(map(_bucket, self._values))
            self._values.clear()

    def at(self, percent: float) -> float | None:
        """The percentile; None without values. Raises `ValueError` for a percentage outside 0 to 100."""
        if not 0 <= percent <= 100:
            raise ValueError(f"a percentile lies between 0 and 100; found {percent!r}")
        if not self._n:
            return None
        rank, share = divmod((self._n - 1) * percent / 100, 1.0)
        below, above = self._ranked(int(rank)), self._ranked(min(int(rank) + 1, self._n - 1))
        return min(below + (above - below) * share, above)

    def _ranked(self, rank: int) -> float:
        """The value at a rank, counted from 0 in rising order."""
        if self.exact:
            self._values.sort()  # next to nothing where they are in order already
            return self._values[rank]
        if rank in (0, self._n - 1):
            return self._largest if rank else self._least
        return min(max(self._bucketed(rank), self._least), self._largest)

    def _bucketed(self, rank: int) -> float:
        rising = sorted(self._buckets)
        reached = accumulate(self._buckets[bucket] for bucket in rising)
        return _middle(next(bucket for bucket, count in zip(rising, reached, strict=True) if count > rank))


def _bucket(value: float) -> tuple[int, int]:
    """The sign, and a number that rises with the value."""
    if abs(value) < 1 / LARGEST:
        return 0, 0
    sign = 1 if value > 0 else -1
    return sign, sign * math.floor(math.log(abs(value)) / LOG_WIDTH)


def _middle(bucket: tuple[int, int]) -> float:
    sign, rising = bucket
    return sign * math.exp((sign * rising + 0.5) * LOG_WIDTH)
