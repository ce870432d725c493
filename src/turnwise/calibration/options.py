"""What a calibration is asked to do: the same when it is resumed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..errors import UsageError
from .plan import JudgeOptions

__all__ = ["CalibrationOptions"]


@dataclass(frozen=True, kw_only=True)
class CalibrationOptions:
    """The decks, files of samples instead of the decks' own, and the models; `seed` is that of the bootstrap.

    `estimate` names answers whose pass rate is wanted; `drawn`: the samples are a random draw of them.
    """

    decks: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    judges: JudgeOptions = field(default_factory=JudgeOptions)
    gates: tuple[str, ...] = ()
    strict: bool = False
    allow_label_leak: bool = False
    seed: int = 0
    estimate: str | None = None
    drawn: bool = False

    def __post_init__(self) -> None:
        seed: Any = self.seed  # of a caller in Python, who may give anything
        if not isinstance(seed, int) or not 0 <= seed < 2**63:
            raise UsageError(f"a seed is a whole number from 0, found {seed!r}", "leave it out for 0")
        if self.drawn and self.estimate is None:
            hint = "add --estimate FILE with the answers that the samples were drawn from, or leave --drawn out"
            raise UsageError("--drawn says nothing without --estimate", hint)

    def saved(self, root: Path) -> dict[str, Any]:
        """The options as plain data, with paths from the project's root."""
        plain = asdict(self)
        for name in ("decks", "samples"):
            plain[name] = [os.path.relpath(os.path.realpath(each), root) for each in plain[name]]
        if self.estimate is not None:
            plain["estimate"] = os.path.relpath(os.path.realpath(self.estimate), root)
        return plain

    @classmethod
    def of(cls, saved: Mapping[str, Any], root: Path) -> CalibrationOptions:
        """The options that were saved."""
        given: dict[str, Any] = {name: tuple(saved[name]) for name in ("models", "gates")}
        for name in ("decks", "samples"):
            given[name] = tuple(os.path.relpath(root / each) for each in saved[name])
        for name in ("strict", "allow_label_leak", "seed"):
            given[name] = saved[name]
        if saved.get("estimate") is not None:
            given |= {"estimate": os.path.relpath(root / saved["estimate"]), "drawn": saved["drawn"]}
        return cls(**given, judges=JudgeOptions(**saved["judges"]))
