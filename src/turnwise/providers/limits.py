"""How fast requests may start: so many a minute, so many tokens a minute, and not while the server asks to wait."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .retries import LONGEST_RETRY_AFTER, exhausted_for, pause

if TYPE_CHECKING:
    from asyncio import Lock, Task

__all__ = ["LONGEST_HOLD", "RateLimit"]

LONGEST_HOLD = 120.0
"""Seconds; no header of an answer stops requests for longer."""

_BURST_SECONDS = 3.0
_LONGEST_SLEEP = 1.0  # tokens may be given back meanwhile
_TOO_SHORT = 1e-6


class _Bucket:
    """A level that rises steadily up to its capacity; taking more than there is leaves a debt."""

    def __init__(self, per_minute: float, now: float) -> None:
        self._rate = per_minute / 60
        self._capacity = max(1.0, self._rate * _BURST_SECONDS)
        self._level = self._capacity
        self._filled_at = now

    def wait(self, amount: float, now: float) -> float:
        """Seconds until the amount may be taken; one beyond the capacity needs a full bucket."""
        self._level = min(self._capacity, self._level + (now - self._filled_at) * self._rate)
        self._filled_at = now
        return max(0.0, (min(amount, self._capacity) - self._level) / self._rate)

    def take(self, amount: float) -> None:
        """Take the amount; a negative one is given back."""
        self._level = min(self._capacity, self._level - amount)


class RateLimit:
    """Lets requests start one after the other, first come first served, no faster than the limits allow.

    Made for one target and one event loop; without limits it lets everything through until `hold` is called. `clock` is
    the event loop's if absent.
    """

    def __init__(
        self,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[object]] = pause,
    ) -> None:
        self._clock = clock = clock or _loop_time
        self._sleep = sleep
        self._requests = _bucket("requests_per_minute", requests_per_minute, clock)
        self._tokens = _bucket("tokens_per_minute", tokens_per_minute, clock)
        self._unlimited = self._requests is None and self._tokens is None
        self._held_until: float | None = None
        self._turn: Lock | None = None
        self.waiting: set[Task[Any]] = set()
        """The tasks whose turn has not come: they have sent nothing."""

    async def acquire(self, tokens: int) -> None:
        """Wait until a request of about so many tokens may start."""
        if self._unlimited and self._held_until is None:
            return
        with self._counted_as_waiting():
            async with self._lock():  # whoever came first waits first, the others behind it
                while (wait := self._wait(tokens)) > _TOO_SHORT:
                    await self._sleep(min(wait, _LONGEST_SLEEP))
                if self._requests is not None:
                    self._requests.take(1)
                if self._tokens is not None:
                    self._tokens.take(tokens)

    def settle(self, reserved: int, used: int) -> None:
        """Correct the tokens of a request, once it is known how many it used."""
        if self._tokens is not None:
            self._tokens.take(used - reserved)

    def hold(self, seconds: float) -> None:
        """Start nothing for so many seconds, but no longer than `LONGEST_RETRY_AFTER`; a longer hold stays."""
        until = self._clock() + min(seconds, LONGEST_RETRY_AFTER)
        if self._held_until is None or until > self._held_until:
            self._held_until = until

    def observe(self, headers: Mapping[str, str], now: float) -> None:
        """Hold where an answer says that a limit is used up, until its reset. `now` is in seconds since 1970."""
        wait = exhausted_for(headers, now)
        if wait:
            self.hold(min(wait, LONGEST_HOLD))

    @contextmanager
    def _counted_as_waiting(self) -> Iterator[None]:
        from asyncio import current_task

        task = current_task()
        assert task is not None
        self.waiting.add(task)
        try:
            yield
        finally:
            self.waiting.discard(task)

    def _lock(self) -> Lock:
        if self._turn is None:
            from asyncio import Lock

            self._turn = Lock()
        return self._turn

    def _wait(self, tokens: int) -> float:
        now = self._clock()
        wait = 0.0
        if self._held_until is not None:
            wait = self._held_until - now
            if wait <= _TOO_SHORT:
                self._held_until = None
        if self._requests is not None:
            wait = max(wait, self._requests.wait(1, now))
        if self._tokens is not None:
            wait = max(wait, self._tokens.wait(tokens, now))
        return wait


def _loop_time() -> float:
    """The time by which the event loop sleeps; outside of one, the clock that it takes it from."""
    from asyncio import get_running_loop

    try:
        return get_running_loop().time()
    except RuntimeError:
        return time.monotonic()


def _bucket(name: str, per_minute: float | None, clock: Callable[[], float]) -> _Bucket | None:
    if per_minute is None:
        return None
    if not 0 < per_minute < float("inf"):
        raise UsageError(f"{name} is {per_minute:g}, but must be above 0", hint="leave it out for no limit")
    return _Bucket(per_minute, clock())
