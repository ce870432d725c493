"""The normal distribution, as far as intervals need it."""

from __future__ import annotations

from functools import lru_cache

__all__ = ["check_level", "two_sided_z"]


def check_level(level: float) -> None:
    """Raise `ValueError` unless `level` can be the confidence level of an interval."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"a confidence level must lie between 0 and 1, both excluded, such as 0.95; found {level!r}")


@lru_cache(maxsize=64)
def two_sided_z(level: float) -> float:
    """The number of standard deviations around the mean that hold a share `level` of a normal distribution.

    >>> round(two_sided_z(0.95), 6)
    1.959964
    """
    # Imported late: it brings decimals and fractions along, which a command without statistics need not load.
    from statistics import NormalDist

    check_level(level)
    return -NormalDist().inv_cdf((1.0 - level) / 2.0)
