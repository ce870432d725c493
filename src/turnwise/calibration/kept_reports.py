"""The latest report that a project keeps of a deck, by model."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..conversation.files import shown_file
from ..errors import RunError
from ..graders.calibrated import Artefact, artefacts
from .analysis import samples_hash
from .store import REPORT

if TYPE_CHECKING:
    from .loading import LoadedDeck

__all__ = ["KeptModel", "latest_models"]


@dataclass(frozen=True, slots=True)
class KeptModel:
    """A judge's part of a report, as JSON has it, where it is from, and what has changed since."""

    record: dict[str, Any]
    calibration: str
    created_at: str
    changed: tuple[str, ...]


def latest_models(folder: Path, deck: LoadedDeck, models: Collection[str] = ()) -> list[KeptModel]:
    """The latest of each of these models; without any, all of the latest calibration of the deck. Raises `RunError`.

    What did not end as a whole is not among them: it left nothing to be found.
    """
    latest: dict[str, Artefact] = {}
    newest: str | None = None
    for each in artefacts(folder):
        if each.deck != deck.name:
            continue
        newest = newest or each.calibration
        if each.model in models or (not models and each.calibration == newest):
            latest.setdefault(each.model, each)
    return [_kept(folder, deck, each) for _, each in sorted(latest.items())]


def _kept(folder: Path, deck: LoadedDeck, found: Artefact) -> KeptModel:
    path = folder / found.calibration / REPORT
    try:
        data = json.loads(path.read_bytes())
        reports = data.get("reports", [data])
        own = next(each for each in reports if each["deck"]["path"] == deck.name)
        record = next(each for each in own["models"] if each["model"] == found.model)
        figures = [each["n"] for each in record["statistics"].values() if each is not None]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, StopIteration) as error:
        message = f"{shown_file(path)} is no report of {found.model} with {deck.name}"
        raise RunError(message, "remove the folder of this calibration, or calibrate again") from error
    if not figures or "headline" not in record:
        raise RunError(f"{shown_file(path)} holds no figures of {found.model}", "calibrate again")
    pairs = (
        ("the deck", found.deck_hash, deck.identity.hash),
        ("the samples", found.samples_hash, samples_hash(deck.samples)),
    )
    changed = tuple(name for name, before, now in pairs if before != now)
    return KeptModel(record, found.calibration, found.created_at, changed)
