"""Several people label the same items: who can be compared with whom, and how far do they agree?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np

from .bootstrap import DRAWS, BootstrapInterval, Clusters, Floats, SumStatistic, resample

__all__ = [
    "Metric",
    "Pair",
    "RaterPair",
    "Vote",
    "human_pairs",
    "krippendorff_alpha",
    "majority_label",
    "pooled_pairs",
    "rater_pairs",
]

Label = TypeVar("Label", bound=Hashable)
Metric = Literal["nominal", "ordinal", "interval"]

LEAST_SHARED = 10


@dataclass(frozen=True, slots=True)
class Vote(Generic[Label]):
    """The label that one rater gave one item."""

    item: str
    rater: str
    label: Label


class Pair(NamedTuple, Generic[Label]):
    """Two labels of one item; pairs of one cluster are not independent."""

    first: Label
    second: Label
    cluster: str


@dataclass(frozen=True, slots=True)
class RaterPair(Generic[Label]):
    """Two raters, in the order of their names, and their labels of the items that both have labelled."""

    raters: tuple[str, str]
    labels: tuple[tuple[Label, Label], ...]


def majority_label(labels: Iterable[Label]) -> Label | None:
    """The most frequent label; None where several are, or where there is none.

    >>> majority_label(["A", "B", "A"]), majority_label(["A", "B"])
    ('A', None)
    """
    ranked = Counter(labels).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def pooled_pairs(
    votes: Iterable[Vote[Label]], judge: Mapping[str, Label], clusters: Mapping[str, str] | None = None
) -> list[Pair[Label]]:
    """Each vote beside the judge's label of the same item; items that the judge has not labelled are left out.

    The item is the cluster unless `clusters` names a wider one.
    """
    known = clusters or {}
    return [Pair(vote.label, judge[vote.item], known.get(vote.item, vote.item)) for vote in votes if vote.item in judge]


def human_pairs(votes: Iterable[Vote[Label]], clusters: Mapping[str, str] | None = None) -> list[Pair[Label]]:
    """Each two votes that different raters cast on one item, in the order of the raters' names: people's own agreement.

    >>> human_pairs([Vote("q1", "ben", "B"), Vote("q1", "ann", "A"), Vote("q2", "ann", "A")])
    [Pair(first='A', second='B', cluster='q1')]
    """
    known = clusters or {}
    return [
        Pair(one.label, other.label, known.get(item, item))
        for item, cast in _by_item(votes).items()
        for one, other in combinations(cast, 2)
    ]


def rater_pairs(votes: Iterable[Vote[Label]], least_shared: int = LEAST_SHARED) -> list[RaterPair[Label]]:
    """The pairs of raters who share at least so many items, in the order of their names."""
    shared: dict[tuple[str, str], list[tuple[Label, Label]]] = {}
    for cast in _by_item(votes).values():
        for one, other in combinations(cast, 2):
            shared.setdefault((one.rater, other.rater), []).append((one.label, other.label))
    return [
        RaterPair(raters, tuple(shared[raters])) for raters in sorted(shared) if len(shared[raters]) >= least_shared
    ]


def _by_item(votes: Iterable[Vote[Label]]) -> dict[str, list[Vote[Label]]]:
    """The votes on every item, by the raters' names. Raises `ValueError` where a rater has voted twice."""
    found: dict[str, dict[str, Vote[Label]]] = {}
    for vote in votes:
        cast = found.setdefault(vote.item, {})
        if vote.rater in cast:
            raise ValueError(f"a rater labels an item once; found two labels of {vote.item!r} by {vote.rater!r}")
        cast[vote.rater] = vote
    return {item: [cast[rater] for rater in sorted(cast)] for item, cast in found.items()}


def krippendorff_alpha(
    units: Sequence[Sequence[float]] | Sequence[Sequence[str]],
    metric: Metric = "nominal",
    clusters: Clusters = None,
    *,
    seed: int,
    draws: int = DRAWS,
    level: float = 0.95,
) -> BootstrapInterval:
    """Krippendorff's α over the labels that each unit has; units are drawn whole for the interval.

    Missing labels are left out of a unit, and a unit with fewer than two labels tells nothing. Ordinal and interval
    need numbers. No value where all labels are the same: there is nothing to tell apart.

    >>> round(krippendorff_alpha([[1, 1], [2, 2], [1, 2], [3, 3]], seed=1).value, 6)
    0.666667
    """
    if clusters is not None and len(clusters) != len(units):
        raise ValueError(f"every unit needs a cluster; found {len(units)} units and {len(clusters)} clusters")
    told = [place for place, unit in enumerate(units) if len(unit) > 1]
    values: list[float | str] = sorted({label for place in told for label in units[place]})
    numbers = {label: number for number, label in enumerate(values)}
    rows = np.array([_coincidences([numbers[label] for label in units[place]], len(values)) for place in told])
    kept = None if clusters is None else [clusters[place] for place in told]
    drawn = resample(rows.reshape(len(told), len(values) ** 2), kept, seed=seed, draws=draws)
    return drawn.interval(_alpha_statistic(values, metric), level)


def _coincidences(labels: Sequence[int], size: int) -> Floats:
    """How often two labels of the unit occur together, both ways, so that each label counts once in all."""
    counts = np.bincount(labels, minlength=size).astype(np.float64)
    both = np.outer(counts, counts) - np.diag(counts)
    return np.asarray(both.ravel() / (len(labels) - 1), dtype=np.float64)


def _alpha_statistic(values: Sequence[float | str], metric: Metric) -> SumStatistic:
    def alphas(sums: Floats) -> Floats:
        tables = sums.reshape(-1, len(values), len(values))
        counts = tables.sum(axis=2)
        apart = _squared_distances(values, counts, metric)
        found = (tables * apart).sum(axis=(1, 2)) * (counts.sum(axis=1) - 1.0)
        expected = np.einsum("ri,rij,rj->r", counts, apart, counts)
        # Leaving a unit out can leave a trace of a label that nobody gave; such a trace is no spread.
        least = 1e-12 * counts.sum(axis=1) ** 2 * apart.max(axis=(1, 2), initial=0.0)
        shares: Floats = np.divide(found, expected, out=np.full_like(found, np.nan), where=expected > least)
        return 1.0 - shares

    return alphas


def _squared_distances(values: Sequence[float | str], counts: Floats, metric: Metric) -> Floats:
    """How far two labels are apart, squared, in every resample."""
    if metric == "ordinal":
        # Between two ranks lie all labels in between, and half of those that have either rank.
        positions = np.cumsum(counts, axis=1) - counts / 2.0
    elif metric == "interval":
        positions = np.broadcast_to(np.asarray(values, dtype=np.float64), counts.shape)
    else:
        return np.broadcast_to(1.0 - np.eye(len(values)), (len(counts), len(values), len(values)))
    return np.asarray((positions[:, :, None] - positions[:, None, :]) ** 2, dtype=np.float64)
