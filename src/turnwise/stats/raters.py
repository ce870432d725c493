"""Several people label the same items: who can be compared with whom, and what do most of them say?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, NamedTuple, TypeVar

__all__ = ["Pair", "RaterPair", "Vote", "human_pairs", "majority_label", "pooled_pairs", "rater_pairs"]

Label = TypeVar("Label", bound=Hashable)

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
    labels: tuple[Pair[Label], ...]


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


def rater_pairs(
    votes: Iterable[Vote[Label]], clusters: Mapping[str, str] | None = None, *, least_shared: int = LEAST_SHARED
) -> list[RaterPair[Label]]:
    """The pairs of raters who share at least so many items, in the order of their names.

    The item is the cluster unless `clusters` names a wider one.
    """
    known = clusters or {}
    shared: dict[tuple[str, str], list[Pair[Label]]] = {}
    for item, cast in _by_item(votes).items():
        for one, other in combinations(cast, 2):
            pair = Pair(one.label, other.label, known.get(item, item))
            shared.setdefault((one.rater, other.rater), []).append(pair)
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
