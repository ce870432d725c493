"""How far a run is: counted from its events, without a terminal in sight."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import Protocol

from ..engine.events import Begun, Event, ResultDone, Retried, Slowed, Started, Stopping, StopReason

__all__ = ["Progress", "RecentRate", "Watcher"]

WINDOW = 10
"""Seconds that the recent rate looks back."""
FEWEST = 3
"""Results before anything is said about speed; fewer say more about luck."""
QUIET = 30
"""Seconds without a result after which no pace is said: whatever went before, it does not go on."""


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
        self._last_result = self._begun
        self._resting_until: dict[str, float] = {}
        self._statuses = {"passed": 0, "failed": 0, "ungraded": 0, "error": 0}
        self.run_id: str | None = None
        """None until the run has begun."""
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
        elif isinstance(event, Begun):
            self.in_flight = event.in_flight
        elif isinstance(event, Retried):
            self._retry(event)
        elif isinstance(event, Started):
            self._start(event)
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

    def count(self, status: str) -> int:
        """Results of a status, in this part of the run."""
        return self._statuses[status]

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
        """The rate to go by: the recent one where it rests on enough results; None where none says anything."""
        if self.new < FEWEST or self._clock() - self._last_result >= QUIET:
            return None
        return self.recent_rate if self._recent.count(self.elapsed) >= FEWEST else self.overall_rate

    @property
    def eta(self) -> float | None:
        """Seconds until nothing is left, at this pace; None where it cannot be said."""
        pace = self.pace
        return self.left / pace if pace and self.left and self.stopping is None else None

    @property
    def resting(self) -> dict[str, float]:
        """Targets to which something is to be sent again, and in how many seconds at the latest."""
        now = self._clock()
        return {name: until - now for name, until in self._resting_until.items() if until > now}

    def _start(self, event: Started) -> None:
        self._begun = self._last_result = self._clock()
        self.run_id, self.total, self.earlier, self.in_flight = event.run_id, event.results, event.done, 0

    def _count(self, event: ResultDone) -> None:
        record = event.record
        self.new += 1
        self.in_flight = event.in_flight
        self._statuses[record["status"]] += 1
        self._last_result = self._clock()
        self._recent.add(self._last_result - self._begun)
        if record["error"] is not None and record["cost_usd"] is None:
            return  # no answer, no tokens: there is nothing to put a price on
        if record["attempts"] == 0:
            self.from_cache += 1
        elif record["cost_usd"] is not None:
            self.cost_known += 1
            self.cost_usd += record["cost_usd"]
        elif record["paid"]:
            self.cost_unknown += 1

    # Both make a new dictionary each time: the display's thread may be reading the old one.

    def _retry(self, event: Retried) -> None:
        self.retries += 1
        until = max(self._resting_until.get(event.target, 0.0), self._clock() + event.retry.delay)
        self._resting_until = {**self._resting_until, event.target: until}

    def _slow(self, event: Slowed) -> None:
        others = {name: limits for name, limits in self.slowed.items() if name != event.target}
        slow = {event.target: (event.allowed, event.most)} if event.allowed < event.most else {}
        self.slowed = {**others, **slow}
