"""How far a run is: counted from its events, without a terminal in sight."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import Protocol

from ..engine.events import Event, ResultDone, Retried, Slowed, Started, Stopping, StopReason

__all__ = ["Progress", "RecentRate", "Watcher", "cost_text", "duration_text", "money_text", "rate_text"]

WINDOW = 10
"""Seconds that the recent rate looks back."""
FEWEST = 3
"""Results before anything is said about speed; fewer say more about luck."""


class Watcher(Protocol):
    """Is told every event of a run. Entering starts it; leaving gives the terminal back, whatever happened."""

    def __call__(self, event: Event, /) -> None: ...

    def __enter__(self) -> Watcher: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class RecentRate:
    """How many of something happened in the last seconds, counted by the second.

    Its lists never change their length: another thread may read while one counts.

    >>> recent = RecentRate()
    >>> for at in (0.5, 1.0, 1.5):
    ...     recent.add(at)
    >>> recent.count(2.0), recent.rate(2.0), recent.count(60.0)
    (3, 1.5, 0)
    """

    __slots__ = ("_counts", "_seconds")

    def __init__(self) -> None:
        self._seconds = [-WINDOW] * WINDOW
        self._counts = [0] * WINDOW

    def add(self, at: float) -> None:
        """One more, `at` seconds after the beginning."""
        second = int(at)
        slot = second % WINDOW
        if self._seconds[slot] != second:
            self._seconds[slot] = second
            self._counts[slot] = 0
        self._counts[slot] += 1

    def count(self, now: float) -> int:
        """How many there were in this second and the nine before it."""
        first = int(now) - WINDOW
        return sum(count for second, count in zip(self._seconds, self._counts, strict=True) if second > first)

    def rate(self, now: float) -> float:
        """The same, per second."""
        covered = min(now, WINDOW - 1 + now % 1)
        return self.count(now) / covered if covered > 0 else 0.0


class Progress:
    """The counts of a run. Those of statuses, costs and retries are of this part of it, not of what it resumed."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._begun = clock()
        self._recent = RecentRate()
        self._statuses = {"passed": 0, "failed": 0, "ungraded": 0, "error": 0}
        self.total = 0
        self.earlier = 0
        """Results that the run had before this part of it."""
        self.new = 0
        self.retries = 0
        self.in_flight: int | None = None
        """None until the run has said it."""
        self.cost_usd = 0.0
        """Spent on answers whose price is known; what comes from the cache costs nothing."""
        self.cost_known = 0
        self.cost_unknown = 0
        """Answers of targets that are paid, at a price that is not known."""
        self.from_cache = 0
        self.slowed: dict[str, tuple[int, int]] = {}
        """Targets that get fewer requests at once for now: how many, of how many."""
        self.stopping: StopReason | None = None

    def __call__(self, event: Event) -> None:
        """Count an event."""
        if isinstance(event, ResultDone):
            self._count(event)
        elif isinstance(event, Retried):
            self.retries += 1
        elif isinstance(event, Started):
            self._begun, self.total, self.earlier = self._clock(), event.results, event.done
        elif isinstance(event, Slowed):
            self._slow(event)
        elif isinstance(event, Stopping):
            self.stopping, self.in_flight = event.reason, event.in_flight

    @property
    def done(self) -> int:
        """Results that there are, earlier ones included."""
        return self.earlier + self.new

    @property
    def left(self) -> int:
        """Results that are missing."""
        return max(self.total - self.done, 0)

    @property
    def passed(self) -> int:
        """Answers that were good enough."""
        return self._statuses["passed"]

    @property
    def failed(self) -> int:
        """Answers that were not."""
        return self._statuses["failed"]

    @property
    def ungraded(self) -> int:
        """Answers without a score."""
        return self._statuses["ungraded"]

    @property
    def errors(self) -> int:
        """Results without an answer."""
        return self._statuses["error"]

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return self._clock() - self._begun

    @property
    def overall_rate(self) -> float:
        """New results per second, since the run began."""
        elapsed = self.elapsed
        return self.new / elapsed if elapsed > 0 else 0.0

    @property
    def recent_rate(self) -> float:
        """New results per second, in the last ten seconds."""
        return self._recent.rate(self.elapsed)

    @property
    def pace(self) -> float | None:
        """The rate to go by: the recent one where it rests on enough results; None where none does."""
        if self.new < FEWEST:
            return None
        return self.recent_rate if self._recent.count(self.elapsed) >= FEWEST else self.overall_rate

    @property
    def eta(self) -> float | None:
        """Seconds until nothing is left, at this pace; None where it cannot be said."""
        pace = self.pace
        return self.left / pace if pace and self.left and self.stopping is None else None

    def _count(self, event: ResultDone) -> None:
        record = event.record
        self.new += 1
        self.in_flight = event.in_flight
        self._statuses[record["status"]] += 1
        self._recent.add(self._clock() - self._begun)
        if record["error"] is not None:
            return  # no answer, no tokens: there is nothing to put a price on
        if record["attempts"] == 0:
            self.from_cache += 1
        elif record["cost_usd"] is not None:
            self.cost_known += 1
            self.cost_usd += record["cost_usd"]
        elif record["paid"]:
            self.cost_unknown += 1

    def _slow(self, event: Slowed) -> None:
        # A new dictionary each time: the display's thread may be reading the old one.
        others = {name: limits for name, limits in self.slowed.items() if name != event.target}
        slow = {event.target: (event.allowed, event.most)} if event.allowed < event.most else {}
        self.slowed = {**others, **slow}


def duration_text(seconds: float) -> str:
    """A time for people.

    >>> [duration_text(each) for each in (0.2, 45, 72.4, 7500)]
    ['<1s', '45s', '1m12s', '2h05m']
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s" if whole else "<1s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes}m{rest:02}s" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02}m"


def rate_text(rate: float) -> str:
    """A rate for people: by the minute where less than one a second is done.

    >>> [rate_text(each) for each in (250.4, 12.34, 0.05)]
    ['250/s', '12.3/s', '3.0/min']
    """
    if rate < 1:
        return f"{rate * 60:.1f}/min"
    return f"{rate:.1f}/s" if rate < 100 else f"{rate:.0f}/s"


def money_text(dollars: float) -> str:
    """An amount for people: cents, and parts of them only where there is less than one.

    >>> [money_text(each) for each in (12.345, 0.03, 0.0004, 0.0)]
    ['$12.35', '$0.03', '$0.0004', '$0.00']
    """
    return f"${dollars:.4f}" if 0 < dollars < 0.01 else f"${dollars:.2f}"


def cost_text(progress: Progress) -> str:
    """What the run has cost so far; empty before there is anything to say."""
    if progress.cost_unknown:
        unknown = f"{progress.cost_unknown} unknown"
        return f"≥ {money_text(progress.cost_usd)}, {unknown}" if progress.cost_known else "cost unknown"
    return money_text(progress.cost_usd) if progress.cost_known else ""
