"""The samples on which people and judges differ, over all judges, and how much of them is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ...calibration.report import Calibration, Disagreement, Item

__all__ = ["LONGEST_ID", "LONGEST_REASON", "LONGEST_TEXT", "MOST_MESSAGES", "Contested", "contested_samples"]

LONGEST_TEXT = 600
LONGEST_REASON = 400
LONGEST_ID = 100
MOST_MESSAGES = 6


class Contested(NamedTuple):
    """A sample on which judges and people differ, with the disagreement of each judge."""

    id: str
    judges: tuple[tuple[str, Disagreement], ...]
    item: Item | None

    @property
    def dangerous(self) -> bool:
        """Whether acting on one of the judges would do harm."""
        return any(each.dangerous for _, each in self.judges)


def contested_samples(calibration: Calibration) -> list[Contested]:
    """All samples with a disagreement: the dangerous ones first, then the farthest apart."""
    items = {item.sample.id: item for item in calibration.items}
    found: dict[str, list[tuple[str, Disagreement]]] = {}
    for model in calibration.models:
        for each in model.disagreements:
            found.setdefault(each.id, []).append((model.model, each))
    contested = [Contested(name, tuple(judges), items.get(name)) for name, judges in found.items()]
    return sorted(contested, key=lambda each: (not each.dangerous, -max(one.distance for _, one in each.judges)))
