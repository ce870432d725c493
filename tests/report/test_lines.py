"""Watching a run in a log: few lines, each whole and harmless."""

from __future__ import annotations

import io
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from turnwise.engine.events import Begun, Ended, Event, Notice, ResultDone, Retried, Slowed, Started, Stopping
from turnwise.errors import RateLimitError
from turnwise.providers.retries import Retry
from turnwise.report.event_json import JsonWatcher
from turnwise.report.lines import LineWatcher, QuietWatcher, watcher
from turnwise.report.live import LiveWatcher

STARTED = Started("r1", Path("runs/r1"), 1000, 0, ("small", "large"), ("suite.yaml",), 8)
RETRIED = Retried("small", Retry(2, 4, 1.0, RateLimitError("busy")))
HARM = "a\x1b[2J\r\n\tb\u202ec"


class Clock:
    """Stands still until it is told."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """Says that a person is looking."""

    def isatty(self) -> bool:
        return True


class Closed(io.StringIO):
    """A pipe that nobody reads."""

    def write(self, text: str, /) -> int:
        raise BrokenPipeError("nobody reads")


def result(status: str = "passed", **fields: Any) -> ResultDone:
    error = {"kind": "timeout", "message": "no answer in 60 s"} if status == "error" else None
    grade = {"name": "exact", "passed": status == "passed", "reason": "expected 'Paris'"}
    record = {
        "case_id": "capital", "target": "small", "variant": None, "trial": 1, "status": status, "error": error,
        "grades": [grade], "score": 0.0, "threshold": 0.5, "attempts": 1, "cost_usd": 0.0, "paid": True,
    }  # fmt: skip
    return ResultDone({**record, **fields}, 0)


def lines_of(*events: Event, clock: Clock | None = None) -> list[str]:
    stream = io.StringIO()
    with LineWatcher(stream, clock or Clock()) as watch:
        for event in events:
            watch(event)
    return stream.getvalue().splitlines()


def test_no_text_of_others_reaches_the_log_unchecked() -> None:
    """Control characters in ids, names, reasons and notices are shown instead of obeyed."""
    grades = [{"name": HARM, "passed": False, "reason": HARM}]
    error = {"kind": "provider", "message": HARM}
    lines = lines_of(
        Started(HARM, Path(HARM), 2, 0, (HARM,), (HARM,), 8),
        result("failed", case_id=HARM, target=HARM, variant=HARM, grades=grades),
        result("error", case_id=HARM, error=error),
        Notice(HARM),
        Slowed(HARM, 1, 2),
        Ended(HARM, Path(HARM), 0, None, 1.0),
    )
    assert len(lines) == 6
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202e]", "".join(lines))


def test_a_run_begins_and_ends_with_a_line() -> None:
    """What is run against what; how long it took and what came of it."""
    end = Ended("r1", Path("runs/r1"), 0, None, 82.4)
    lines = lines_of(STARTED, result("failed", cost_usd=0.03), result("error"), result(), end)
    assert lines[0] == "run r1: 1,000 results, targets: small, large"
    assert lines[-1] == "run r1 ended after 1m22s: 3/1000 done, 1 failed, 1 error, $0.03"
    assert len(lines) == 4


def resumed(results: int, done: int) -> Started:
    return Started("r1", Path("runs/r1"), results, done, ("small",), ("suite.yaml",), 8)


def test_a_resumed_run_that_stops_early_says_both() -> None:
    """What was there before, and what is missing."""
    end = Ended("r1", Path("runs/r1"), 5, "interrupted", 3.0)
    lines = lines_of(resumed(10, 4), Stopping("interrupted", 2), result(), end)
    assert lines == [
        "run r1: 10 results (4 done before), targets: small",
        "finishing 2 in flight; press Ctrl-C again to stop now",
        "run r1 ended after 3s: 5/10 done (4 before), $0.00 now, 5 left, interrupted",
    ]


def test_a_resumed_run_tells_its_own_failures_from_those_before() -> None:
    """The total counts all results; what failed is of now."""
    failures = [result("failed", cost_usd=None, paid=False), result("error", cost_usd=None)]
    lines = lines_of(resumed(20, 18), *failures, Ended("r1", Path("runs/r1"), 0, None, 3.0))
    assert lines[-1] == "run r1 ended after 3s: 20/20 done (18 before), 1 failed now, 1 error now"


def test_resuming_a_finished_run_says_that_all_was_there() -> None:
    """Nothing was asked, and the line does not look as if it was."""
    lines = lines_of(resumed(20, 20), Ended("r1", Path("runs/r1"), 0, None, 0.2))
    assert lines[-1] == "run r1 ended after <1s: 20/20 done (all before)"


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (Stopping("budget", 12), "the budget is used up: finishing 12 in flight"),
        (Stopping("budget", 0), "the budget is used up: stopping"),
        (Stopping("fault", 1), "the run cannot go on: finishing 1 in flight"),
        (Stopping("interrupted", 0), "stopping"),
    ],
)
def test_stopping_says_why(event: Stopping, line: str) -> None:
    """A budget that is used up is not an interruption; with nothing in flight there is nothing to wait for."""
    assert lines_of(event) == [line]


def test_progress_is_told_every_ten_seconds_at_most() -> None:
    """However many results there are; the line says how far, how good, how fast, how long and how dear."""
    clock, stream = Clock(), io.StringIO()
    watch = LineWatcher(stream, clock)
    watch(STARTED)
    for _ in range(300):
        clock.now += 0.125
        watch(result(cost_usd=0.001))
    said = stream.getvalue().splitlines()[1:]
    assert [line.split(" ")[0] for line in said] == ["80/1000", "160/1000", "240/1000"]
    # 8 a second: in the second that has just begun there is one, in the nine before it 72 of nine seconds.
    assert said[0] == "80/1000 done, 8.1/s, 0 in flight, $0.08, ETA 1m53s"


def test_a_run_that_hangs_says_so() -> None:
    """Without a single event, every ten seconds; it says what is under way and what holds it up."""
    clock, stream = Clock(), io.StringIO()
    watch = LineWatcher(stream, clock)
    hanging: list[Event] = [Started("r1", Path("r1"), 5, 0, ("small",), ("s",), 8), *map(Begun, range(1, 6))]
    for event in hanging:
        watch(event)
    for clock.now in (9.9, 10.0, 10.1, 19.9, 20.0):
        watch.beat()
    long = Retried("small", Retry(3, 4, 60.0, RateLimitError("busy")))
    storm: list[Event] = [*[RETRIED] * 12, long, Slowed("small", 1, 8)]
    for event in storm:
        watch(event)
    clock.now = 30.0
    watch.beat()
    assert stream.getvalue().splitlines()[1:] == [
        "0/5 done, 5 in flight",
        "0/5 done, 5 in flight",
        "slowed: small is overrun; at most 1 of 8 requests at once for now",
        "0/5 done, 5 in flight, 13 retries, slowed: small 1 of 8 at once, resting before a retry: small 50s",
    ]


def test_nothing_is_said_before_the_start_or_after_the_end() -> None:
    """There is no progress to tell of."""
    clock, stream = Clock(), io.StringIO()
    watch = LineWatcher(stream, clock)
    clock.now = 100.0
    watch.beat()
    assert stream.getvalue() == ""
    watch(STARTED)
    watch(Ended("r1", Path("runs/r1"), 1000, "fault", 1.0))
    clock.now = 200.0
    watch.beat()
    assert len(stream.getvalue().splitlines()) == 2


class Awaited(io.StringIO):
    """Tells when it holds two lines."""

    def __init__(self) -> None:
        super().__init__()
        self.two = threading.Event()

    def flush(self) -> None:
        if self.getvalue().count("\n") >= 2:
            self.two.set()


def test_the_heart_beats_by_itself_and_stops() -> None:
    """A thread writes without any event; after the watcher is left, it is gone."""
    stream = Awaited()
    with LineWatcher(stream, seconds_between=0.01) as watch:
        watch(STARTED)
        assert stream.two.wait(5)
        assert "turnwise-heartbeat" in {each.name for each in threading.enumerate()}
    assert "turnwise-heartbeat" not in {each.name for each in threading.enumerate()}
    assert stream.getvalue().splitlines()[1] == "0/1000 done, 0 in flight"


def test_lines_of_two_threads_stay_whole() -> None:
    """However often the heart beats between events, no line runs into another."""
    stream = io.StringIO()
    with LineWatcher(stream, seconds_between=0.0005) as watch:
        watch(STARTED)
        for _ in range(500):
            watch(Notice("x" * 50))
    lines = stream.getvalue().splitlines()
    assert lines.count("note: " + "x" * 50) == 500
    assert {line for line in lines[1:] if not line.startswith("note")} <= {"0/1000 done, 0 in flight"}


def test_retries_are_not_told_one_by_one() -> None:
    """They are counted; a log is not the place for each."""
    assert lines_of(*[RETRIED] * 50) == []


def test_quiet_is_quiet_but_for_notices() -> None:
    """They may mean that data is lost."""
    stream = io.StringIO()
    with QuietWatcher(stream) as watch:
        for event in (STARTED, result("failed"), result("error"), RETRIED, Notice("the journal is damaged")):
            watch(event)
    assert stream.getvalue() == "note: the journal is damaged\n"


def watch_unread(kind: type[LineWatcher], reached: list[str], error: Exception | None = None) -> None:
    """Watch a run that says two things to nobody, and perhaps breaks."""
    with kind(Closed()) as watch:
        for message in ("one", "two"):
            watch(Notice(message))
            reached.append(message)
        if error is not None:
            raise error


@pytest.mark.parametrize("kind", [LineWatcher, QuietWatcher, JsonWatcher])
def test_a_run_outlives_its_reader(kind: type[LineWatcher]) -> None:
    """A broken pipe does not stop the results; it is raised when the run is over."""
    reached: list[str] = []
    with pytest.raises(BrokenPipeError):
        watch_unread(kind, reached)
    assert reached == ["one", "two"]


@pytest.mark.parametrize("kind", [LineWatcher, QuietWatcher, JsonWatcher])
def test_a_broken_pipe_hides_no_other_error(kind: type[LineWatcher]) -> None:
    """What went wrong with the run matters more than who was reading."""
    with pytest.raises(ZeroDivisionError):
        watch_unread(kind, [], ZeroDivisionError())


@pytest.mark.parametrize(
    ("kind", "err", "term", "chosen"),
    [
        ("auto", Terminal(), "xterm", LiveWatcher),
        ("auto", Terminal(), "dumb", LineWatcher),
        ("auto", Terminal(), "unknown", LineWatcher),
        ("auto", io.StringIO(), "xterm", LineWatcher),
        ("quiet", Terminal(), "xterm", QuietWatcher),
        ("json", Terminal(), "xterm", JsonWatcher),
    ],
)
def test_who_watches(kind: Any, err: io.StringIO, term: str, chosen: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """Live only for a person at a terminal that can do it."""
    monkeypatch.setenv("TERM", term)
    assert type(watcher(kind, out=io.StringIO(), err=err)) is chosen


@pytest.mark.parametrize(("kind", "most"), [(LineWatcher, 5e-6), (QuietWatcher, 5e-6), (LiveWatcher, 20e-6)])
def test_watching_costs_next_to_nothing(kind: type[LineWatcher], most: float) -> None:
    """A result that passed costs microseconds; the best of several rounds, as the machine has other work, too."""
    watch, event = kind(io.StringIO()), result()

    def seconds_each(times: int = 1000) -> float:
        begin = time.perf_counter()
        for _ in range(times):
            watch(event)
        return (time.perf_counter() - begin) / times

    assert min(seconds_each() for _ in range(20)) < most
