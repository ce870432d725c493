"""How far a judge can be trusted as it is asked now: the latest calibration, held against deck and samples."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..decks.sample_hash import samples_hash
from ..diagnostics import has_errors
from ..graders.calibrated import Trust, trust_in

if TYPE_CHECKING:
    from ..decks.deck import Deck
    from ..decks.sample import Sample
    from ..graders.calibrated import Artefact

__all__ = ["known_trust"]

_UNREADABLE = "unreadable"
"""No hash: samples that are gone are not those that were measured on."""


def known_trust(root: Path, name: str, model: str, deck: Deck, *, deck_hash: str, model_hash: str) -> Trust:
    """The latest calibration of a deck with a model in the project, and what has changed since."""
    folder = root / ".turnwise" / "calibrations"
    trust = trust_in(folder, name, model, deck_hash=deck_hash, model_hash=model_hash, samples_hash=None)
    if trust.artefact is None or (now := _samples_now(trust.artefact, deck, root)) is None:
        return trust
    return trust_in(folder, name, model, deck_hash=deck_hash, model_hash=model_hash, samples_hash=now)


def _samples_now(artefact: Artefact, deck: Deck, root: Path) -> str | None:
    """The hash of the samples that it was measured on, as they are now: the deck's own, or those of other files. None
    where it names no files."""
    from ..decks.samples import read_samples

    wanted = {os.path.realpath(root / file) for file in artefact.sample_files}
    if wanted and wanted == {os.path.realpath(each.file) for each in deck.samples}:
        return samples_hash(deck.samples)
    samples: list[Sample] = []
    for file in artefact.sample_files:
        path = root / file
        found, said = read_samples(path) if path.is_file() else ([], [])
        if not found or has_errors(said):
            return _UNREADABLE
        samples += found
    return samples_hash(samples) if samples else None
