"""Which samples to label next: a seeded draw from those that nobody has labelled, in proportion to their tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..decks.drawing import draw, draw_from_strata
from ..errors import UsageError

if TYPE_CHECKING:
    from ..decks.sample import Sample

__all__ = ["LabelDraw", "draw_to_label"]


@dataclass(frozen=True, slots=True)
class LabelDraw:
    """The samples, in their order. `strata` counts how many were taken of how many, by tags; empty: all alike."""

    samples: tuple[Sample, ...]
    unlabelled: int
    strata: Mapping[str, tuple[int, int]]


def draw_to_label(samples: Sequence[Sample], wanted: int, seed: int) -> LabelDraw:
    """So many of the samples without labels, or all of them if there are fewer. Raises `UsageError` without any.

    Tags are strata if one of each can be taken; a draw that is smaller takes all samples alike.
    """
    left = [sample for sample in samples if not sample.is_labelled]
    if not left:
        hint = "add samples without labels; `turnwise samples from RUN` makes them of a run's answers"
        raise UsageError("nothing is left to label: every sample has a label", hint)
    strata = [", ".join(sorted(set(sample.tags))) for sample in left]
    sizes = Counter(strata)
    if len(sizes) == 1 or wanted < len(sizes):
        return LabelDraw(tuple(left[place] for place in draw(len(left), wanted, seed)), len(left), {})
    places = draw_from_strata(strata, wanted, seed)
    taken = Counter(strata[place] for place in places)
    shares = {name: (taken[name], sizes[name]) for name in sorted(sizes)}
    return LabelDraw(tuple(left[place] for place in places), len(left), shares)
