"""When a request that failed is sent again: how long to wait, and what servers say about it."""

from __future__ import annotations

import random as randomness
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from ..errors import PromptError, ProviderError, SetupError
from .http import case_insensitive

__all__ = ["LONGEST_RETRY_AFTER", "Retry", "RetryPolicy", "exhausted_for", "parse_retry_after", "pause", "with_retries"]

T = TypeVar("T")

LONGEST_RETRY_AFTER = 600.0
"""Seconds; a server that asks to wait longer is not waited for."""

_RATE_LIMITS = tuple(
    (f"x-ratelimit-remaining{kind}", f"x-ratelimit-reset{kind}") for kind in ("-requests", "-tokens", "")
) + tuple(
    (f"anthropic-ratelimit-{kind}-remaining", f"anthropic-ratelimit-{kind}-reset")
    for kind in ("requests", "tokens", "input-tokens", "output-tokens")
)
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION_PART = re.compile(r"(\d{1,15}(?:\.\d{0,15})?)(ns|us|µs|μs|ms|s|m|h|d)", re.ASCII)
_NUMBER = re.compile(r"\d{1,15}(\.\d{0,15})?", re.ASCII)
_LEAST_JITTER = 0.75
# Larger numbers are moments rather than durations, counted from 1970: 1e9 s is 2001, 1e11 ms is 1973.
_FIRST_MOMENT, _FIRST_MOMENT_MS = 1e9, 1e11


@dataclass(frozen=True, slots=True)
class Retry:
    """A request is about to be sent again, in `delay` seconds: attempt `attempt` of at most `of`."""

    attempt: int
    of: int
    delay: float
    error: ProviderError


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often to send again, and how long to wait in between where the server does not say."""

    max_retries: int = 3
    initial_delay: float = 1.0
    factor: float = 2.0
    max_delay: float = 60.0

    def delay(self, retry: int, error: ProviderError, jitter: float = 1.0) -> float | None:
        """Seconds before retry number `retry`, from 1; None: give up. `jitter` is a factor from 0.75 to 1.25.

        What the server asks for is waited, and up to half a second more; 0 is no answer to how long.

        >>> RetryPolicy().delay(3, ProviderError("busy", retryable=True))
        4.0
        """
        if not error.retryable or retry > self.max_retries:
            return None
        if error.retry_after:
            # A little later than told, each by another little: else all who were told would come back at once.
            spread = (jitter - _LEAST_JITTER) * min(error.retry_after, 1.0)
            return error.retry_after + spread if error.retry_after <= LONGEST_RETRY_AFTER else None
        try:
            grown = self.initial_delay * self.factor ** (retry - 1)
        except OverflowError:
            grown = self.max_delay
        return min(grown * jitter, self.max_delay)


async def pause(seconds: float) -> None:
    """Let other tasks go on for so many seconds."""
    import asyncio

    await asyncio.sleep(seconds)


async def with_retries(
    policy: RetryPolicy,
    send: Callable[[], Awaitable[T]],
    *,
    on_retry: Callable[[Retry], bool | None] | None = None,
    sleep: Callable[[float], Awaitable[object]] = pause,
    random: Callable[[], float] = randomness.random,
) -> tuple[T, int]:
    """What `send` brings back, and how many attempts it took. Raises the last error, which knows its `attempts`.

    `on_retry` is told before each pause; if it returns False, the error is final.
    """
    attempt = 1
    while True:
        try:
            return await send(), attempt
        except ProviderError as error:
            # What was refused before anything was sent is no attempt.
            is_unsent = isinstance(error, PromptError | SetupError) or error.attempts == 0
            error.attempts = attempt - 1 if is_unsent else attempt
            delay = policy.delay(attempt, error, _LEAST_JITTER + random() / 2)
            if delay is None:
                _explain_long_wait(error)
                raise
            retry = Retry(attempt + 1, policy.max_retries + 1, delay, error)
            if on_retry is not None and on_retry(retry) is False:
                raise
        await sleep(delay)
        attempt += 1


def parse_retry_after(headers: Mapping[str, str], now: float, *, status: int | None = None) -> float | None:
    """The seconds that a server asks to wait; None if it does not say. `now` is in seconds since 1970.

    >>> parse_retry_after({"Retry-After": "7"}, now=0.0)
    7.0
    """
    headers = case_insensitive(headers)
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after", "").strip()
    seconds = _number(text)
    if seconds is None:
        seconds = _until_http_date(text, now)
    if seconds is None and status == 429:
        seconds = exhausted_for(headers, now)
    return seconds


def exhausted_for(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds until a limit that the headers call used up is reset; None if none is, or it is not said when.

    >>> exhausted_for({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m30s"}, now=0.0)
    90.0
    """
    headers = case_insensitive(headers)
    waits = [
        _until(headers.get(reset, "").strip(), now)
        for remaining, reset in _RATE_LIMITS
        if (left := headers.get(remaining)) is not None and _number(left.strip()) == 0
    ]
    return max((wait for wait in waits if wait is not None), default=None)


def _explain_long_wait(error: ProviderError) -> None:
    wait = error.retry_after
    if error.retryable and wait is not None and wait > LONGEST_RETRY_AFTER:
        said = f"the server asks to wait {wait:.0f} s, but {LONGEST_RETRY_AFTER:.0f} s is the most: run again later"
        error.hint = f"{said}; {error.hint}" if error.hint else said


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


def _until(text: str, now: float) -> float | None:
    """Seconds until a reset, written as a Go duration, as seconds, as a Unix time or as RFC 3339."""
    number = _number(text)
    if number is not None:
        if number >= _FIRST_MOMENT_MS:
            return max(0.0, number / 1000 - now)
        return max(0.0, number - now) if number >= _FIRST_MOMENT else number
    parts = list(_DURATION_PART.finditer(text))
    if parts and "".join(part.group() for part in parts) == text:
        return sum(float(part.group(1)) * _UNITS[part.group(2)] for part in parts)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return _seconds_until(moment, now)


def _until_http_date(text: str, now: float) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, IndexError, TypeError, OverflowError):
        return None
    return _seconds_until(moment, now)


def _seconds_until(moment: datetime, now: float) -> float | None:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return max(0.0, moment.timestamp() - now)
    except OverflowError:
        return None
