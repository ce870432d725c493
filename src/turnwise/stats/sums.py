"""What intervals need to know of values that come in clusters, kept while the values arrive."""

from __future__ import annotations

from .exact import ExactSum, check_number, dyadic, root

__all__ = ["ClusterSums"]


class ClusterSums:
    """Running sums of values, by cluster: values of one cluster, such as a conversation, may resemble each other.

    Memory is one small entry per named cluster. A value without a cluster is a cluster of its own and takes none.
    All sums are exact: the order of values and the names of clusters never change a digit.

    >>> sums = ClusterSums()
    >>> for cluster, value in [("a", 1), ("a", 0), (None, 1), (None, 1)]:
    ...     sums.add(cluster, value)
    >>> sums.n, sums.clusters, sums.mean
    (4, 3, 0.75)
    """

    __slots__ = ("_all", "_alone", "_alone_squares", "_named", "_zero_or_one")

    def __init__(self) -> None:
        self._all = ExactSum()
        self._alone = ExactSum()
        self._alone_squares = ExactSum()
        self._named: dict[str, ExactSum] = {}
        self._zero_or_one = True

    def add(self, cluster: str | None, value: float) -> None:
        """Count one value in. Raises `ValueError` for a value that is no finite number."""
        number = check_number(value)
        numerator, exponent = dyadic(number)
        self._all.add(numerator, exponent)
        self._zero_or_one = self._zero_or_one and number in (0.0, 1.0)
        if cluster is None:
            self._alone.add(numerator, exponent)
            self._alone_squares.add(numerator * numerator, 2 * exponent)
        else:
            self._named.setdefault(cluster, ExactSum()).add(numerator, exponent)

    @property
    def n(self) -> int:
        """How many values there are."""
        return self._all.count

    @property
    def clusters(self) -> int:
        """How many clusters there are; each value without one counts."""
        return len(self._named) + self._alone.count

    @property
    def zero_or_one(self) -> bool:
        """Whether every value is 0 or 1, so that the mean is a proportion."""
        return self._zero_or_one

    @property
    def mean(self) -> float | None:
        """The mean of all values; None where there is none."""
        return self._all.numerator / (self.n << self._all.exponent) if self.n else None

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean, robust against clusters, with the correction G/(G-1) for G clusters.

        None with fewer than two clusters. With one value per cluster it is the ordinary standard error.
        """
        if self.clusters < 2:
            return None
        squares, unit = self._squared_residuals()
        return root(self.clusters * squares, (self.clusters - 1) * unit * self.n**2)

    @property
    def design_effect(self) -> float | None:
        """How many times larger than that of independent values of 0 and 1 the variance of their mean is.

        None where it is not defined: values other than 0 and 1, all values the same, or fewer than two clusters.
        """
        ones = self._all.numerator
        if not self.zero_or_one or self.clusters < 2 or ones in (0, self.n):
            return None
        squares, unit = self._squared_residuals()
        independent = ones * (self.n - ones)
        return self.clusters * (self.n - 1) * squares / ((self.clusters - 1) * unit * independent)

    def _squared_residuals(self) -> tuple[int, int]:
        """The sum over clusters of (sum - count * mean)², as a numerator and a denominator."""
        n, total, exponent = self.n, self._all.numerator, self._all.exponent
        named = sum((n * each.scaled(exponent) - each.count * total) ** 2 for each in self._named.values())
        alone = (
            n * n * self._alone_squares.scaled(2 * exponent)
            - 2 * n * self._alone.scaled(exponent) * total
            + self._alone.count * total * total
        )
        return named + alone, (n * n) << (2 * exponent)
