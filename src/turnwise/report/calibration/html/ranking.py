"""Which samples the page shows, and in which order: what could do harm first, then what differs most."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ....calibration.report import Calibration, Disagreement, Item

__all__ = ["Outcome", "RankedSample", "State", "ranked", "states_of"]

State = Literal["agrees", "differs", "dangerous", "invalid", "open"]
"""How a verdict stands to people's label. `open`: there is a verdict, but people have no (common) label."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one model did on one sample; `distance` is None where there is nothing to compare."""

    state: State
    distance: float | None


@dataclass(frozen=True, slots=True)
class RankedSample:
    """A sample with the outcome of each model, in the order of the models."""

    item: Item
    place: int
    outcomes: tuple[Outcome, ...]

    @property
    def order(self) -> tuple[bool, float, bool, int]:
        """Smaller is more worth a look."""
        states = {outcome.state for outcome in self.outcomes}
        farthest = max((outcome.distance or 0.0 for outcome in self.outcomes), default=0.0)
        return "dangerous" not in states, -farthest, "invalid" not in states, self.place


def ranked(calibration: Calibration, most: int) -> list[RankedSample]:
    """At most so many samples, the ones that matter most, in order."""
    models = [model.model for model in calibration.models]
    differing = [{each.id: each for each in model.disagreements} for model in calibration.models]
    every = (
        RankedSample(
            item, place, tuple(_outcome(item, name, by_id) for name, by_id in zip(models, differing, strict=True))
        )
        for place, item in enumerate(calibration.items)
    )
    return heapq.nsmallest(most, every, key=lambda sample: sample.order)


def _outcome(item: Item, model: str, differing: Mapping[str, Disagreement]) -> Outcome:
    verdict = item.verdicts.get(model)
    if verdict is None or verdict.value is None:
        return Outcome("invalid", None)
    found = differing.get(item.sample.id)
    if found is not None:
        return Outcome("dangerous" if found.dangerous else "differs", found.distance)
    return Outcome("open", None) if item.human is None else Outcome("agrees", 0.0)


def states_of(outcomes: Sequence[Outcome]) -> str:
    """The states as words that a filter can look for: `0-differs` is that of the first model."""
    words: list[str] = []
    for place, outcome in enumerate(outcomes):
        words.append(f"{place}-{outcome.state}")
        if outcome.state == "dangerous":
            words.append(f"{place}-differs")
    return " ".join(words)
