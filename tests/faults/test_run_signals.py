"""Signals: the first lets what is under way finish, the second does not; the journal can be resumed from always."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fault_server import Fault, FaultServer, Received, answer, serving
from faults.runs import Running, done_once, good, journal, make_project, run_folder, started, word_of, words

WORKERS = 4
HANGS = Fault([], then="hang")
WAITS_A_MINUTE = answer({}, 429, [("Retry-After", "60")])
SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


def _run(root: Path, *options: str) -> tuple[str, ...]:
    return ("suite.yaml", "--target", "model", "--workers", str(WORKERS), *options)


def _received(server: FaultServer, count: int) -> None:
    """Wait until the server has got so many requests; bounded."""
    _wait_for(lambda: len(server.received) >= count)


def _wait_for(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it has not happened in time"
        time.sleep(0.005)


def _seconds_to_end(running: Running) -> tuple[int, float]:
    began = time.monotonic()
    return running.end(), time.monotonic() - began


def _resumed_is_whole(root: Path, cases: int) -> None:
    with started(root, "--resume", run_folder(root).name, "--json") as running:
        assert running.end() == 0
    assert done_once(journal(root)) == words(cases)


@SIGNALS
def test_one_signal_finishes_what_is_under_way(tmp_path: Path, number: signal.Signals) -> None:
    """Nothing more is asked, every request that was sent is a result, and the message says how to go on."""
    with serving(good, delay=0.05) as server:
        root = make_project(tmp_path / "project", server.url, 80)
        with started(root, *_run(root, "--json")) as running:
            running.until_results(8)
            running.signal(number)
            stopping = running.until(lambda event: event["event"] == "stopping")
            asked = len(server.received)
            assert running.end() == 130
        assert stopping["reason"] == "interrupted"
        assert asked <= len(server.received) <= asked + WORKERS
        assert len(journal(root)) == len(running.results) == len(server.received) < 80
        assert f"turnwise run --resume {run_folder(root).name}" in running.stderr
        _resumed_is_whole(root, 80)
        assert len(server.received) == 80


@SIGNALS
def test_two_signals_end_at_once(tmp_path: Path, number: signal.Signals) -> None:
    """What hangs is not waited for: it is no result, and what was done before is kept."""
    hang = [True]

    def reply(request: Received) -> Fault | bytes:
        return HANGS if hang[0] and word_of(request) >= "w00020" else good(request)

    with serving(reply) as server:
        root = make_project(tmp_path / "project", server.url, 60)
        with started(root, *_run(root, "--json")) as running:
            running.until_results(20)
            _received(server, 20 + WORKERS)
            running.signal(number)
            running.until(lambda event: event["event"] == "stopping")
            running.signal(number)
            code, seconds = _seconds_to_end(running)
        assert code == 130
        assert seconds < 2
        assert done_once(journal(root)) == words(20)
        hang[0] = False
        _resumed_is_whole(root, 60)


@pytest.mark.parametrize(("workers", "unlimited", "option"), [(1, 10, "--json"), (8, 0, "--json"), (1, 10, "--cache")])
def test_a_pause_before_a_retry_is_not_waited_for(tmp_path: Path, workers: int, unlimited: int, option: str) -> None:
    """A run whose requests all wait a minute for a rate limit ends soon after one signal."""
    limited = [True]

    def reply(request: Received) -> Fault | bytes:
        return WAITS_A_MINUTE if limited[0] and word_of(request) not in words(unlimited) else good(request)

    with serving(reply) as server:
        root = make_project(tmp_path / "project", server.url, 30)
        options = ("--workers", str(workers), "--json", option)
        with started(root, "suite.yaml", "--target", "model", *options) as running:
            running.until(lambda event: event["event"] == "retry")
            time.sleep(0.1)
            running.signal(signal.SIGINT)
            code, seconds = _seconds_to_end(running)
        assert code == 130
        assert seconds < 2
        assert done_once(journal(root)) == words(unlimited)
        limited[0] = False
        _resumed_is_whole(root, 30)


def test_a_signal_while_the_run_is_planned(tmp_path: Path) -> None:
    """Before anything is asked, it ends the command with its exit code and a word, and nothing is asked."""
    with serving(good) as server:
        root = make_project(tmp_path / "project", server.url, 50_000)
        with started(root, *_run(root)) as running:
            _wait_for(lambda: _is_reading(running.process.pid, root / "cases.jsonl"))
            running.signal(signal.SIGINT)
            assert running.end() == 130
        assert "interrupted" in running.stderr
        assert not server.received


def _is_reading(pid: int, path: Path) -> bool:
    try:
        return any(each.resolve() == path for each in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False  # a descriptor that was closed meanwhile


@SIGNALS
def test_a_signal_while_the_program_starts(tmp_path: Path, number: signal.Signals) -> None:
    """Whenever a signal comes once the program is loaded, it ends without a traceback, and leaves a valid journal."""
    with serving(good, delay=0.01) as server:
        root = make_project(tmp_path / "project", server.url, 300)
        for step in range(7):
            with started(root, *_run(root)) as running:
                _wait_for(lambda pid=running.process.pid: _has_loaded(pid, "pydantic_core"))  # type: ignore[misc]
                time.sleep(step * 0.06)
                running.signal(number)
                assert running.end() in (130, -number)
    for path in (root / ".turnwise").glob("runs/*/results.jsonl"):
        assert all(json.loads(line)["status"] == "passed" for line in path.read_bytes().splitlines())


def _has_loaded(pid: int, library: str) -> bool:
    try:
        return library in Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return True  # it has ended


def test_a_run_that_was_held_goes_on(tmp_path: Path) -> None:
    """Stopped for two seconds by the machine, every result is good, and no clock is confused."""
    with serving(good, delay=0.02) as server:
        root = make_project(tmp_path / "project", server.url, 100, timeout=10)
        with started(root, *_run(root, "--json")) as running:
            running.until_results(10)
            running.signal(signal.SIGSTOP)
            time.sleep(2)
            running.signal(signal.SIGCONT)
            assert running.end() == 0
    records = journal(root)
    assert done_once(records) == words(100)
    assert len(server.received) == 100
    assert all(record["finished_at"] >= record["started_at"] for record in records)


def test_the_second_signal_is_told_of(tmp_path: Path) -> None:
    """A person who has pressed Ctrl-C once reads that a second time stops at once, and how many are awaited."""
    with serving(good, delay=0.3) as server:
        root = make_project(tmp_path / "project", server.url, 40)
        with started(root, *_run(root)) as running:
            _received(server, WORKERS + 1)
            running.signal(signal.SIGINT)
            assert running.end() == 130
    assert re.search(r"finishing \d in flight; press Ctrl-C again to stop now", running.stderr)


def test_a_turn_that_has_not_come_is_not_waited_for(tmp_path: Path) -> None:
    """Requests that wait for their turn, as the target allows few a minute, were not sent: one signal ends them."""
    with serving(good) as server:
        root = make_project(tmp_path / "project", server.url, 30, requests_per_minute=6)
        with started(root, *_run(root, "--json")) as running:
            running.until_results(1)
            time.sleep(0.1)
            running.signal(signal.SIGINT)
            assert running.process.wait(2) == 130
        assert len(journal(root)) == len(server.received)


def test_a_target_that_rests_is_not_waited_for(tmp_path: Path) -> None:
    """Cases that were put back because of a rate limit are left for later: one signal ends the run, without results."""
    limited = [True]

    def reply(request: Received) -> Fault | bytes:
        return answer({}, 429) if limited[0] else good(request)

    with serving(reply) as server:
        root = make_project(tmp_path / "project", server.url, 30, max_retries=0)
        with started(root, *_run(root, "--json")) as running:
            running.until(lambda event: event["event"] == "slowed")
            time.sleep(0.1)
            running.signal(signal.SIGINT)
            code, seconds = _seconds_to_end(running)
        assert code == 130
        assert seconds < 2
        assert journal(root) == []
        limited[0] = False
        _resumed_is_whole(root, 30)


def test_many_signals_are_no_fault(tmp_path: Path) -> None:
    """Somebody who does not let go of Ctrl-C gets the exit code of an interruption, and a journal that is valid."""
    with serving(good, delay=0.05) as server:
        root = make_project(tmp_path / "project", server.url, 200)
        with started(root, *_run(root, "--json")) as running:
            running.until_results(4)
            for step in range(2000):
                if running.process.poll() is not None:
                    break
                running.signal((signal.SIGINT, signal.SIGTERM)[step % 2])
                time.sleep(0.001)
            code, seconds = _seconds_to_end(running)
        assert code == 130
        assert seconds < 2
        assert len(done_once(journal(root))) >= 4
