"""The mock answers by its script, and fails by it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import ValidationError

from turnwise.conversation.chat import ChatPrompt
from turnwise.errors import (
    AuthenticationError,
    BadRequestError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    ProviderConnectionError,
    ProviderError,
    ProviderTimeoutError,
    RateLimitError,
    UsageError,
)
from turnwise.providers.base import Provider, ProviderRequest, ProviderResponse, Usage
from turnwise.providers.mock import MockProvider
from turnwise.targets.stand_ins import MockRule, MockTarget


class Naps:
    """Stands in for `asyncio.sleep` and remembers how long it was to sleep."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def mock(*rules: dict[str, Any], sleep: Naps | None = None, **settings: Any) -> MockProvider:
    script = [MockRule(**rule) for rule in rules] or None
    return MockProvider(MockTarget(name="m", provider="mock", script=script, **settings), sleep=sleep or Naps())


def ask(provider: MockProvider, question: str = "Hello", **fields: Any) -> ProviderResponse:
    return asyncio.run(provider.ask(ProviderRequest(question=question, **fields)))


def fails(provider: MockProvider, **fields: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ask(provider, **fields)
    return caught.value


def test_it_is_a_provider() -> None:
    """The mock can stand wherever a provider can."""
    assert isinstance(mock(echo=True), Provider)


def test_one_response_for_everything() -> None:
    """Without a script every request gets the target's response, as a message too, and nothing is counted."""
    answer = ask(mock(response="Fine."))
    assert answer.text == "Fine."
    assert answer.messages == [{"role": "assistant", "content": "Fine."}]
    assert answer.usage == Usage()
    assert answer.latency_ms is not None
    assert answer.latency_ms >= 0


def test_echo_repeats_the_last_user_message() -> None:
    """An echo is the text of the last user message, whatever came after it and whatever else is in it."""
    prompt: ChatPrompt = [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "yes?"},
        {"role": "user", "content": [{"type": "text", "text": "Look"}, {"type": "image", "data": "AAAA"}]},
        {"role": "tool", "content": "42", "tool_call_id": "c1"},
    ]
    assert ask(mock(echo=True), question="[User]: …", chat_prompt=prompt).text == "Look"


def test_sent_and_preview_are_the_messages_of_the_request() -> None:
    """What was sent is told, the default system prompt included, and a preview tells the same without HTTP."""
    provider = MockProvider(MockTarget(name="m", provider="mock", echo=True), "Be kind.")
    request = ProviderRequest(question="Hi", chat_prompt=[{"role": "user", "content": "Hi"}])
    expected = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}]
    preview = provider.preview(request)
    assert asyncio.run(provider.ask(request)).sent == expected
    assert (preview.messages, preview.request, preview.rewrites) == (expected, None, ())


def test_the_first_rule_that_applies_answers() -> None:
    """Rules are tried in their order; the target's response is for what no rule applies to."""
    provider = mock(
        {"case": "a", "pattern": "refund", "response": "1"},
        {"pattern": "(?i)REFUND", "response": "2"},
        {"case": "a", "response": "3"},
        response="4",
    )
    asked = [("a", "a refund"), ("b", "a refund"), ("a", "hello"), ("b", "hello"), (None, "hello")]
    assert [ask(provider, text, case_id=case).text for case, text in asked] == ["1", "2", "3", "4", "4"]


def test_a_turn_is_counted_by_the_answers_before_it() -> None:
    """The request with two assistant messages in it is the third turn."""
    provider = mock({"turn": 3, "response": "third"}, response="other")
    turns: ChatPrompt = [{"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}]
    said = [ask(provider, chat_prompt=[*turns * count, turns[0]]).text for count in range(4)]
    assert said == ["other", "other", "third", "other"]


def test_a_rule_is_used_up_after_its_times() -> None:
    """A rule with `times: 2` applies to two requests; then the next one is tried."""
    provider = mock({"times": 2, "response": "a"}, {"times": 1, "response": "b"}, response="c")
    assert [ask(provider).text for _ in range(4)] == ["a", "a", "b", "c"]


def test_times_hold_for_requests_under_way_at_once() -> None:
    """A rule is taken when the request comes, not when it is answered."""
    provider = mock({"times": 1, "response": "once", "delay": 1}, response="else")

    async def both() -> list[ProviderResponse]:
        return await asyncio.gather(*(provider.ask(ProviderRequest(question="x")) for _ in range(3)))

    assert sorted(answer.text for answer in asyncio.run(both())) == ["else", "else", "once"]


def test_a_pattern_needs_a_user_message() -> None:
    """A pattern that is found in anything is not found where nobody has said anything."""
    provider = mock({"pattern": ".*", "response": "said"})
    error = fails(provider, chat_prompt=[{"role": "system", "content": "s"}])
    assert isinstance(error, BadRequestError)


def test_a_pattern_is_searched_in_bounded_text() -> None:
    """Only the first 100,000 characters are searched."""
    provider = mock({"pattern": "end", "response": "found"}, response="not found")
    assert ask(provider, "x" * 99_997 + "end").text == "found"
    assert ask(provider, "x" * 99_998 + "end").text == "not found"


def test_a_rule_without_a_response_uses_the_targets() -> None:
    """A rule that only delays answers with what the target has."""
    naps = Naps()
    assert ask(mock({"delay": 2}, sleep=naps, response="later")).text == "later"
    assert naps.seconds == [2]


def test_no_answer_is_an_error_that_says_for_what() -> None:
    """Without a rule, a response or an echo the error names the case and the turn, and says what to do."""
    error = fails(mock({"case": "other", "response": "x"}), case_id="refund")
    assert isinstance(error, BadRequestError)
    assert str(error) == "the mock has no answer for case 'refund', turn 1"
    assert not error.retryable
    assert "echo" in str(error.hint)


def test_no_answer_tells_of_rules_that_are_used_up() -> None:
    """Where a rule would apply but for its `times`, the error says so."""
    provider = mock({"times": 1, "response": "x"})
    ask(provider)
    assert "1 of its rules would apply, but their `times` are used up" in str(fails(provider))


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, BadRequestError, False),
        (401, AuthenticationError, False),
        (403, PermissionDeniedError, False),
        (404, NotFoundError, False),
        (429, RateLimitError, True),
        (500, OverloadedError, True),
        (501, OverloadedError, False),
        (503, OverloadedError, True),
    ],
)
def test_a_status_fault_is_the_error_of_that_status(status: int, kind: type[ProviderError], retryable: bool) -> None:
    """A scripted status fails as the same status of a real API does."""
    for rule in ({"fault": "status", "status": status}, {"status": status}):
        error = fails(mock(rule, response="never"))
        assert (type(error), error.status, error.retryable) == (kind, status, retryable)


def test_a_status_fault_is_500_if_nothing_is_said() -> None:
    """The status of a fault without one is 500."""
    assert fails(mock({"fault": "status"})).status == 500


def test_a_fault_of_a_success_is_refused() -> None:
    """A status that is no failure cannot be a fault; the error names the rule."""
    with pytest.raises(ValidationError, match="200 is no status of a failure"):
        mock({"response": "x"}, {"fault": "status", "status": 200})


def test_a_pattern_from_a_variable_may_be_no_regular_expression() -> None:
    """A pattern that became wrong when its variable was filled in is an error that names the rule."""
    rule = MockRule.model_construct(pattern="(", response="x")
    target = MockTarget.model_construct(name="m", provider="mock", script=[rule])
    with pytest.raises(UsageError, match=r"rule 1 .*not a regular expression"):
        MockProvider(target)


def test_reset_and_truncated_break_the_connection() -> None:
    """Both are connection errors that pass; a truncated answer tells how much of it came."""
    reset, truncated = fails(mock({"fault": "reset"})), fails(mock({"fault": "truncated", "response": "1234567"}))
    assert isinstance(reset, ProviderConnectionError)
    assert isinstance(truncated, ProviderConnectionError)
    assert reset.retryable
    assert truncated.retryable
    assert str(truncated) == "the connection closed in the middle of the answer, after 3 of 7 characters"


def test_a_fault_passes_when_its_times_are_used_up() -> None:
    """A fault with `times: 1` fails once: the retry is answered."""
    provider = mock({"fault": "reset", "times": 1}, echo=True)
    fails(provider)
    assert ask(provider, "again").text == "again"


@pytest.mark.parametrize(
    ("rule", "settings", "slept"),
    [
        ({}, {"delay": 0.5}, [0.5]),
        ({"delay": 0.25}, {"delay": 0.5}, [0.25]),
        ({"delay": 0}, {"delay": 0.5}, []),
        ({"fault": "slow"}, {}, [30.0]),
        ({"fault": "slow", "delay": 2}, {"timeout": 3.0}, [2]),
    ],
)
def test_answers_come_after_the_delay(rule: dict[str, Any], settings: dict[str, Any], slept: list[float]) -> None:
    """The delay is the rule's, else 30 s for `slow`, else the target's."""
    naps = Naps()
    assert ask(mock({"response": "x", **rule}, sleep=naps, **settings)).text == "x"
    assert naps.seconds == slept


def test_slower_than_the_timeout_is_a_timeout() -> None:
    """An answer that takes longer than the target allows fails when the time is up, not later."""
    naps = Naps()
    error = fails(mock({"fault": "slow"}, sleep=naps, timeout=1.5, response="x"))
    assert isinstance(error, ProviderTimeoutError)
    assert error.retryable
    assert "1.5 s" in str(error)
    assert naps.seconds == [1.5]


def test_the_usual_sleep_is_real() -> None:
    """Without a stand-in the mock waits on the event loop."""
    provider = MockProvider(MockTarget(name="m", provider="mock", response="x", delay=0.02))
    answer = asyncio.run(provider.ask(ProviderRequest(question="x")))
    assert answer.latency_ms is not None
    assert answer.latency_ms >= 15
