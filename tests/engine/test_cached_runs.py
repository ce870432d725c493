"""Runs with the cache on: what was answered before is not asked again, and costs nothing."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fault_server import FaultServer, answer
from run_fixtures import journal, mock, openai, project, run, suite
from turnwise import RunOutcome
from turnwise.engine import api
from turnwise.engine.events import Begun, Ended, Event, Notice, ResultDone, Retried, Started
from turnwise.errors import UsageError

SAID = {
    "choices": [{"message": {"role": "assistant", "content": "hello"}}],
    "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
}
SETTINGS: dict[str, Any] = {
    "api_key": "some-key-of-ours", "prices": {"input": 1.0, "output": 10.0}, "retry_initial_delay": 0,
    "retry_max_delay": 0,
}  # fmt: skip


def runs(root: Path, *settings: dict[str, Any], script: Any = None, **fields: Any) -> tuple[list[RunOutcome], int]:
    """Carry out runs of the same suite one after the other; their outcomes, and how often the server was asked."""

    async def all_of_them() -> tuple[list[RunOutcome], int]:
        async with FaultServer(script or [answer(SAID)]) as server:
            project(root, openai(server.url, **SETTINGS), s=suite(3, **fields))
            outcomes = [await api.run(root / "s.yaml", "gpt", **each) for each in settings]
            return outcomes, len(server.received)

    return asyncio.run(all_of_them())


def test_a_second_run_asks_nothing_and_costs_nothing(tmp_path: Path) -> None:
    """Its results are graded anew; no time of an answer that was not asked for counts as one."""
    # The cases differ in their ids alone: the same request at the same time is asked once.
    (first, second), asked = runs(tmp_path, {"cache": True, "workers": 1}, {"cache": True, "workers": 1})
    assert asked == 1
    assert [each["attempts"] for each in journal(first)] == [1, 0, 0]
    assert [each["cost_usd"] for each in journal(first)] == [0.002, 0.0, 0.0]
    assert [(each["attempts"], each["cost_usd"], each["status"]) for each in journal(second)] == [
        (0, 0.0, "passed")
    ] * 3
    (group,) = second.summary.targets
    assert (group.latency_ms.n, group.latency_ms.mean) == (0, None)


def test_trials_are_answers_of_their_own(tmp_path: Path) -> None:
    """The second trial is not the first one over again; resuming and repeating still asks nothing."""
    _, asked = runs(tmp_path, {"cache": True, "trials": 3}, {"cache": True, "trials": 3})
    assert asked == 3


def test_without_the_cache_everything_is_asked(tmp_path: Path) -> None:
    """It is off unless somebody turns it on."""
    _, asked = runs(tmp_path, {}, {"cache": False}, {})
    assert asked == 9
    assert not (tmp_path / ".turnwise" / "cache.sqlite3").exists()


def test_the_config_turns_it_on_and_the_caller_off(tmp_path: Path) -> None:
    """What a run says goes before what the project says."""
    (tmp_path / ".turnwise").mkdir()
    (tmp_path / ".turnwise" / "config.yaml").write_text("cache: true\n")
    _, asked = runs(tmp_path, {"workers": 1}, {"cache": False}, {})
    assert asked == 1 + 3


def test_a_mock_is_never_cached(tmp_path: Path) -> None:
    """It may answer differently each time on purpose."""
    project(tmp_path, mock(script=[{"times": 1, "response": "hello"}, {"response": "no"}]), s=suite(2))
    outcome = run(tmp_path / "s.yaml", cache=True, workers=1)
    assert [each["answer"] for each in journal(outcome)] == ["hello", "no"]


def test_a_request_behind_the_cache_is_retried_as_any_other(tmp_path: Path) -> None:
    """The run is told of it, and counts the attempts."""
    events: list[Event] = []
    (outcome,), asked = runs(
        tmp_path,
        {"cache": True, "limit": 1, "on_event": events.append},
        script=[answer({}, 500), answer({}, 429), answer(SAID)],
    )
    assert (asked, [each["attempts"] for each in journal(outcome)]) == (3, [3])
    assert len([each for each in events if isinstance(each, Retried)]) == 2


def test_a_cache_that_is_none_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    """A file of another kind in its place is not overwritten, and not passed over in silence."""
    (tmp_path / ".turnwise").mkdir()
    (tmp_path / ".turnwise" / "cache.sqlite3").write_bytes(b"no database" * 1000)
    with pytest.raises(UsageError, match="damaged, or no SQLite file"):
        runs(tmp_path, {"cache": True})
    assert [each.read_bytes() for each in tmp_path.rglob("results.jsonl")] == []


def test_a_notice_of_the_cache_comes_as_any_other_event(tmp_path: Path) -> None:
    """In the thread of the run and in order, so that no watcher needs a lock; the answer is asked for again."""
    heard: list[tuple[type[Event], int]] = []

    async def twice() -> int:
        async with FaultServer([answer(SAID)]) as server:
            project(tmp_path, openai(server.url, **SETTINGS))
            await api.run(tmp_path / "s.yaml", "gpt", cache=True)
            with closing(sqlite3.connect(tmp_path / ".turnwise" / "cache.sqlite3")) as raw:
                raw.execute("UPDATE answers SET payload = x'00'")
                raw.commit()
            await api.run(tmp_path / "s.yaml", "gpt", cache=True, on_event=watch)
            return len(server.received)

    def watch(event: Event) -> None:
        heard.append((type(event), threading.get_ident()))

    assert asyncio.run(twice()) == 2
    assert [kind for kind, _ in heard if kind is not Begun] == [Started, Notice, ResultDone, Ended]
    assert {thread for _, thread in heard} == {threading.get_ident()}


@pytest.mark.parametrize("how", ["stop", "abort"])
def test_a_stop_ends_a_pause_behind_the_cache(tmp_path: Path, how: str) -> None:
    """What waits to be sent again is left for later at once, whoever waits for it."""
    busy = answer({}, 503, [("Retry-After", "50")])

    async def stopped() -> tuple[float, int]:
        from turnwise.engine.options import Execution, PlanOptions
        from turnwise.engine.session import begin

        loop = asyncio.get_running_loop()
        async with FaultServer([busy]) as server:
            project(tmp_path, openai(server.url, **SETTINGS), s=suite(2))
            options = PlanOptions(suites=(str(tmp_path / "s.yaml"),), targets=("gpt",))
            with begin(options, Execution(cache=True)) as session:
                runner = session.runner(lambda event: pausing.set() if isinstance(event, Retried) else None)
                pausing = asyncio.Event()
                running = asyncio.create_task(runner.run())
                await pausing.wait()
                before = loop.time()
                getattr(runner, how)()
                ended = await running
                return loop.time() - before, ended.left

    seconds, left = asyncio.run(stopped())
    assert left == 2
    assert seconds < 5.0
