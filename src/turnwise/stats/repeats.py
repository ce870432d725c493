"""The same sample judged several times: how often does the judge agree with itself?

A sample takes part with its valid verdicts, if there are at least two. Repeats of one sample are not independent: the
sample is the cluster, or whatever wider cluster it belongs to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import comb

import numpy as np

from .agreement import proportion
from .pairs import Clusters, Codes, cluster_codes
from .statistic import Statistic, undefined

__all__ = ["flip_rate", "self_agreement"]

NOTHING_REPEATED = "no sample has two valid verdicts"

Repeats = Sequence[Sequence[Hashable]]
"""For each sample the valid verdicts of its repeats."""


def self_agreement(repeats: Repeats, clusters: Clusters = None, level: float = 0.95) -> Statistic:
    """The share of pairs of repeats of one sample that agree; `k` of `n` pairs.

    >>> figure = self_agreement([["A", "A", "B"], ["B", "B"], ["A"]])
    >>> figure.k, figure.n
    (2, 4)
    """
    kept, groups = _repeated(repeats, clusters)
    if not kept:
        return undefined(0, NOTHING_REPEATED)
    alike = [sum(comb(times, 2) for times in Counter(verdicts).values()) for verdicts in kept]
    unlike = [comb(len(verdicts), 2) - same for verdicts, same in zip(kept, alike, strict=True)]
    hits = np.repeat([True, False], [sum(alike), sum(unlike)])
    return proportion(hits, np.concatenate([np.repeat(groups, alike), np.repeat(groups, unlike)]), level)


def flip_rate(repeats: Repeats, clusters: Clusters = None, level: float = 0.95) -> Statistic:
    """The share of samples whose repeats are not all the same; `k` of `n` samples.

    >>> figure = flip_rate([["A", "A", "B"], ["B", "B"], ["A"]])
    >>> figure.k, figure.n
    (1, 2)
    """
    kept, groups = _repeated(repeats, clusters)
    if not kept:
        return undefined(0, NOTHING_REPEATED)
    return proportion([len(set(verdicts)) > 1 for verdicts in kept], groups, level)


def _repeated(repeats: Repeats, clusters: Clusters) -> tuple[list[Sequence[Hashable]], Codes]:
    """The samples with at least two verdicts, and their clusters: each its own unless others are given."""
    codes = cluster_codes(clusters, len(repeats))
    places = [place for place, verdicts in enumerate(repeats) if len(verdicts) > 1]
    groups = np.arange(len(repeats)) if codes is None else codes
    return [repeats[place] for place in places], groups[places]
