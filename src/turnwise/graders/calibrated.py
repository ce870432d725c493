"""What is known of how far a deck with a model can be trusted: the calibrations that a project has kept.

`calibration` writes them; whoever shows a score that a deck gave reads them here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

__all__ = ["ARTEFACT", "Artefact", "Trust", "artefacts", "model_hash", "short_trust", "trust_in"]

ARTEFACT = "artefact.json"
_VERSION = 1
_USES = {"gating": "fit for gating", "trends": "for trends only", "none": "do not use", "unknown": "not known yet"}
_NUMBERS = ("value", "lo", "hi")


@dataclass(frozen=True, slots=True)
class Artefact:
    """One deck with one model, as it was measured: on which samples, when, and how well it did."""

    calibration: str
    created_at: str
    deck: str
    deck_hash: str
    samples_hash: str
    sample_files: tuple[str, ...]
    model: str
    model_hash: str
    statistic: str
    value: float | None
    lo: float | None
    hi: float | None
    n: int
    use: str
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """As it is kept."""
        return {"schema_version": _VERSION, **asdict(self), "sample_files": list(self.sample_files)}


@dataclass(frozen=True, slots=True)
class Trust:
    """How far a deck with a model can be trusted now. `changed` says what makes a calibration stale."""

    state: Literal["calibrated", "stale", "uncalibrated"]
    artefact: Artefact | None = None
    changed: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The words beside a score.

        >>> Trust("uncalibrated").text
        'uncalibrated'
        """
        found = self.artefact
        if found is None:
            return "uncalibrated"
        names = {"kappa": "κ", "kappa_quadratic": "κ quadratic", "lin_ccc": "Lin", "agreement": "agreement"}
        name = names.get(found.statistic, found.statistic)
        figure = f"{name} not defined" if found.value is None else f"{name} {found.value:.2f}"
        if found.lo is not None and found.hi is not None:
            figure += f" [{found.lo:.2f}, {found.hi:.2f}]"
        known = f"{figure}, n = {found.n:,}, {found.created_at[:10]}: {_USES.get(found.use, found.use)}"
        return f"stale ({' and '.join(self.changed)} changed): {known}" if self.changed else known


def short_trust(text: str) -> str:
    """The words beside a score where there is little room: what was measured or has changed, without the advice.

    >>> short_trust("κ 0.71 [0.62, 0.79], n = 120, 2026-11-16: fit for gating")
    'κ 0.71 [0.62, 0.79], n = 120, 2026-11-16'
    >>> short_trust("stale (the deck changed): κ 0.71, n = 9, 2026-11-16: do not use"), short_trust("uncalibrated")
    ('stale (the deck changed)', 'uncalibrated')
    """
    return text.partition(": ")[0]


def artefacts(folder: Path) -> Iterator[Artefact]:
    """All that is kept in a project's folder of calibrations, the newest first. What cannot be read is passed over:
    it is as good as none, and the place that shows a score says `uncalibrated`."""
    for path in sorted(folder.glob(f"*/{ARTEFACT}"), reverse=True):
        try:
            data = json.loads(path.read_bytes())
            rows = data["artefacts"] if data.get("schema_version") == _VERSION else []
            found = [_artefact(row) for row in rows]
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            continue
        yield from found


def _artefact(row: Mapping[str, Any]) -> Artefact:
    fields = {name: row[name] for name in Artefact.__dataclass_fields__}
    files = fields["sample_files"]
    numbers = [fields[name] for name in _NUMBERS if fields[name] is not None]
    texts = [value for name, value in fields.items() if name not in (*_NUMBERS, "n", "sample_files")]
    if not (
        all(isinstance(each, str) for each in (*texts, *files))
        and all(isinstance(each, int | float) for each in (*numbers, fields["n"]))
    ):
        raise TypeError("an artefact of another form")
    return Artefact(**{**fields, "sample_files": tuple(fields["sample_files"])})


def trust_in(
    folder: Path, deck: str, model: str, *, deck_hash: str, model_hash: str, samples_hash: str | None
) -> Trust:
    """The latest calibration of a deck with a model, and whether anything has changed since.

    `samples_hash` is that of the samples as they are now; None where they cannot be read, or are not looked at.
    """
    found = next((each for each in artefacts(folder) if each.deck == deck and each.model == model), None)
    if found is None:
        return Trust("uncalibrated")
    pairs = (
        ("the deck", found.deck_hash, deck_hash),
        ("the model's settings", found.model_hash, model_hash),
        ("the samples", found.samples_hash, samples_hash or found.samples_hash),
    )
    changed = tuple(name for name, before, now in pairs if before != now)
    return Trust("stale" if changed else "calibrated", found, changed)


def model_hash(settings: Mapping[str, object]) -> str:
    """The hash of the settings that a model is asked with; no secret is among them."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()
