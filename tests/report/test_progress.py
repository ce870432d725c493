"""How far a run is, by its events and a clock that the tests turn."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from turnwise.engine.events import Begun, Event, Notice, ResultDone, Retried, Slowed, Started, Stopping
from turnwise.errors import RateLimitError
from turnwise.providers.retries import Retry
from turnwise.report.progress import Progress, RecentRate
from turnwise.report.progress_text import cost_text, held_up_texts


class Clock:
    """Stands still until it is told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def started(results: int = 100, done: int = 0) -> Started:
    return Started("r1", Path("runs/r1"), results, done, ("model",), ("suite.yaml",), 8)


def result(status: str = "passed", *, in_flight: int = 0, **fields: Any) -> ResultDone:
    error = {"kind": "timeout", "message": "late", "status": None, "retryable": True} if status == "error" else None
    record = {"status": status, "error": error, "attempts": 1, "cost_usd": None, "paid": True}
    return ResultDone({**record, **fields}, in_flight)


def told(*events: Event, clock: Clock | None = None) -> Progress:
    progress = Progress(clock or Clock())
    for event in events:
        progress(event)
    return progress


def test_each_status_is_counted_on_its_own() -> None:
    """A failure is not an error, and an answer without a score is neither."""
    statuses = ["passed"] * 4 + ["failed"] * 3 + ["ungraded"] * 2 + ["error"]
    progress = told(started(), *(result(each) for each in statuses))
    assert (progress.passed, progress.failed, progress.ungraded, progress.errors) == (4, 3, 2, 1)
    assert (progress.done, progress.total, progress.left) == (10, 100, 90)


def test_retries_and_requests_under_way_are_counted() -> None:
    """How many are in flight is what the run said last: nothing at its start, and before that it is not known."""
    assert Progress().in_flight is None
    retry = Retried("model", Retry(2, 4, 1.0, RateLimitError("busy")))
    progress = told(started(), retry, retry)
    assert (progress.retries, progress.in_flight) == (2, 0)
    progress(Begun(8))
    assert progress.in_flight == 8
    progress(result(in_flight=7))
    assert progress.in_flight == 7
    progress(Stopping("interrupted", 5))
    assert (progress.in_flight, progress.stopping) == (5, "interrupted")


def test_a_notice_counts_nothing() -> None:
    """What is only for people leaves the figures alone."""
    progress = told(started(), Notice("the cache is full"))
    assert (progress.done, progress.retries, progress.slowed) == (0, 0, {})


def test_slow_downs_are_those_of_now() -> None:
    """A later one of the same target replaces the earlier; at full speed again, there is none."""
    progress = told(Slowed("a", 4, 8), Slowed("b", 1, 2), Slowed("a", 2, 8))
    assert progress.slowed == {"a": (2, 8), "b": (1, 2)}
    progress(Slowed("a", 8, 8))
    assert progress.slowed == {"b": (1, 2)}


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ([], ""),
        ([result(cost_usd=0.05), result(cost_usd=0.07)], "$0.12"),
        ([result(cost_usd=0.12), *[result()] * 3], "≥ $0.12, 3 unknown"),
        ([result(), result()], "cost unknown"),
        ([result(paid=False)], ""),
        ([result("error")], ""),
        ([result(attempts=0, cost_usd=0.0)], ""),
        ([result(attempts=0, cost_usd=5.0), result(cost_usd=1.0)], "$1.00"),
    ],
)
def test_the_cost_says_what_it_does_not_know(results: list[ResultDone], said: str) -> None:
    """Only answers of paid targets cost: neither errors, nor what came from the cache, nor a local model's."""
    assert cost_text(told(started(), *results)) == said


def test_answers_from_the_cache_are_counted() -> None:
    """No attempt and an answer: from the cache. No attempt and an error: nothing was sent."""
    progress = told(started(), result(attempts=0), result("error", attempts=0), result())
    assert progress.from_cache == 1


def test_the_overall_rate_is_of_the_whole_time() -> None:
    """Twenty results in forty seconds are half a result a second."""
    clock = Clock()
    progress = told(started(), *[result()] * 20, clock=clock)
    clock.now += 40
    assert progress.overall_rate == 0.5


def test_the_recent_rate_forgets() -> None:
    """What was done more than ten seconds ago does not count; what was done since does."""
    clock = Clock()
    progress = told(started(), *[result()] * 500, clock=clock)
    clock.now += 20.5
    assert progress.recent_rate == 0
    for _ in range(19):
        progress(result())
    assert progress.recent_rate == pytest.approx(19 / 9.5)


def test_a_rate_is_never_a_division_by_zero() -> None:
    """In the first instant there is no rate, rather than an endless one."""
    progress = told(started(), *[result()] * 5)
    assert (progress.overall_rate, progress.recent_rate, progress.eta) == (0, 0, None)


def test_nothing_is_foretold_from_two_results() -> None:
    """Three results are the least that an estimate rests on."""
    clock = Clock()
    progress = told(started(10), clock=clock)
    clock.now += 4
    progress(result())
    progress(result())
    assert (progress.pace, progress.eta) == (None, None)
    progress(result())
    assert progress.eta == pytest.approx(7 / (3 / 4))


def test_the_estimate_is_of_what_is_left_at_the_present_pace() -> None:
    """A slow start does not count when the last seconds are fast."""
    clock = Clock()
    progress = told(started(1000), *[result()] * 10, clock=clock)
    clock.now += 100.5
    for _ in range(95):
        progress(result())
    assert progress.eta == pytest.approx((1000 - 105) / (95 / 9.5))


def test_a_quiet_spell_goes_by_the_whole_time() -> None:
    """Where the last seconds brought too little to judge by, all results do."""
    clock = Clock()
    progress = told(started(30), *[result()] * 10, clock=clock)
    clock.now += 25
    assert progress.eta == pytest.approx(20 / (10 / 25))


def test_nothing_is_foretold_while_nothing_comes() -> None:
    """After thirty seconds without a result there is no pace and no end in sight, until the next one."""
    clock = Clock()
    progress = told(started(30), clock=clock)
    clock.now += 10
    for _ in range(10):
        progress(result())
    clock.now += 29.9
    assert progress.eta == pytest.approx(20 / (10 / 39.9))
    clock.now += 0.1
    assert [progress.pace, progress.eta] == [None, None]
    progress(result())
    assert progress.eta == pytest.approx(19 / (11 / 40))


def test_a_target_rests_until_its_last_retry() -> None:
    """The longest of the waits counts, less what has passed of it; then it is over."""
    clock = Clock()
    retries = [Retried("model", Retry(2, 4, delay, RateLimitError("busy"))) for delay in (5.0, 20.0, 1.0)]
    progress = told(started(), *retries, clock=clock)
    clock.now += 8
    assert progress.resting == {"model": 12.0}
    assert list(held_up_texts(progress)) == ["resting before a retry: model 12s"]
    clock.now += 12
    assert progress.resting == {}


def test_the_run_has_a_name_from_its_start() -> None:
    """Before that there is none."""
    assert Progress().run_id is None
    assert told(started()).run_id == "r1"


def test_what_was_done_before_makes_no_run_faster() -> None:
    """A resumed run starts with its results; its rate and its estimate are of the new ones."""
    clock = Clock()
    progress = told(started(100, done=60), clock=clock)
    assert (progress.done, progress.left, progress.overall_rate) == (60, 40, 0)
    clock.now += 5
    for _ in range(10):
        progress(result())
    assert (progress.done, progress.overall_rate) == (70, 2.0)
    assert progress.eta == pytest.approx(30 / 2.0)


def test_no_estimate_when_stopping_or_done() -> None:
    """There is nothing to wait for, or it is not known how long."""
    clock = Clock()
    progress = told(started(5), *[result()] * 4, clock=clock)
    clock.now += 2
    assert progress.eta is not None
    progress(Stopping("budget", 1))
    assert progress.eta is None
    progress = told(started(3), *[result()] * 3, clock=clock)
    clock.now += 2
    assert progress.eta is None


def test_the_clock_starts_with_the_run() -> None:
    """What happens between making the watcher and starting the run does not slow it down."""
    clock = Clock()
    progress = Progress(clock)
    clock.now += 60
    progress(started())
    clock.now += 2
    assert progress.elapsed == 2


def test_a_rate_can_be_read_while_it_is_counted() -> None:
    """The display reads in a thread of its own; neither waits for the other, and neither breaks."""
    recent, over = RecentRate(), threading.Event()
    faults: list[Exception] = []

    def read() -> None:
        try:
            while not over.is_set():
                recent.rate(30.0)
        except Exception as error:  # noqa: BLE001
            faults.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for step in range(20_000):
        recent.add(step / 600)
    over.set()
    reader.join()
    assert faults == []
    assert recent.count(20_000 / 600) == 20_000 - 600 * 24
