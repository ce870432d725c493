"""The process that bounds checks: started when needed, replaced when ended, and closed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import perf_counter, sleep
from typing import Any

import pytest

from turnwise.graders.base import GradeError
from turnwise.graders.bounded import Worker, Workers, bounded


@pytest.fixture
def worker() -> Iterator[Worker]:
    """A worker of the test's own, closed after it."""
    worker = Worker()
    yield worker
    worker.close()


def job(pattern: str, text: str) -> dict[str, Any]:
    """A search."""
    return {"do": "search", "pattern": pattern, "text": text, "case_sensitive": True}


def process_id(worker: Worker) -> int | None:
    """The process that the worker has now."""
    return None if worker._process is None else worker._process.pid


def test_no_process_is_started_before_it_is_needed(worker: Worker) -> None:
    """A suite without patterns starts nothing, and closing it is no error."""
    assert process_id(worker) is None
    worker.close()
    assert process_id(worker) is None


def test_one_process_does_many_jobs(worker: Worker) -> None:
    """It is started once."""
    assert worker.call(job("b", "abc"), 5) == {"found": [1, 2, "b"]}
    first = process_id(worker)
    assert first is not None
    assert worker.call(job("z", "abc"), 5) == {"found": None}
    assert process_id(worker) == first


def test_a_job_without_end_costs_the_process_and_no_more(worker: Worker) -> None:
    """It is stopped in time, its process is gone, and the next job has another one."""
    assert isinstance(worker.call(job("a", "a"), 5), dict)
    started = perf_counter()
    stopped = worker.call(job("(a+)+$", "a" * 40 + "b"), 0.1)
    assert perf_counter() - started < 3
    assert isinstance(stopped, GradeError)
    assert stopped.kind == "timeout"
    assert process_id(worker) is None
    assert worker.call(job("a", "a"), 5) == {"found": [0, 1, "a"]}


def test_a_process_that_is_gone_is_an_error_and_replaced(worker: Worker) -> None:
    """Somebody else may end it; that says nothing about the answer."""
    worker.call(job("a", "a"), 5)
    assert worker._process is not None
    worker._process.kill()
    worker._process.wait()
    lost = worker.call(job("a", "a" * 90_000), 5)
    assert isinstance(lost, GradeError)
    assert lost.kind == "worker"
    assert worker.call(job("a", "a"), 5) == {"found": [0, 1, "a"]}


def test_many_threads_share_it(worker: Worker) -> None:
    """Each gets its own answer."""
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda number: worker.call(job(r"\d+", f"n{number}."), 10), range(50)))
    assert [answer["found"][2] for answer in answers if isinstance(answer, dict)] == [str(each) for each in range(50)]


def test_a_job_that_fails_says_why(worker: Worker) -> None:
    """The process lives on."""
    failed = worker.call(job("(", "a"), 5)
    assert isinstance(failed, GradeError)
    assert "unterminated" in failed.message
    assert process_id(worker) is not None


def test_a_closed_worker_can_be_used_again(worker: Worker) -> None:
    """Closing ends the process, not the worker."""
    worker.call(job("a", "a"), 5)
    process = worker._process
    assert process is not None
    worker.close()
    assert process.returncode is not None
    assert worker.call(job("a", "a"), 5) == {"found": [0, 1, "a"]}


def test_a_process_that_cannot_be_started_is_an_error(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is raised where no process may be started."""
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    failed = worker.call(job("a", "a"), 5)
    assert isinstance(failed, GradeError)
    assert failed.kind == "worker"
    assert "cannot be started" in failed.message


def test_a_slow_job_does_not_hold_up_the_others() -> None:
    """There are several workers; and a job that nobody waits for any more is not begun."""
    workers = Workers(2)
    try:
        with ThreadPoolExecutor(2) as threads:
            slow = threads.submit(workers.call, job("(a+)+$", "a" * 40 + "b"), 5)
            while workers._free.qsize() == 2:
                sleep(0.001)
            began = perf_counter()
            assert workers.call(job("b", "abc"), 5) == {"found": [1, 2, "b"]}
            assert perf_counter() - began < 4.5
            assert not slow.done()
            assert isinstance(slow.result(), GradeError)
        nobody = Event()
        nobody.set()
        assert isinstance(workers.call(job("b", "abc"), 5, nobody), GradeError)
    finally:
        workers.close()


def test_nobody_waits_for_a_job_at_the_end() -> None:
    """A check that is cancelled does not keep the program from ending: its thread is not joined."""

    async def cancelled() -> None:
        task = asyncio.ensure_future(bounded(job("(a+)+$", "a" * 40 + "b"), 6))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    began = perf_counter()
    asyncio.run(cancelled())
    assert perf_counter() - began < 5
