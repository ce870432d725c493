"""How fast requests may start, on a clock of the tests' own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.errors import UsageError
from turnwise.providers.limits import LONGEST_HOLD, RateLimit


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now += seconds
        await asyncio.sleep(0)


def starts(
    count: int, requests: float | None = None, tokens: float | None = None, each: int = 0
) -> tuple[list[float], list[int]]:
    """When each of so many requests that come at once starts, from 0, and in which order."""
    clock = Clock()
    times: list[float] = []
    order: list[int] = []

    async def one(limit: RateLimit, number: int) -> None:
        await limit.acquire(each)
        times.append(clock.now - 1000.0)
        order.append(number)

    async def run() -> None:
        limit = RateLimit(requests, tokens, clock=clock, sleep=clock.sleep)
        await asyncio.gather(*(one(limit, number) for number in range(count)))

    asyncio.run(run())
    return times, order


def run_with(
    act: Callable[[RateLimit, Clock], Awaitable[None]], requests: float | None = None, tokens: float | None = None
) -> float:
    """The seconds that pass while `act` runs."""
    clock = Clock()

    async def run() -> None:
        await act(RateLimit(requests, tokens, clock=clock, sleep=clock.sleep), clock)

    asyncio.run(run())
    return clock.now - 1000.0


def test_no_limits_no_waiting() -> None:
    """Without limits everything starts at once."""
    assert starts(100)[0] == [0.0] * 100


def test_requests_are_spread() -> None:
    """Sixty a minute is one a second, after a burst of three seconds' worth."""
    times, order = starts(8, requests=60)
    assert times == pytest.approx([0, 0, 0, 1, 2, 3, 4, 5])
    assert order == list(range(8))


def test_a_slow_rate_lets_one_start() -> None:
    """However low the rate, the first request starts at once and the second after its share of the minute."""
    assert starts(3, requests=2)[0] == pytest.approx([0, 30, 60])


def test_tokens_are_spread() -> None:
    """Tokens are limited likewise: 6000 a minute is 100 a second."""
    assert starts(6, tokens=6000, each=100)[0] == pytest.approx([0, 0, 0, 1, 2, 3])


def test_request_larger_than_the_burst_starts_and_is_paid_for() -> None:
    """A request of more tokens than a burst starts when the bucket is full; the next waits for all of it."""
    assert starts(3, tokens=6000, each=1000)[0] == pytest.approx([0, 10, 20])


def test_both_limits_hold() -> None:
    """The stricter of the two limits counts."""
    assert starts(4, requests=6000, tokens=60, each=60)[0] == pytest.approx([0, 60, 120, 180])


@given(st.floats(1, 10_000), st.integers(1, 60))
def test_rate_is_never_exceeded(per_minute: float, count: int) -> None:
    """Within any stretch of time no more start than the rate allows plus one burst, and in the order they came."""
    times, order = starts(count, requests=per_minute)
    burst = max(1.0, per_minute / 20)
    for number, moment in enumerate(times):
        assert number + 1 <= burst + moment * per_minute / 60 + 1e-3
    assert order == sorted(order)


def test_unused_tokens_are_given_back() -> None:
    """Tokens that were reserved but not used let the next request start earlier."""

    async def act(limit: RateLimit, clock: Clock) -> None:
        await limit.acquire(1000)
        limit.settle(1000, 100)
        await limit.acquire(200)

    assert run_with(act, tokens=6000) == 0.0


def test_more_tokens_than_reserved_are_a_debt() -> None:
    """Tokens that were used beyond the reserved ones delay the next request."""

    async def act(limit: RateLimit, clock: Clock) -> None:
        await limit.acquire(0)
        limit.settle(0, 1300)
        await limit.acquire(100)

    assert run_with(act, tokens=6000) == pytest.approx(11.0)


def test_tokens_given_back_help_who_waits() -> None:
    """A request that waits already starts soon after tokens are given back."""

    async def act(limit: RateLimit, clock: Clock) -> None:
        await limit.acquire(6000)
        waiting = asyncio.create_task(limit.acquire(100))
        await asyncio.sleep(0)
        limit.settle(6000, 0)
        await waiting

    assert run_with(act, tokens=6000) <= 1.0


def test_hold_stops_everybody() -> None:
    """After `hold` nothing starts until its time is over; a shorter hold does not shorten it."""

    async def act(limit: RateLimit, clock: Clock) -> None:
        limit.hold(30)
        limit.hold(5)
        await asyncio.gather(*(limit.acquire(1) for _ in range(10)))

    assert run_with(act) == pytest.approx(30.0)


def test_hold_stops_who_waits_already() -> None:
    """A hold also counts for a request that waits for its turn."""

    async def act(limit: RateLimit, clock: Clock) -> None:
        await limit.acquire(0)
        waiting = asyncio.create_task(limit.acquire(0))
        await asyncio.sleep(0)
        limit.hold(100)
        await waiting

    assert run_with(act, requests=2) >= 100.0


def test_hold_ends() -> None:
    """Once a hold is over nothing waits any more."""

    async def act(limit: RateLimit, clock: Clock) -> None:
        limit.hold(5)
        await limit.acquire(0)
        before = clock.now
        await limit.acquire(0)
        assert clock.now == before

    assert run_with(act) == pytest.approx(5.0)


@pytest.mark.parametrize(
    ("remaining", "reset", "waited"), [("0", "20s", 20), ("0", "1h", LONGEST_HOLD), ("1", "20s", 0)]
)
def test_headers_hold(remaining: str, reset: str, waited: float) -> None:
    """An answer that says a limit is used up holds the next requests until its reset, but not for ever."""

    async def act(limit: RateLimit, clock: Clock) -> None:
        headers = {"x-ratelimit-remaining-requests": remaining, "x-ratelimit-reset-requests": reset}
        limit.observe(headers, now=1_750_000_000.0)
        await limit.acquire(0)

    assert run_with(act) == pytest.approx(waited)


def test_cancelled_request_gives_its_turn_up() -> None:
    """A request that is cancelled while it waits takes nothing and lets the next one pass."""

    async def act(limit: RateLimit, clock: Clock) -> None:
        await limit.acquire(0)
        waiting = [asyncio.create_task(limit.acquire(0)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert waiting[0].cancelled()

    assert run_with(act, requests=2) == pytest.approx(60.0)


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf")])
def test_rate_that_lets_nothing_through(wrong: float) -> None:
    """A rate that is not above 0 is an error instead of a wait without end."""
    with pytest.raises(UsageError, match="requests_per_minute"):
        RateLimit(requests_per_minute=wrong)
    with pytest.raises(UsageError, match="tokens_per_minute"):
        RateLimit(tokens_per_minute=wrong)
