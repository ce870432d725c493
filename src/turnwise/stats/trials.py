"""Repeated trials of the same case: how likely does one of k pass (pass@k), and how likely do all (pass^k).

Both are estimated without bias from n trials with c passes: the share of all choices of k trials among the n that hold
at least one pass, or nothing but passes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable

__all__ = ["all_pass", "any_passes", "pass_at_k", "pass_hat_k"]


def any_passes(n: int, c: int, k: int) -> float:
    """The estimated chance that at least one of `k` trials passes, from `c` passes in `n` trials.

    >>> any_passes(4, 1, 2)
    0.5
    """
    _check(n, c, k)
    choices = math.comb(n, k)
    return (choices - math.comb(n - c, k)) / choices


def all_pass(n: int, c: int, k: int) -> float:
    """The estimated chance that all of `k` trials pass, from `c` passes in `n` trials.

    >>> all_pass(4, 2, 2) == 1 / 6
    True
    """
    _check(n, c, k)
    return math.comb(c, k) / math.comb(n, k)


def pass_at_k(cases: Iterable[tuple[int, int]]) -> dict[int, float]:
    """pass@k, averaged over cases given as (trials, passes), for every k up to the least number of trials.

    Empty without cases, or where a case has no trials: leave such a case out if it is not to count.

    >>> pass_at_k([(2, 1), (3, 3)])
    {1: 0.75, 2: 1.0}
    """
    return _averages(cases, any_passes)


def pass_hat_k(cases: Iterable[tuple[int, int]]) -> dict[int, float]:
    """pass^k, averaged over cases given as (trials, passes), for every k up to the least number of trials.

    >>> pass_hat_k([(2, 1), (3, 3)])
    {1: 0.75, 2: 0.5}
    """
    return _averages(cases, all_pass)


def _averages(cases: Iterable[tuple[int, int]], chance: Callable[[int, int, int], float]) -> dict[int, float]:
    # Most cases share their counts, so that each distinct pair is worked out once.
    tally = Counter(cases)
    for n, c in tally:
        _check(n, c, 0)
    total = tally.total()
    least = min((n for n, _ in tally), default=0)
    return {
        k: math.fsum(times * chance(n, c, k) for (n, c), times in tally.items()) / total for k in range(1, least + 1)
    }


def _check(n: int, c: int, k: int) -> None:
    if not 0 <= c <= n:
        raise ValueError(f"passes must lie between 0 and the number of trials, {n}; found {c}")
    if not 0 <= k <= n:
        raise ValueError(f"k must lie between 0 and the number of trials, {n}; found {k}")
