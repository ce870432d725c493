"""The caching provider: what was answered is not asked again, equal requests are asked once, failures are not kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from turnwise.engine.cache import AnswerCache, CachingProvider
from turnwise.errors import OverloadedError, PromptError, ProviderError
from turnwise.providers import MockProvider, Preview, ProviderRequest, ProviderResponse, Rewrite, Usage
from turnwise.targets.stand_ins import MockTarget

TARGET = MockTarget(name="mock", provider="mock", echo=True)
REQUEST = ProviderRequest(question="Hello")
REWRITE = Rewrite("merged", 0, "two messages became one", "the API wants turns")


class Counting:
    """A provider that numbers its answers, fails as often as it is told, and can be held back."""

    def __init__(self, failures: int = 0) -> None:
        self.asked = 0
        self.cancelled = 0
        self.closed = False
        self.failures = failures
        self.go = asyncio.Event()
        self.go.set()

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        self.asked += 1
        text = f"answer {self.asked}"
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.asked <= self.failures:
            raise OverloadedError("busy")
        said = [{"role": "assistant", "content": text}]
        return ProviderResponse(text=text, messages=said, usage=Usage(input_tokens=1), sent=(), latency_ms=7.0)  # type: ignore[arg-type]

    def preview(self, request: ProviderRequest) -> Preview:
        if not request.question:
            raise PromptError("empty", "nothing is asked", hint="ask something")
        return Preview(messages=[{"role": "user", "content": request.question}], rewrites=(REWRITE,), request=None)

    async def close(self) -> None:
        self.closed = True


Scenario = Callable[[AnswerCache], Coroutine[Any, Any, None]]


def with_cache(tmp_path: Path, scenario: Scenario) -> AnswerCache:
    """Run a scenario with a cache that is closed afterwards, and that had nothing to complain of."""

    async def run() -> AnswerCache:
        async with AnswerCache(tmp_path / ".turnwise" / "cache.sqlite3") as cache:
            await scenario(cache)
        return cache

    cache = asyncio.run(run())
    assert cache.warnings == []
    return cache


def test_what_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    """The second equal request gets the first one's answer, with `attempts` 0 and what would have been sent."""

    async def scenario(cache: AnswerCache) -> None:
        inner = Counting()
        provider = CachingProvider(inner, cache, TARGET)
        first = await provider.ask(REQUEST)
        again = await provider.ask(replace(REQUEST))
        assert (first.text, first.attempts, inner.asked) == ("answer 1", 1, 1)
        assert again == replace(first, attempts=0, sent=[{"role": "user", "content": "Hello"}], rewrites=(REWRITE,))
        assert (await provider.ask(ProviderRequest(question="Bye"))).text == "answer 2"

    cache = with_cache(tmp_path, scenario)
    assert (cache.hits, cache.misses) == (1, 2)


def test_answers_outlive_the_run(tmp_path: Path) -> None:
    """What one cache has kept is found by the next one, as soon as the first is closed."""

    async def ask(cache: AnswerCache) -> None:
        answer = await CachingProvider(Counting(), cache, TARGET).ask(REQUEST)
        assert answer.text == "answer 1"

    assert with_cache(tmp_path, ask).misses == 1
    later = with_cache(tmp_path, ask)
    assert (later.hits, later.misses) == (1, 0)


def test_a_real_provider_is_cached(tmp_path: Path) -> None:
    """A mock target answers from the cache, and another target of the same kind does not share its answers."""

    async def scenario(cache: AnswerCache) -> None:
        first = CachingProvider(MockProvider(TARGET), cache, TARGET)
        other_target = TARGET.model_copy(update={"name": "other"})
        other = CachingProvider(MockProvider(other_target), cache, other_target)
        answers = [await each.ask(REQUEST) for each in (first, first, other)]
        assert [(each.text, each.attempts) for each in answers] == [("Hello", 1), ("Hello", 0), ("Hello", 1)]

    with_cache(tmp_path, scenario)


def test_failures_are_not_kept(tmp_path: Path) -> None:
    """After a failure the request is asked again."""

    async def scenario(cache: AnswerCache) -> None:
        provider = CachingProvider(Counting(failures=1), cache, TARGET)
        with pytest.raises(OverloadedError, match="busy"):
            await provider.ask(REQUEST)
        assert (await provider.ask(REQUEST)).text == "answer 2"

    with_cache(tmp_path, scenario)


def test_equal_requests_at_once_are_asked_once(tmp_path: Path) -> None:
    """Ten equal requests at the same time are one request; nine of the answers have cost nothing."""

    async def scenario(cache: AnswerCache) -> None:
        inner = Counting()
        provider = CachingProvider(inner, cache, TARGET)
        answers = await asyncio.gather(*(provider.ask(REQUEST) for _ in range(10)))
        assert inner.asked == 1
        assert {each.text for each in answers} == {"answer 1"}
        assert sorted(each.attempts for each in answers) == [0] * 9 + [1]
        assert len({id(each.messages) for each in answers}) == 10

    cache = with_cache(tmp_path, scenario)
    assert (cache.hits, cache.misses) == (9, 1)
    assert cache.flights == {}


def test_trials_are_asked_each(tmp_path: Path) -> None:
    """Requests of different trials are different requests, at once or later."""

    async def scenario(cache: AnswerCache) -> None:
        inner = Counting()
        provider = CachingProvider(inner, cache, TARGET)
        trials = [replace(REQUEST, attempt=trial) for trial in (1, 2, 3)]
        first = await asyncio.gather(*(provider.ask(each) for each in trials))
        again = await asyncio.gather(*(provider.ask(each) for each in trials))
        assert inner.asked == 3
        assert [each.text for each in again] == [each.text for each in first]

    with_cache(tmp_path, scenario)


def test_a_shared_failure_reaches_all_and_is_forgotten(tmp_path: Path) -> None:
    """All who wait for a request that fails get its error; the next one asks again."""

    async def scenario(cache: AnswerCache) -> None:
        inner = Counting(failures=1)
        provider = CachingProvider(inner, cache, TARGET)
        errors = await asyncio.gather(*(provider.ask(REQUEST) for _ in range(3)), return_exceptions=True)
        assert [type(each) for each in errors] == [OverloadedError] * 3
        assert inner.asked == 1
        assert (await provider.ask(REQUEST)).text == "answer 2"

    with_cache(tmp_path, scenario)


def test_who_gives_up_does_not_disturb_the_others(tmp_path: Path) -> None:
    """If the first of two waiters is cancelled, the second still gets the answer."""

    async def scenario(cache: AnswerCache) -> None:
        inner = Counting()
        inner.go.clear()
        provider = CachingProvider(inner, cache, TARGET)
        first, second = (asyncio.create_task(provider.ask(REQUEST)) for _ in range(2))
        await _until(lambda: inner.asked == 1)
        first.cancel()
        await asyncio.wait([first])
        inner.go.set()
        assert (await second).text == "answer 1"
        assert (first.cancelled(), inner.asked, inner.cancelled) == (True, 1, 0)

    with_cache(tmp_path, scenario)


def test_a_request_that_nobody_waits_for_is_given_up(tmp_path: Path) -> None:
    """If all waiters are cancelled, so is the request; a new one does not board it."""

    async def scenario(cache: AnswerCache) -> None:
        inner = Counting()
        inner.go.clear()
        provider = CachingProvider(inner, cache, TARGET)
        waiting = [asyncio.create_task(provider.ask(REQUEST)) for _ in range(2)]
        await _until(lambda: inner.asked == 1)
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)
        inner.go.set()
        assert (await provider.ask(REQUEST)).text == "answer 2"
        assert inner.cancelled == 1

    with_cache(tmp_path, scenario)


def test_without_read_everything_is_asked_anew(tmp_path: Path) -> None:
    """Without `read`, the kept answer is replaced by a new one."""

    async def scenario(cache: AnswerCache) -> None:
        inner = Counting()
        usual, fresh = CachingProvider(inner, cache, TARGET), CachingProvider(inner, cache, TARGET, read=False)
        asked = [await provider.ask(REQUEST) for provider in (usual, fresh, usual)]
        assert [each.text for each in asked] == ["answer 1", "answer 2", "answer 2"]

    with_cache(tmp_path, scenario)


def test_without_write_nothing_is_kept(tmp_path: Path) -> None:
    """Without `write`, what is kept is used, and nothing is added."""

    async def scenario(cache: AnswerCache) -> None:
        inner = Counting()
        usual, reading = CachingProvider(inner, cache, TARGET), CachingProvider(inner, cache, TARGET, write=False)
        asked = [await provider.ask(REQUEST) for provider in (reading, usual, reading)]
        assert [each.text for each in asked] == ["answer 1", "answer 2", "answer 2"]

    with_cache(tmp_path, scenario)


def test_without_both_the_cache_is_not_there(tmp_path: Path) -> None:
    """Without `read` and `write`, even equal requests at once are asked each."""

    async def scenario(cache: AnswerCache) -> None:
        inner = Counting()
        provider = CachingProvider(inner, cache, TARGET, read=False, write=False)
        await asyncio.gather(provider.ask(REQUEST), provider.ask(REQUEST))
        assert inner.asked == 2

    assert with_cache(tmp_path, scenario).misses == 0


def test_a_request_that_has_no_form_is_left_to_the_provider(tmp_path: Path) -> None:
    """What cannot be previewed cannot be sent either: the provider inside is asked, and says why."""

    async def scenario(cache: AnswerCache) -> None:
        class Refusing(Counting):
            async def ask(self, request: ProviderRequest) -> ProviderResponse:
                self.preview(request)
                return await super().ask(request)

        endless: dict[str, Any] = {}
        endless["again"] = endless
        provider = CachingProvider(Refusing(), cache, TARGET)
        with pytest.raises(ProviderError, match="nothing is asked"):
            await provider.ask(replace(REQUEST, question=""))
        assert (await provider.ask(replace(REQUEST, vars=endless))).text == "answer 1"

    with_cache(tmp_path, scenario)


def test_the_provider_inside_is_previewed_and_closed(tmp_path: Path) -> None:
    """A preview is that of the provider inside; closing closes it, and leaves the cache open."""

    async def scenario(cache: AnswerCache) -> None:
        inner = Counting()
        provider = CachingProvider(inner, cache, TARGET)
        assert provider.preview(REQUEST) == inner.preview(REQUEST)
        await provider.close()
        assert inner.closed
        assert (await cache.stats()).entries == 0

    with_cache(tmp_path, scenario)


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not holds():
            await asyncio.sleep(0.001)
