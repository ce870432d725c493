"""A deck with its judge, as a run is planned: how it is asked, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..decks.deck_hash import deck_hash
from ..graders.calibrated import Trust, model_hash
from ..graders.deck_files import FoundDeck
from ..graders.deck_request import Judging, asked_with, judging_by, with_deck_options
from ..graders.judges import call_for_calibration
from ..graders.registry import DECK
from .judge_trust import known_trust
from .planned_targets import PlannedTarget

__all__ = ["PlannedJudge", "planned_judge"]


@dataclass(eq=False)
class PlannedJudge:
    """A deck with the target that it is asked of. `name` is the deck's path from the run's root."""

    name: str
    found: FoundDeck
    target: PlannedTarget
    settings_key: tuple[str, str] | None
    how: Judging
    deck_hash: str
    asked_with: Mapping[str, Any]
    trust: Trust
    calibration: str


def planned_judge(name: str, own_name: str, found: FoundDeck, target: PlannedTarget) -> PlannedJudge:
    """Put a deck and a target together. What the deck says of its request is kept with the target."""
    how = judging_by(found.deck, found.scale, target.spec)
    changed = with_deck_options(target.spec, found.deck)
    settings_key = None if changed is None else (name, DECK)
    if settings_key is not None and changed is not None:
        target.overrides[settings_key] = changed
    whole, settings = deck_hash(found.deck), asked_with(how, target.spec)
    trust = known_trust(
        target.project.root, own_name, target.name, found.deck, deck_hash=whole, model_hash=model_hash(settings)
    )
    calibration = call_for_calibration(own_name, target.name) if trust.artefact is None else trust.text
    return PlannedJudge(name, found, target, settings_key, how, whole, settings, trust, calibration)
