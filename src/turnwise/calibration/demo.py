"""The calibration that comes with Turnwise: support answers, labels of two people, and the recorded outputs of a small
language model and of a rule of a few words. It needs no model, and shows what a report looks like."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from .options import CalibrationOptions
from .replaying import replayed

if TYPE_CHECKING:
    from .report import Calibration

__all__ = ["DEMO", "copy_demo", "demo_report"]

DEMO = "demo"
_FOLDER = Path(os.path.realpath(__file__)).parent / "demo_data"
_DECK, _SAMPLES, _RECORDED = "refunds.deck.md", "samples.toml", "recorded.jsonl"


def demo_report(*, gates: tuple[str, ...] = (), seed: int = 0) -> Calibration:
    """The report of the recorded outputs.

    >>> [model.model for model in demo_report().models]
    ['smollm2-135m', 'keyword-rule']
    """
    options = CalibrationOptions(decks=(str(_FOLDER / _DECK),), gates=gates, seed=seed)
    (report,), _ = replayed(options, str(_FOLDER / _RECORDED))
    assert report.deck is not None
    return replace(
        report,
        deck=replace(report.deck, path=f"{DEMO}/{_DECK}"),
        samples=replace(report.samples, files=(f"{DEMO}/{_SAMPLES}",)),
    )


def copy_demo(folder: Path) -> Path:
    """Write the deck and its samples into a folder, to be tried with other models; where the deck is.

    A deck that is there already stays as it is: somebody may have changed it. Raises `UsageError` if it cannot be.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in (_DECK, _SAMPLES):
            if not (folder / name).exists():
                (folder / name).write_bytes((_FOLDER / name).read_bytes())
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written: {error.strerror or error}", "run it in another folder"
        ) from error
    return folder / _DECK
