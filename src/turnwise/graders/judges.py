"""Models that judge: how a grader finds the one that it asks, and what comes back. Plain values and protocols."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..providers.base import ProviderRequest, Settings, Usage
    from .deck_request import Judging
    from .embedding import Embed
    from .verdict import StatusKind
    from .verdict_scale import Scale

__all__ = ["TEMPERATURE", "Asker", "Judge", "JudgeAnswer", "Judges", "call_for_calibration"]

TEMPERATURE = 0.0
"""What judges are asked with where neither deck nor target says anything: the same answer each time, if possible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAnswer:
    """What a judge wrote, and what that took. Without `text` there was no answer, and `failure` says why."""

    text: str | None
    finish_reason: str | None = None
    failure: StatusKind | None = None
    detail: str = ""
    model: str | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class Judge:
    """A deck with the target that it is asked of. `calibration` says how far its verdicts can be trusted."""

    deck: str
    target: str
    scale: Scale
    how: Judging
    calibration: str
    ask: Callable[[ProviderRequest], Awaitable[JudgeAnswer]]


@dataclass(frozen=True, slots=True)
class Asker:
    """A target that judges without a deck, and the settings that it is asked with."""

    target: str
    settings: Settings
    ask: Callable[[ProviderRequest], Awaitable[JudgeAnswer]]


class Judges(Protocol):
    """Whom the graders of a case ask."""

    def judge(self, path: str, target: str | None) -> Judge | None:
        """The judge of a deck as a suite names it; None if there is none."""
        ...

    def asker(self, target: str | None, model: str | None = None) -> Asker | None:
        """The target of that name, or the one that is usual for the case; None if there is none."""
        ...

    def prompt(self, written: str) -> str:
        """The text of the file that a suite names so, as it was when the run began; else what is written."""
        ...

    def embedder(self, target: str) -> Embed | None:
        """How that target is asked for the vectors of texts; None if it is not."""
        ...


def call_for_calibration(deck: str, target: str) -> str:
    """What to do about a judge of which nothing is known.

    >>> call_for_calibration("tone.deck.md", "gpt")
    'uncalibrated: run `turnwise calibrate tone.deck.md -m gpt`'
    """
    from shlex import quote

    return f"uncalibrated: run `turnwise calibrate {quote(deck)} -m {quote(target)}`"
