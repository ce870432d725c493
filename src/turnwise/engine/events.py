"""What a run tells whoever watches it: plain values, told in the order in which things happen.

Tuples: a dataclass takes eight times as long to define, which every start of the command would pay for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from ..providers.retries import Retry

__all__ = ["Begun", "Ended", "Event", "Notice", "Observer", "ResultDone", "Retried", "Slowed", "Started", "Stopping"]

StopReason = Literal["interrupted", "budget", "fault"]


class Started(NamedTuple):
    """The run begins. `results` are all that the plan holds, `done` those that an earlier part of the run has."""

    run_id: str
    folder: Path
    results: int
    done: int
    targets: tuple[str, ...]
    suites: tuple[str, ...]
    workers: int


class Begun(NamedTuple):
    """A piece of work is under way; `in_flight` counts it."""

    in_flight: int


class ResultDone(NamedTuple):
    """A result is in the journal. `in_flight` counts those under way, this one not among them."""

    record: Mapping[str, Any]
    in_flight: int


class Retried(NamedTuple):
    """A request is about to be sent again."""

    target: str
    retry: Retry


class Slowed(NamedTuple):
    """A target was overrun: at most `allowed` of `most` requests go to it at once for now."""

    target: str
    allowed: int
    most: int


class Notice(NamedTuple):
    """Something that people should know; each is told once."""

    message: str


class Stopping(NamedTuple):
    """Nothing more is started; `in_flight` are still under way."""

    reason: StopReason
    in_flight: int


class Ended(NamedTuple):
    """The run is over, whole or not. `left` results are missing. `stopped` says why it ended early, if it did."""

    run_id: str
    folder: Path
    left: int
    stopped: StopReason | None
    seconds: float


Event = Started | Begun | ResultDone | Retried | Slowed | Notice | Stopping | Ended
Observer = Callable[[Event], None]
