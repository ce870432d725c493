"""When and after how long requests are sent again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.errors import AuthenticationError, OverloadedError, ProviderError, RateLimitError
from turnwise.providers.retries import (
    LONGEST_RETRY_AFTER,
    Retry,
    RetryPolicy,
    exhausted_for,
    parse_retry_after,
    with_retries,
)

NOW = 1_750_000_000.0
DEFAULT = RetryPolicy()


class TestPolicy:
    def test_delays_grow_up_to_the_longest(self) -> None:
        """Each delay is the one before times the factor, and never above the longest."""
        policy = RetryPolicy(max_retries=5, initial_delay=0.5, factor=3.0, max_delay=10.0)
        assert [policy.delay(retry, OverloadedError("x"), 1.0) for retry in range(1, 7)] == [
            0.5,
            1.5,
            4.5,
            10,
            10,
            None,
        ]

    @given(st.integers(1, 10**6), st.floats(0.75, 1.25), st.floats(1, 1e6), st.floats(0, 1e6))
    def test_jitter_stays_within_bounds(self, retry: int, jitter: float, factor: float, longest: float) -> None:
        """No retry, however late, is above the longest delay or fails for its size."""
        policy = RetryPolicy(max_retries=10**6, initial_delay=1.0, factor=factor, max_delay=longest)
        delay = policy.delay(retry, OverloadedError("x"), jitter)
        assert delay is not None
        assert 0 <= delay <= longest

    def test_servers_delay_is_kept_exactly(self) -> None:
        """A delay that the server asks for has no jitter and may exceed our longest."""
        policy = RetryPolicy(max_delay=1.0)
        assert policy.delay(1, RateLimitError("x", retry_after=90.5), 0.75) == 90.5
        assert policy.delay(1, RateLimitError("x", retry_after=90.5), 1.25) == 91.0
        assert policy.delay(1, RateLimitError("x", retry_after=0.02), 1.25) == pytest.approx(0.03)
        assert policy.delay(1, RateLimitError("x", retry_after=0.0), 1.0) == policy.delay(1, RateLimitError("x"), 1.0)
        assert policy.delay(1, RateLimitError("x", retry_after=LONGEST_RETRY_AFTER), 0.75) == LONGEST_RETRY_AFTER

    def test_too_long_a_delay_is_not_waited_for(self) -> None:
        """Beyond ten minutes we give up instead of waiting."""
        assert RetryPolicy().delay(1, RateLimitError("x", retry_after=LONGEST_RETRY_AFTER + 1)) is None

    def test_lasting_errors_are_not_retried(self) -> None:
        """An error that does not pass gets no delay."""
        assert RetryPolicy().delay(1, AuthenticationError("x")) is None


def attempt(
    outcomes: list[Exception | str], policy: RetryPolicy = DEFAULT, random: Callable[[], float] = lambda: 0.5
) -> tuple[object, list[float], list[Retry]]:
    """What comes out, the delays slept and the retries announced."""
    slept: list[float] = []
    announced: list[Retry] = []
    remaining = iter(outcomes)

    async def send() -> str:
        outcome = next(remaining)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def run() -> object:
        try:
            return await with_retries(policy, send, on_retry=announced.append, sleep=sleep, random=random)
        except ProviderError as error:
            return error

    return asyncio.run(run()), slept, announced


class TestWithRetries:
    def test_first_attempt(self) -> None:
        """A request that succeeds at once is sent once."""
        assert attempt(["ok"]) == (("ok", 1), [], [])

    def test_passing_errors(self) -> None:
        """Errors that pass are waited out, and each retry is announced before its delay."""
        first, second = OverloadedError("a"), RateLimitError("b", retry_after=7.0)
        result, slept, announced = attempt([first, second, "ok"])
        assert result == ("ok", 3)
        assert slept == [1.0, 7.25]
        assert announced == [Retry(2, 4, 1.0, first), Retry(3, 4, 7.25, second)]

    @pytest.mark.parametrize(("drawn", "delay"), [(0.0, 0.75), (1.0, 1.25)])
    def test_jitter(self, drawn: float, delay: float) -> None:
        """The delay varies by a quarter in both directions."""
        assert attempt([OverloadedError("a"), "ok"], random=lambda: drawn)[1] == [delay]

    def test_last_error_counts_its_attempts(self) -> None:
        """When all retries are used the last error is raised and knows how often the request was sent."""
        errors = [OverloadedError(str(n)) for n in range(3)]
        result, slept, _ = attempt([*errors], RetryPolicy(max_retries=2))
        assert result is errors[-1]
        assert errors[-1].attempts == 3
        assert slept == [1.0, 2.0]

    def test_no_retries(self) -> None:
        """With no retries allowed the first error is the last."""
        error = OverloadedError("a")
        assert attempt([error], RetryPolicy(max_retries=0)) == (error, [], [])

    def test_lasting_error(self) -> None:
        """An error that does not pass is raised at once, also after others that did."""
        error = AuthenticationError("a")
        result, slept, _ = attempt([OverloadedError("b"), error])
        assert (result, error.attempts, len(slept)) == (error, 2, 1)

    def test_too_long_a_wait_is_explained(self) -> None:
        """An error whose wait is too long says so in its hint, and keeps the hint it had."""
        error = RateLimitError("a", retry_after=3600.0, hint="slow down")
        result, slept, _ = attempt([error])
        assert (result, slept) == (error, [])
        assert "3600 s" in (error.hint or "")
        assert "slow down" in (error.hint or "")

    def test_other_exceptions_pass(self) -> None:
        """What is no provider error is not retried."""
        with pytest.raises(ZeroDivisionError):
            attempt([ZeroDivisionError()])


class TestRetryAfter:
    @pytest.mark.parametrize(
        ("headers", "seconds"),
        [
            ({}, None),
            ({"Retry-After": "7"}, 7.0),
            ({"retry-after": "1.5"}, 1.5),
            ({"Retry-After": "0"}, 0.0),
            ({"retry-after-ms": "250", "Retry-After": "7"}, 0.25),
            ({"retry-after-ms": "soon", "Retry-After": "7"}, 7.0),
            ({"Retry-After": formatdate(NOW + 30, usegmt=True)}, 30.0),
            ({"Retry-After": formatdate(NOW - 30, usegmt=True)}, 0.0),
            ({"Retry-After": "-5"}, None),
            ({"Retry-After": "soon"}, None),
            ({"Retry-After": "inf"}, None),
            ({"Retry-After": "1e3"}, None),
            ({"Retry-After": "٣"}, None),
            ({"Retry-After": "Mon, 99 Foo 2025 00:00:00 GMT"}, None),
        ],
    )
    def test_header(self, headers: dict[str, str], seconds: float | None) -> None:
        """Seconds, milliseconds and dates are read, dates that are over are now, and junk is ignored."""
        assert parse_retry_after(headers, NOW) == seconds

    def test_exhausted_limit_counts_for_429_only(self) -> None:
        """A limit that is used up says how long to wait, but only where the status is 429 and nothing else says it."""
        headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "12s"}
        assert parse_retry_after(headers, NOW, status=429) == 12.0
        assert parse_retry_after(headers, NOW, status=500) is None
        assert parse_retry_after({**headers, "Retry-After": "3"}, NOW, status=429) == 3.0

    @given(st.text(max_size=30), st.text(max_size=30))
    def test_junk_never_fails(self, value: str, reset: str) -> None:
        """Whatever a header says, reading it gives a number that is not negative, or nothing."""
        headers = {"Retry-After": value, "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}
        seconds = parse_retry_after(headers, NOW, status=429)
        assert seconds is None or seconds >= 0


class TestExhausted:
    @pytest.mark.parametrize(
        ("reset", "seconds"),
        [
            ("1m30s", 90.0),
            ("6ms", 0.006),
            ("1h0m0.5s", 3600.5),
            ("250µs", 0.00025),
            ("42", 42.0),
            ("0.5", 0.5),
            (str(int(NOW) + 20), 20.0),
            (str(int(NOW) - 20), 0.0),
            (str((int(NOW) + 20) * 1000), 20.0),
            ("2025-06-15T15:06:50Z", 10.0),
            ("soon", None),
            ("5s?", None),
            ("", None),
        ],
    )
    def test_forms_of_reset(self, reset: str, seconds: float | None) -> None:
        """A reset is a Go duration, seconds, a Unix time in seconds or milliseconds, or RFC 3339."""
        headers = {"X-RateLimit-Remaining-Tokens": "0", "X-RateLimit-Reset-Tokens": reset}
        found = exhausted_for(headers, NOW)
        assert found == (None if seconds is None else pytest.approx(seconds))

    def test_only_what_is_used_up_counts(self) -> None:
        """A limit with something left is not waited for; of two that are used up the longer is."""
        headers = {
            "x-ratelimit-remaining-requests": "5",
            "x-ratelimit-reset-requests": "1h",
            "x-ratelimit-remaining-tokens": "0",
            "x-ratelimit-reset-tokens": "3s",
            "anthropic-ratelimit-input-tokens-remaining": "0",
            "anthropic-ratelimit-input-tokens-reset": "2025-06-15T15:06:49Z",
        }
        assert exhausted_for(headers, NOW) == pytest.approx(9.0)
        assert exhausted_for({"x-ratelimit-remaining-requests": "5"}, NOW) is None

    @pytest.mark.parametrize("kind", ["requests", "tokens", "input-tokens", "output-tokens"])
    def test_anthropic_limits(self, kind: str) -> None:
        """Each of Anthropic's limits is read."""
        headers = {
            f"anthropic-ratelimit-{kind}-remaining": "0",
            f"anthropic-ratelimit-{kind}-reset": "2025-06-15T15:06:45+00:00",
        }
        assert exhausted_for(headers, NOW) == pytest.approx(5.0)
