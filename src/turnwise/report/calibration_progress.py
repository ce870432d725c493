"""Watching judges at work: the watchers of a run, in the words of a calibration."""

from __future__ import annotations

from typing import Literal, TextIO

from .lines import watcher
from .progress import Watcher
from .progress_text import Outcome, Wording

__all__ = ["CALIBRATION", "calibration_watcher"]

CALIBRATION = Wording(
    work="calibration",
    result="answer",
    targets="models",
    # An answer is not graded by anything: it is the verdict. Whether it can be read is said by the report.
    outcomes=(Outcome("ungraded", "answer", "answers"), Outcome("error", "error", "errors")),
    more="… and more: the report counts them all",
)
"""Results are answers of judges; "targets" are models."""


def calibration_watcher(kind: Literal["auto", "json", "quiet"], *, out: TextIO, err: TextIO) -> Watcher:
    """Whoever is to watch a calibration: as `watcher` for a run, live where a person is looking, lines elsewhere."""
    return watcher(kind, out=out, err=err, wording=CALIBRATION)
