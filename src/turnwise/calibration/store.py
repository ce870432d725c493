"""The calibrations that a project keeps: the report, the answers beside it, and what others show of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..graders.calibrated import ARTEFACT, Artefact, artefacts, model_hash
from .estimating import estimate_records
from .json_text import json_text
from .report_record import reports_record

if TYPE_CHECKING:
    from .report import Calibration, ModelReport

__all__ = ["REPORT", "CalibrationStore", "model_hash"]

REPORT = "report.json"


@dataclass(frozen=True, slots=True)
class CalibrationStore:
    """A folder of calibrations, each in a folder of its own."""

    folder: Path

    def keep(self, calibration_id: str, reports: Sequence[Calibration], *, is_whole: bool = True) -> Path:
        """Write the report and what is to be found of it later; where the report is. Raises `OSError`.

        One that ended early, or a judge without a single verdict, must not take the place of what was known before.
        """
        where = self.folder / calibration_id
        _write(where / REPORT, reports_record(reports) | estimate_records(reports))
        kept = [
            _artefact(calibration_id, each, model)
            for each in reports
            for model in each.models
            if each.deck is not None and model.valid and is_whole
        ]
        _write(where / ARTEFACT, {"schema_version": 1, "artefacts": [each.as_dict() for each in kept]})
        return where / REPORT

    def latest(self, deck: str, models: Sequence[str], *, except_for: str) -> Artefact | None:
        """The latest calibration of a deck with any of these models, other than this one."""
        return next(
            (
                each
                for each in artefacts(self.folder)
                if each.deck == deck and each.model in models and each.calibration != except_for
            ),
            None,
        )


def _artefact(calibration_id: str, report: Calibration, model: ModelReport) -> Artefact:
    deck = report.deck
    assert deck is not None
    figure = model.headline_statistic
    name = model.headline
    if name == "agreement" and "kappa" in model.statistics:  # agreement alone knows no chance
        name, figure = "kappa", model.statistics["kappa"]
    return Artefact(
        calibration=calibration_id,
        created_at=report.generated_at,
        deck=deck.path,
        deck_hash=deck.hash,
        samples_hash=report.samples.hash or "",
        sample_files=report.samples.files,
        model=model.model,
        model_hash=model.hash or "",
        statistic=name,
        value=None if figure is None else figure.value,
        lo=None if figure is None else figure.lo,
        hi=None if figure is None else figure.hi,
        n=0 if figure is None else figure.n,
        use=model.verdict.use,
        reason=model.verdict.reason,
    )


def _write(path: Path, record: dict[str, Any]) -> None:
    """Whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    # Half of a surrogate pair, which a judge may write, becomes the escape that JSON has for it.
    draft.write_bytes(json_text(record).encode("utf-8", "backslashreplace"))
    os.replace(draft, path)
