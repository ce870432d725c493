"""How far a run is, in words: what the plain lines and the live board share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..engine.budget import shown_usd
from .progress import Progress
from .words import counted, duration_text, rate_text, shown

__all__ = [
    "RUN",
    "Outcome",
    "Wording",
    "cost_text",
    "eta_text",
    "held_up_texts",
    "motion_texts",
    "outcome_texts",
    "stopping_text",
]

_LONGEST_NAME = 40


class Outcome(NamedTuple):
    """A status that results have, and what one and several of them are called."""

    status: str
    one: str
    several: str


class Wording(NamedTuple):
    """What the same work is called for those who watch: a run has results, other work has something else.

    `outcomes` are in the order in which they are shown; the first is what one hopes for. `more` says where the failures
    are for which there was no room.
    """

    work: str
    result: str
    targets: str
    outcomes: tuple[Outcome, ...]
    more: str


RUN = Wording(
    work="run",
    result="result",
    targets="targets",
    outcomes=(
        Outcome("passed", "passed", "passed"),
        Outcome("failed", "failed", "failed"),
        Outcome("ungraded", "ungraded", "ungraded"),
        Outcome("error", "error", "errors"),
    ),
    more="… and more: `results.jsonl` has them all",
)


def cost_text(progress: Progress) -> str:
    """What this part of the run has cost so far; empty before there is anything to say."""
    if progress.cost_unknown:
        unknown = f"{progress.cost_unknown} unknown"
        return f"≥ {shown_usd(progress.cost_usd)}, {unknown}" if progress.cost_known else "cost unknown"
    return shown_usd(progress.cost_usd) if progress.cost_known else ""


def eta_text(progress: Progress) -> str:
    """How long it may still take; empty where that cannot be said."""
    eta = progress.eta
    return "" if eta is None else f"ETA {duration_text(eta)}"


def outcome_texts(progress: Progress, wording: Wording = RUN) -> dict[str, str]:
    """What became of the results of this part of the run, by status: `2 failed`, `1 error`."""
    return {status: counted(progress.count(status), one, several) for status, one, several in wording.outcomes}


def motion_texts(progress: Progress) -> list[str]:
    """How fast it goes, what is under way, and what was sent again."""
    pace, in_flight, retries = progress.pace, progress.in_flight, progress.retries
    texts = (
        rate_text(pace) if pace else "",
        f"{in_flight:,} in flight" if in_flight is not None else "",
        counted(retries, "retry", "retries") if retries else "",
    )
    return [text for text in texts if text]


def held_up_texts(progress: Progress) -> Iterator[str]:
    """Which targets are slowed down, and which rest before something is sent to them again."""
    for target, (allowed, most) in progress.slowed.items():
        yield f"slowed: {shown(target, _LONGEST_NAME)} {allowed} of {most} at once"
    for target, seconds in progress.resting.items():
        yield f"resting before a retry: {shown(target, _LONGEST_NAME)} {duration_text(seconds)}"


def stopping_text(reason: str, in_flight: int | None, work: str = "run") -> str:
    """Why nothing more is started, and what is still awaited."""
    rest = f"finishing {in_flight} in flight" if in_flight else "stopping"
    if reason == "interrupted":
        return f"{rest}; press Ctrl-C again to stop now" if in_flight else rest
    return f"{'the budget is used up' if reason == 'budget' else f'the {work} cannot go on'}: {rest}"
