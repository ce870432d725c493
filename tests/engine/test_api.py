"""`turnwise.run` and `turnwise.stream`: runs from Python."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import turnwise
from run_fixtures import Server, hello, journal, keys, mock, project, suite
from turnwise.engine.events import Begun, Ended, Event, ResultDone, Started
from turnwise.errors import RunError, UsageError
from turnwise.providers import ProviderRequest, ProviderResponse
from turnwise.targets.stand_ins import MockTarget


def latest(root: Path) -> Path:
    """The folder of the only run."""
    (folder,) = (root / ".turnwise" / "runs").iterdir()
    return folder


def test_a_run_says_what_came_of_it(tmp_path: Path) -> None:
    """Its verdict, its summary, and its results, each with what the journal has of it."""
    project(tmp_path, mock(script=[{"case": "c1", "response": "no"}]), s=suite(3))
    outcome = asyncio.run(turnwise.run(tmp_path / "s.yaml"))
    assert (outcome.passed, outcome.verdict.exit_code, outcome.left) == (False, 1, 0)
    assert outcome.summary.results == 3
    found = {each.case_id: each for each in outcome.results()}
    assert (found["c0"].status, found["c0"].score, found["c0"].answer) == ("passed", 1.0, "hello")
    assert (found["c1"].status, found["c1"].score, found["c1"].error) == ("failed", 0.0, None)
    assert [each["passed"] for each in found["c1"].grades] == [False]
    assert (found["c0"].suite, found["c0"].target, found["c0"].variant, found["c0"].trial) == (
        "s.yaml",
        "echo",
        None,
        1,
    )


def test_suites_and_targets_may_be_values(tmp_path: Path) -> None:
    """A loaded suite, a target that is in no file, and lists of them."""
    project(tmp_path, s=suite(1), t=suite(2))
    direct = MockTarget(name="mine", provider="mock", response="hello")
    loaded = turnwise.load_suite(tmp_path / "s.yaml")
    outcome = asyncio.run(turnwise.run([loaded, tmp_path / "t.yaml"], [direct, "mock/hello"]))
    assert (outcome.passed, outcome.summary.results) == (True, 6)
    assert {each["target"] for each in journal(outcome)} == {"mine", "mock/hello"}


def test_a_watcher_is_told_in_order(tmp_path: Path) -> None:
    """The start, every beginning and result, the end."""
    project(tmp_path, s=suite(2))
    events: list[Event] = []
    asyncio.run(turnwise.run(tmp_path / "s.yaml", on_event=events.append))
    assert [type(each) for each in events] == [Started, Begun, ResultDone, Begun, ResultDone, Ended]


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"wrokers": 3}, "unknown setting 'wrokers'"), ({"trials": 0}, "--trials"), ({"workers": -1}, "--workers")],
)
def test_a_setting_that_makes_no_sense_is_refused(tmp_path: Path, settings: dict[str, Any], said: str) -> None:
    """Before anything is written; a misspelt one with the nearest name."""
    project(tmp_path)
    with pytest.raises(UsageError, match=said) as caught:
        asyncio.run(turnwise.run(tmp_path / "s.yaml", **settings))
    assert caught.value.hint
    assert not (tmp_path / ".turnwise" / "runs").exists()


def test_a_run_of_nothing_is_refused() -> None:
    """There is no suite to run."""
    with pytest.raises(UsageError, match="no suite"):
        asyncio.run(turnwise.run())


def test_results_may_be_kept_elsewhere(tmp_path: Path) -> None:
    """`runs_dir` goes before the project's; the run is found there again."""
    project(tmp_path)
    outcome = asyncio.run(turnwise.run(tmp_path / "s.yaml", runs_dir=tmp_path / "elsewhere"))
    assert outcome.folder.parent == tmp_path / "elsewhere"
    again = asyncio.run(turnwise.run(resume=outcome.run_id, runs_dir=tmp_path / "elsewhere"))
    assert again.run_id == outcome.run_id


def test_a_stream_gives_every_result(tmp_path: Path) -> None:
    """As they come, each once; the run is whole afterwards."""
    project(tmp_path, s=suite(20))

    async def collect() -> list[str]:
        return [result.case_id async for result in turnwise.stream(tmp_path / "s.yaml", workers=4)]

    assert sorted(asyncio.run(collect())) == sorted(f"c{number}" for number in range(20))
    assert len(journal(latest(tmp_path))) == 20


def test_a_stream_that_is_closed_early_leaves_a_run_to_resume(tmp_path: Path) -> None:
    """The run stops, frees its lock, and what it has is kept."""
    project(tmp_path, s=suite(50))

    async def some() -> int:
        results = turnwise.stream(tmp_path / "s.yaml", workers=3)
        taken = 0
        async for _ in results:
            taken += 1
            if taken == 5:
                break
        await results.aclose()  # type: ignore[attr-defined]
        assert len(asyncio.all_tasks()) == 1
        return taken

    taken = asyncio.run(some())
    folder = latest(tmp_path)
    assert taken <= len(journal(folder)) < 50
    outcome = asyncio.run(turnwise.run(resume=folder))
    assert outcome.passed
    assert len(set(keys(journal(folder)))) == len(journal(folder)) == 50


def test_whoever_takes_results_slowly_slows_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more is asked than was taken, and what waits: one in hand, and for each worker a request and an answer."""

    async def quick(server: Server, request: ProviderRequest) -> ProviderResponse:
        return hello()

    server = Server(quick).install(monkeypatch)
    project(tmp_path, s=suite(100))

    async def slowly() -> None:
        taken = 0
        async for _ in turnwise.stream(tmp_path / "s.yaml", workers=4):
            taken += 1
            for _ in range(20):
                await asyncio.sleep(0)
            assert len(server.asked) <= taken + 1 + 2 * 4

    asyncio.run(slowly())
    assert len(server.asked) == 100


def test_a_stream_that_cannot_start_says_so(tmp_path: Path) -> None:
    """As `run` does."""
    project(tmp_path)

    async def collect() -> list[Any]:
        return [each async for each in turnwise.stream(tmp_path / "s.yaml", "nobody")]

    with pytest.raises(UsageError, match="nobody"):
        asyncio.run(collect())


def test_a_stream_whose_results_cannot_be_written_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not end as if that were all."""

    async def deleting(server: Server, request: ProviderRequest) -> ProviderResponse:
        (latest(tmp_path) / "results.jsonl").unlink(missing_ok=True)
        return hello()

    Server(deleting).install(monkeypatch)
    project(tmp_path, s=suite(5))

    async def collect() -> list[Any]:
        return [each async for each in turnwise.stream(tmp_path / "s.yaml", workers=1)]

    with pytest.raises(RunError, match="deleted"):
        asyncio.run(collect())


def test_a_run_whose_results_cannot_be_written_ends_as_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Watchers are told, and nothing more is asked."""

    async def deleting(server: Server, request: ProviderRequest) -> ProviderResponse:
        (latest(tmp_path) / "results.jsonl").unlink(missing_ok=True)
        return hello()

    server = Server(deleting).install(monkeypatch)
    project(tmp_path, s=suite(50))
    events: list[Event] = []
    with pytest.raises(RunError, match="deleted"):
        asyncio.run(turnwise.run(tmp_path / "s.yaml", workers=2, on_event=events.append))
    ended = events[-1]
    assert isinstance(ended, Ended)
    assert (ended.stopped, ended.left) == ("fault", 50)
    assert len(server.asked) <= 4


def test_a_run_that_is_cancelled_can_be_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stops at once, says how it ended, and leaves nothing under way."""

    async def slow(server: Server, request: ProviderRequest) -> ProviderResponse:
        await asyncio.sleep(0 if len(server.asked) <= 3 else 60)
        return hello()

    Server(slow).install(monkeypatch)
    project(tmp_path, s=suite(10))
    events: list[Event] = []

    async def cancelled() -> None:
        running = asyncio.create_task(turnwise.run(tmp_path / "s.yaml", workers=2, on_event=events.append))
        while len([each for each in events if isinstance(each, ResultDone)]) < 3:
            await asyncio.sleep(0.005)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(cancelled())
    ended = events[-1]
    assert isinstance(ended, Ended)
    assert (ended.left, ended.stopped) == (7, "interrupted")
    monkeypatch.undo()
    assert asyncio.run(turnwise.run(resume=latest(tmp_path))).passed
