"""What a calibration is asked to do: the same when it is resumed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .plan import JudgeOptions

__all__ = ["CalibrationOptions"]


@dataclass(frozen=True, kw_only=True)
class CalibrationOptions:
    """The decks, files of samples instead of the decks' own, and the models; `seed` is that of the bootstrap."""

    decks: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    judges: JudgeOptions = field(default_factory=JudgeOptions)
    gates: tuple[str, ...] = ()
    strict: bool = False
    allow_label_leak: bool = False
    seed: int = 0

    def saved(self, root: Path) -> dict[str, Any]:
        """The options as plain data, with paths from the project's root."""
        plain = asdict(self)
        for name in ("decks", "samples"):
            plain[name] = [os.path.relpath(os.path.realpath(each), root) for each in plain[name]]
        return plain

    @classmethod
    def of(cls, saved: Mapping[str, Any], root: Path) -> CalibrationOptions:
        """The options that were saved."""
        given: dict[str, Any] = {name: tuple(saved[name]) for name in ("models", "gates")}
        for name in ("decks", "samples"):
            given[name] = tuple(os.path.relpath(root / each) for each in saved[name])
        for name in ("strict", "allow_label_leak", "seed"):
            given[name] = saved[name]
        return cls(**given, judges=JudgeOptions(**saved["judges"]))
