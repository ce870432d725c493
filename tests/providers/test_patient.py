"""Patience: the rate limit before each attempt, the tokens that are reserved and settled, the retries around both."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from turnwise.errors import (
    ApplicationError,
    AuthenticationError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    SetupError,
    UsageError,
)
from turnwise.providers import Preview, ProviderRequest, ProviderResponse, Settings, Tool, Usage
from turnwise.providers.limits import RateLimit
from turnwise.providers.patient import PatientProvider, policy_of
from turnwise.providers.retries import Retry, RetryPolicy
from turnwise.targets.choose import find_target

AT_ONCE = RetryPolicy(max_retries=3, initial_delay=0.0)
REQUEST = ProviderRequest(question="Hello")


class Scripted:
    """A provider that answers, or fails, as it is told, one entry after the other."""

    def __init__(self, *script: ProviderResponse | Exception) -> None:
        self.script = list(script)
        self.asked: list[ProviderRequest] = []
        self.closed = False

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        self.asked.append(request)
        entry = self.script.pop(0)
        if isinstance(entry, Exception):
            raise entry
        return entry

    def preview(self, request: ProviderRequest) -> Preview:
        return Preview(messages=[{"role": "user", "content": request.question}], rewrites=(), request=None)

    async def close(self) -> None:
        self.closed = True


class Watched(RateLimit):
    """A limit that never waits, and notes what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[str, float]] = []

    async def acquire(self, tokens: int) -> None:
        self.told.append(("acquire", tokens))

    def settle(self, reserved: int, used: int) -> None:
        self.told.append(("settle", used - reserved))

    def hold(self, seconds: float) -> None:
        self.told.append(("hold", seconds))


def ask(
    script: Sequence[ProviderResponse | Exception],
    request: ProviderRequest = REQUEST,
    *,
    counts_tokens: bool = False,
    policy: RetryPolicy = AT_ONCE,
) -> tuple[ProviderResponse | ProviderError, list[tuple[str, float]], list[Retry]]:
    """What comes of a request, what the limit was told, and the retries."""
    limit, retries = Watched(), list[Retry]()
    provider = PatientProvider(
        Scripted(*script), policy, limit, counts_tokens=counts_tokens, on_retry=retries.append
    )  # fmt: skip
    try:
        outcome: ProviderResponse | ProviderError = asyncio.run(provider.ask(request))
    except ProviderError as error:
        outcome = error
    return outcome, limit.told, retries


def test_every_attempt_waits_for_its_turn() -> None:
    """A retry is a request like any other to the rate limit, and the answer counts the attempts."""
    response, told, retries = ask([OverloadedError("busy"), OverloadedError("busy"), ProviderResponse(text="Hi")])
    assert isinstance(response, ProviderResponse)
    assert (response.text, response.attempts) == ("Hi", 3)
    assert told == [("acquire", 0)] * 3
    assert [each.attempt for each in retries] == [2, 3]


def test_an_answer_at_once_is_passed_on_as_it_is() -> None:
    """Nothing is copied or changed where nothing happened."""
    answer = ProviderResponse(text="Hi", latency_ms=1.0)
    response, _, retries = ask([answer])
    assert response is answer
    assert retries == []


def test_a_provider_that_does_not_measure_is_measured() -> None:
    """A provider of another package need not say how long it took."""
    response, _, _ = ask([ProviderResponse(text="Hi")])
    assert isinstance(response, ProviderResponse)
    assert response.latency_ms is not None


@pytest.mark.parametrize(
    ("request_", "tokens"),
    [
        (ProviderRequest(question="x" * 400), 100 + 256),
        (ProviderRequest(question="x" * 400, settings=Settings(max_output_tokens=50)), 100 + 50),
        (ProviderRequest(question="", chat_prompt=[{"role": "user", "content": "x" * 80}] * 2), 40 + 256),
        (
            ProviderRequest(
                question="",
                chat_prompt=[
                    {"role": "user", "content": [{"type": "text", "text": "x" * 40}]},
                    {"role": "assistant", "content": None, "tool_calls": []},
                ],
            ),
            10 + 256,
        ),
        (
            ProviderRequest(
                question="",
                chat_prompt=[{"role": "user", "content": [{"type": "image", "data": "x" * 90_000}]}],
                tools=[Tool("find", "y" * 400, {})],
            ),
            1000 + 100 + 256,
        ),
    ],
)
def test_tokens_are_estimated_before_they_are_counted(request_: ProviderRequest, tokens: int) -> None:
    """Four characters a token, a thousand an image, and room for the answer: as long as it may get, or 256."""
    _, told, _ = ask([ProviderResponse(text="Hi")], request_, counts_tokens=True)
    assert told[0] == ("acquire", tokens)


def test_an_estimate_is_settled_by_the_count() -> None:
    """What was reserved too much is given back; what was too little is a debt."""
    for usage, difference in [
        (Usage(input_tokens=10, output_tokens=5), 15 - 257),
        (Usage(input_tokens=500, output_tokens=500), 1000 - 257),
        (Usage(input_tokens=10), 10 - 257),
        (Usage(), 0),
    ]:
        _, told, _ = ask([ProviderResponse(text="Hi", usage=usage)], counts_tokens=True)
        assert told == [("acquire", 257), ("settle", difference)]


def test_a_failure_gives_its_tokens_back() -> None:
    """An attempt that brought no answer has used none: the next one need not wait for them."""
    _, told, _ = ask([OverloadedError("busy"), ProviderResponse(text="Hi")], counts_tokens=True)
    assert told == [("acquire", 257), ("settle", -257), ("acquire", 257), ("settle", 0)]


def test_no_tokens_are_counted_where_there_is_no_limit() -> None:
    """Counting costs time: without `tokens_per_minute` nothing is estimated or settled."""
    _, told, _ = ask([ProviderResponse(text="Hi", usage=Usage(input_tokens=1))])
    assert told == [("acquire", 0)]


def test_a_told_wait_holds_everybody() -> None:
    """The limit, which all requests of the target share, is told of a rate limit's time, and of no other error's."""
    limited = RateLimitError("slow down", retry_after=0.001)
    _, told, _ = ask([limited, OverloadedError("busy", retry_after=0.001), ProviderResponse(text="Hi")])
    assert [each for each in told if each[0] == "hold"] == [("hold", 0.001)]


@pytest.mark.parametrize(
    "error",
    [
        RateLimitError("quota", retryable=False, retry_after=30.0),
        RateLimitError("slow down"),
        RateLimitError("come back tomorrow", retry_after=86400.0),
    ],
)
def test_nobody_is_held_for_what_does_not_pass(error: RateLimitError) -> None:
    """A used-up quota holds nobody back, nor does a limit without a time, nor a time that nobody would wait."""
    _, told, _ = ask([error, ProviderResponse(text="Hi")])
    assert "hold" not in dict(told)


def test_what_does_not_pass_is_not_tried_again() -> None:
    """The error comes at once, and says that it was one attempt."""
    error, told, retries = ask([AuthenticationError("no")])
    assert isinstance(error, AuthenticationError)
    assert (error.attempts, len(told), retries) == (1, 1, [])


def test_a_provider_that_cannot_be_used_is_an_error_of_the_setup() -> None:
    """`ask` raises provider errors and nothing else: the hint is kept, and nothing is tried again."""
    error, told, _ = ask([UsageError("there is no model file", "check the path")])
    assert isinstance(error, SetupError)
    assert (str(error), error.hint, len(told)) == ("there is no model file", "check the path", 1)


def test_the_target_sets_the_policy() -> None:
    """Each of the four settings is taken over."""
    settings: Any = find_target("openai/m", None, file="").model_copy(
        update={"max_retries": 5, "retry_initial_delay": 0.5, "retry_factor": 3.0, "retry_max_delay": 7.0}
    )
    assert policy_of(settings) == RetryPolicy(max_retries=5, initial_delay=0.5, factor=3.0, max_delay=7.0)


def test_preview_and_close_go_to_the_provider_inside() -> None:
    """Patience changes when something is sent, not what."""
    inner = Scripted()
    provider = PatientProvider(inner, AT_ONCE, RateLimit(), counts_tokens=False)
    assert provider.preview(REQUEST).messages == [{"role": "user", "content": "Hello"}]
    asyncio.run(provider.close())
    assert inner.closed


def test_nothing_but_provider_errors_comes_out() -> None:
    """Whatever a request, a plugin or a fault of ours raises, one request fails with a typed error."""
    error, _, retries = ask([ZeroDivisionError("oops")])
    assert isinstance(error, ApplicationError)
    assert "ZeroDivisionError: oops" in str(error)
    assert retries == []
