"""The scheduler: all the work is done once, in turns, within its bounds, and it stops when it is told to."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnwise.engine.scheduler import Lane, Scheduler
from virtual_time import run_at_once


class Watched:
    """Does pieces that take a moment; remembers what was done, and how much of it at once."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.started: list[tuple[str, int]] = []
        self.done: list[tuple[str, int]] = []
        self.at_once: Counter[str] = Counter()
        self.most: Counter[str] = Counter()

    async def __call__(self, lane: Lane[int], piece: int) -> None:
        self.started.append((lane.name, piece))
        for name in (lane.name, "all"):
            self.at_once[name] += 1
            self.most[name] = max(self.most[name], self.at_once[name])
        try:
            await asyncio.sleep(self.seconds)
            self.done.append((lane.name, piece))
        finally:
            for name in (lane.name, "all"):
                self.at_once[name] -= 1


def lanes(*sizes: tuple[int, int]) -> list[Lane[int]]:
    """Lanes named a, b, …, each of so many pieces and with such a bound."""
    return [Lane(chr(97 + n), iter(range(size)), most) for n, (size, most) in enumerate(sizes)]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 5)), max_size=4), st.integers(1, 6))
def test_all_is_done_once_within_the_bounds(sizes: list[tuple[int, int]], workers: int) -> None:
    """Whatever the bounds are: nothing is lost or done twice, and neither bound is ever exceeded."""
    work = Watched()
    asyncio.run(Scheduler(lanes(*sizes), work, workers=workers).run())
    expected = [(chr(97 + n), piece) for n, (size, _) in enumerate(sizes) for piece in range(size)]
    assert sorted(work.done) == expected
    assert work.most["all"] <= workers
    assert all(work.most[chr(97 + n)] <= most for n, (_, most) in enumerate(sizes))


def test_lanes_take_turns() -> None:
    """A long lane does not keep a short one waiting."""
    work = Watched()
    asyncio.run(Scheduler(lanes((100, 9), (3, 9)), work, workers=1).run())
    assert work.started[:6] == [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2), ("b", 2)]


def test_work_is_taken_only_when_it_can_be_started() -> None:
    """A plan of a million pieces is not held in memory."""
    taken = 0

    def pieces() -> Iterator[int]:
        nonlocal taken
        while taken < 1_000_000:
            taken += 1
            yield taken

    async def run() -> None:
        scheduler: Scheduler[int] = Scheduler([Lane("a", pieces(), 4)], Watched(0.01), workers=8)
        running = asyncio.create_task(scheduler.run())
        await asyncio.sleep(0.005)
        assert (taken, scheduler.in_flight) == (4, 4)
        scheduler.drain()
        await running

    asyncio.run(run())
    assert taken == 4


def test_draining_finishes_what_is_under_way() -> None:
    """Nothing is started any more, and nothing is broken off."""
    work = Watched(0.01)

    async def run() -> None:
        scheduler = Scheduler(lanes((50, 5)), work, workers=5)
        running = asyncio.create_task(scheduler.run())
        await asyncio.sleep(0.005)
        scheduler.drain()
        await running

    asyncio.run(run())
    assert work.done == work.started == [("a", piece) for piece in range(5)]


@pytest.mark.parametrize("way", ["abort", "cancel"])
def test_stopping_now_leaves_nothing_under_way(way: str) -> None:
    """Told to stop, or cancelled from outside: every piece has ended when `run` has."""
    work = Watched(60)

    async def run() -> None:
        scheduler = Scheduler(lanes((50, 5)), work, workers=5)
        running = asyncio.create_task(scheduler.run())
        await asyncio.sleep(0.005)
        if way == "abort":
            scheduler.abort()
            await running
        else:
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
        assert scheduler.in_flight == 0
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(run())
    assert (len(work.started), work.done, work.at_once["all"]) == (5, [], 0)


def test_a_fault_ends_everything_and_comes_out() -> None:
    """What `do` raises is no result: it must not be passed over."""

    async def do(lane: Lane[int], piece: int) -> None:
        await asyncio.sleep(0)
        if piece == 3:
            raise ZeroDivisionError("a fault")
        await asyncio.sleep(60)

    scheduler = Scheduler(lanes((50, 9)), do, workers=5)
    with pytest.raises(ZeroDivisionError):
        asyncio.run(scheduler.run())
    assert scheduler.in_flight == 0


def test_an_overrun_target_gets_less_and_then_more_again() -> None:
    """Half as many after a rate limit, however many say it at once; a quarter more after each round of good ones."""
    lane = Lane("a", iter(range(9)), 16)
    before = lane.generation
    for _ in range(16):
        lane.overrun(before)
    assert lane.allowed == 8
    lane.overrun(lane.generation)
    assert lane.allowed == 4
    for _ in range(4):
        lane.went_well()
    assert lane.allowed == 5
    lane.allowed = 12
    for _ in range(12):
        lane.went_well()
    assert lane.allowed == 15
    for _ in range(1000):
        lane.went_well()
    assert lane.allowed == 16
    for _ in range(10):
        lane.overrun(lane.generation)
    assert lane.allowed == 1


def test_less_at_once_holds_while_it_runs() -> None:
    """A lane that is cut to one goes on with one, while others go on as before."""
    work = Watched(0.001)
    first, second = lanes((8, 4), (8, 4))
    first.allowed = 1
    asyncio.run(Scheduler([first, second], work, workers=8).run())
    assert (work.most["a"], work.most["b"]) == (1, 4)
    assert len(work.done) == 16


def test_what_is_put_back_comes_before_what_is_new() -> None:
    """Also if the stream of work has ended meanwhile: the lane is not done before it."""
    lane = Lane("a", iter([1, 2]), 4)
    assert (lane.next(), lane.next(), lane.next(), lane.ended) == (1, 2, None, True)
    lane.put_back(1)
    assert (lane.ended, lane.next(), lane.next()) == (False, 1, None)


def test_a_piece_is_done_again_after_the_rest_of_its_lane() -> None:
    """A lane that rests starts nothing, the others go on, and the run waits for it although nothing is under way."""
    work = Watched()
    refused: list[int] = []

    async def do(lane: Lane[int], piece: int) -> None:
        if lane.name == "a" and not refused:
            refused.append(piece)
            lane.put_back(piece)
            scheduler.rest(lane, 30.0)
            scheduler.rest(lane, 9999.0)
            return
        await work(lane, piece)

    scheduler = Scheduler(lanes((2, 1), (2, 1)), do, workers=2)

    async def run() -> float:
        before = asyncio.get_running_loop().time()
        await scheduler.run()
        return asyncio.get_running_loop().time() - before

    assert run_at_once(run()) == pytest.approx(30.0, abs=0.1)
    assert work.done == [("b", 0), ("b", 1), ("a", 0), ("a", 1)]


def test_a_rest_does_not_keep_a_run_from_stopping() -> None:
    """Told to stop while everything rests, it stops at once, and no timer is left behind."""

    async def do(lane: Lane[int], piece: int) -> None:
        lane.put_back(piece)
        scheduler.rest(lane, 3600.0)

    scheduler = Scheduler(lanes((1, 1)), do, workers=1)

    async def run() -> float:
        loop = asyncio.get_running_loop()
        before = loop.time()
        loop.call_later(5.0, scheduler.drain)
        await scheduler.run()
        return loop.time() - before

    assert run_at_once(run()) == pytest.approx(5.0, abs=0.1)
    assert scheduler.draining


def test_nothing_starts_that_is_not_admitted() -> None:
    """Asked before each start with what is under way; a no is asked again when a piece has ended."""
    work, asked = Watched(1.0), []

    def admits(in_flight: int) -> bool:
        asked.append(in_flight)
        return in_flight < 2

    run_at_once(Scheduler(lanes((7, 5)), work, workers=5, admits=admits).run())
    assert (work.most["all"], len(work.done), max(asked)) == (2, 7, 2)


def test_a_stream_that_fails_lets_what_is_under_way_finish() -> None:
    """A dataset that breaks in the middle: the answers that are under way are not lost, and the fault comes out."""
    work = Watched(1.0)

    def pieces() -> Iterator[int]:
        yield from (0, 1)
        raise OSError("the dataset is gone")

    scheduler = Scheduler([Lane("a", pieces(), 4)], work, workers=4)
    with pytest.raises(OSError, match="gone"):
        run_at_once(scheduler.run())
    assert work.done == [("a", 0), ("a", 1)]


@pytest.mark.parametrize(("most", "workers"), [(0, 1), (1, 0)])
def test_there_must_be_room_for_one(most: int, workers: int) -> None:
    """Without room nothing would ever be done."""
    with pytest.raises(ValueError, match=r"one|worker"):
        Scheduler(lanes((1, most)), Watched(), workers=workers)


def test_a_piece_may_give_its_place_away() -> None:
    """The next one starts while it is finished; with such pieces there are never more than twice the workers."""
    asked: list[int] = []
    finished: list[int] = []
    most = 0

    async def do(lane: Lane[int], piece: int) -> None:
        nonlocal most
        asked.append(piece)
        await asyncio.sleep(0)
        scheduler.release(lane)
        scheduler.release(lane)  # a second time gives nothing away
        most = max(most, scheduler.in_flight)
        await asyncio.sleep(0.001)
        finished.append(piece)

    work = lanes((9, 2))
    scheduler = Scheduler(work, do, workers=2)
    asyncio.run(scheduler.run())
    assert (sorted(asked), sorted(finished)) == (list(range(9)), list(range(9)))
    assert 2 < most <= 4
    assert work[0].in_flight == 0
