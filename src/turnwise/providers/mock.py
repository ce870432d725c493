"""Answers without a model, by a script: for testing evals, and everything around them, offline."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from ..conversation.chat import ChatMessage
from ..errors import BadRequestError, ProviderConnectionError, ProviderError, ProviderTimeoutError, UsageError
from .base import Preview, ProviderRequest, ProviderResponse
from .prompt import messages_to_send
from .recording import content_text

if TYPE_CHECKING:
    from ..targets.stand_ins import MockRule, MockTarget

__all__ = ["MockProvider"]

# A pattern is the user's own, the text that it is searched in may be anything.
_SEARCHED = 100_000
_SLOW = 30.0
_NO_ANSWER_HINT = "give the target a `response` or `echo: true`, or its `script` a rule that applies here"


@dataclass(slots=True)
class _Scripted:
    """A rule, and how often it may still be used."""

    rule: MockRule
    pattern: re.Pattern[str] | None
    left: float

    def applies(self, case_id: str | None, turn: int, said: str | None) -> bool:
        """Whether its conditions hold, used up or not."""
        rule = self.rule
        if rule.case is not None and rule.case != case_id:
            return False
        if rule.turn is not None and rule.turn != turn:
            return False
        return self.pattern is None or (said is not None and self.pattern.search(said[:_SEARCHED]) is not None)


class MockProvider:
    """The provider of a `mock` target. `times` of its rules are counted over all requests, retries too.

    >>> import asyncio
    >>> from turnwise.targets.stand_ins import MockTarget
    >>> mock = MockProvider(MockTarget(name="echo", provider="mock", echo=True))
    >>> asyncio.run(mock.ask(ProviderRequest(question="Hello?"))).text
    'Hello?'
    """

    def __init__(
        self,
        target: MockTarget,
        default_system_prompt: str | None = None,
        *,
        sleep: Callable[[float], Awaitable[object]] | None = None,
    ) -> None:
        """`sleep` waits for so many seconds: `asyncio.sleep` if absent."""
        self._target = target
        self._default_system_prompt = default_system_prompt
        self._sleep = sleep
        self._script = [_scripted(rule, number) for number, rule in enumerate(target.script or (), start=1)]

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        """The scripted answer, or the scripted failure."""
        started = perf_counter()
        sent = messages_to_send(request, self._default_system_prompt)
        rule = self._next_rule(request, sent)
        text = self._answer(rule, _last_user_text(sent))
        if text is None and _fault(rule) in (None, "slow"):
            raise self._no_answer(request, sent)
        await self._wait(self._delay(rule))
        if rule is not None and (failure := _failure(rule, text or "")) is not None:
            raise failure
        assert text is not None
        latency = (perf_counter() - started) * 1000
        said: ChatMessage = {"role": "assistant", "content": text}
        return ProviderResponse(text=text, messages=[said], sent=sent, latency_ms=latency)

    def preview(self, request: ProviderRequest) -> Preview:
        """The messages that the rules look at; nothing is sent anywhere."""
        return Preview(messages=messages_to_send(request, self._default_system_prompt), rewrites=(), request=None)

    async def close(self) -> None:
        """Nothing is open."""

    def _next_rule(self, request: ProviderRequest, sent: Sequence[ChatMessage]) -> MockRule | None:
        for scripted in self._applying(request, sent):
            if scripted.left >= 1:
                scripted.left -= 1
                return scripted.rule
        return None

    def _applying(self, request: ProviderRequest, sent: Sequence[ChatMessage]) -> list[_Scripted]:
        turn, said = _turn(sent), _last_user_text(sent)
        return [scripted for scripted in self._script if scripted.applies(request.case_id, turn, said)]

    def _answer(self, rule: MockRule | None, said: str | None) -> str | None:
        if rule is not None and rule.response is not None:
            return rule.response
        if self._target.response is not None:
            return self._target.response
        return said if self._target.echo is True else None

    def _delay(self, rule: MockRule | None) -> float:
        if rule is not None and rule.delay is not None:
            return float(rule.delay)
        return _SLOW if _fault(rule) == "slow" else float(self._target.delay)

    async def _wait(self, delay: float) -> None:
        from asyncio import sleep as asyncio_sleep

        sleep = self._sleep or asyncio_sleep
        limit = math.inf if self._target.timeout is None else float(self._target.timeout)
        if delay:
            await sleep(min(delay, limit))
        if delay > limit:
            raise ProviderTimeoutError(
                f"the mock gave no answer within {limit:g} s: it takes {delay:g} s",
                hint="raise the target's `timeout`, or lower the `delay`, if this is not what you test",
            )

    def _no_answer(self, request: ProviderRequest, sent: Sequence[ChatMessage]) -> ProviderError:
        case = "this request" if request.case_id is None else f"case {request.case_id!r}"
        used_up = len(self._applying(request, sent))
        rules = f"; {used_up} of its rules would apply, but their `times` are used up" if used_up else ""
        return BadRequestError(
            f"the mock has no answer for {case}, turn {_turn(sent)}{rules}", retryable=False, hint=_NO_ANSWER_HINT
        )


def _scripted(rule: MockRule, number: int) -> _Scripted:
    if rule.status is not None and int(rule.status) < 400:
        raise UsageError(f"rule {number} of the mock: {rule.status} is the status of no failure", "use 400 to 599")
    times = math.inf if rule.times is None else int(rule.times)
    return _Scripted(rule, None if rule.pattern is None else _compiled(rule.pattern, number), times)


def _compiled(pattern: str, number: int) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings(action="ignore"):
            return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        message = f"rule {number} of the mock: `pattern` is not a regular expression: {error}"
        raise UsageError(message, "a literal bracket is written \\( or \\[") from error


def _turn(sent: Sequence[ChatMessage]) -> int:
    return 1 + sum(message["role"] == "assistant" for message in sent)


def _last_user_text(sent: Sequence[ChatMessage]) -> str | None:
    return next((content_text(message["content"]) for message in reversed(sent) if message["role"] == "user"), None)


def _fault(rule: MockRule | None) -> str | None:
    """What the rule shows instead of an answer; a bare `status` is a fault too."""
    if rule is None:
        return None
    return "status" if rule.fault is None and rule.status is not None else rule.fault


def _failure(rule: MockRule, text: str) -> ProviderError | None:
    fault = _fault(rule)
    if fault == "status":
        return _status_failure(500 if rule.status is None else int(rule.status))
    if fault == "reset":
        return ProviderConnectionError("the mock reset the connection")
    if fault == "truncated":
        arrived = f"{len(text) // 2} of {len(text)} characters"
        return ProviderConnectionError(f"the connection closed in the middle of the answer, after {arrived}")
    return None


def _status_failure(status: int) -> ProviderError:
    from ..targets.settings import RETRY_STATUSES
    from .http import HttpAnswer
    from .status import status_error

    body = b'{"error": {"message": "a fault that the mock was told to show"}}'
    return status_error(HttpAnswer(status, {}, body), api="the mock", retry_statuses=RETRY_STATUSES)
