"""The scheduler where something goes wrong: a fault comes out of it, nothing hangs, and no lane takes all the room."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from turnwise.engine.scheduler import Lane, Scheduler
from virtual_time import run_at_once

_LONG = 1_000.0


async def nothing(lane: Lane[int], piece: int) -> None:
    """Done at once."""
    await asyncio.sleep(0)


async def within(scheduler: Scheduler[int]) -> None:
    """Run it; a run that hangs fails."""
    await asyncio.wait_for(scheduler.run(), _LONG)


@pytest.mark.parametrize("after", [0, 3])
def test_a_fault_of_the_budget_comes_out_of_run(after: int) -> None:
    """At the first start or at a later one: it is raised, and what was under way is done."""
    asked = 0

    def admits(in_flight: int) -> bool:
        nonlocal asked
        asked += 1
        if asked > after:
            raise ArithmeticError("no such budget")
        return True

    scheduler = Scheduler([Lane("a", iter(range(9)), 9)], nothing, workers=1, admits=admits)
    with pytest.raises(ArithmeticError, match="no such budget"):
        run_at_once(within(scheduler))
    assert scheduler.in_flight == 0
    assert asked == after + 1


@pytest.mark.parametrize("after", [0, 3])
def test_a_fault_of_a_stream_comes_out_of_run(after: int) -> None:
    """Whether the first piece cannot be read or a later one, and however many other lanes there are."""

    def pieces() -> Iterator[int]:
        yield from range(after)
        raise LookupError("the dataset is gone")

    done: list[str] = []

    async def do(lane: Lane[int], piece: int) -> None:
        await asyncio.sleep(1)
        done.append(lane.name)

    lanes = [Lane("broken", pieces(), 2), Lane("fine", iter(range(100)), 2)]
    with pytest.raises(LookupError, match="the dataset is gone"):
        run_at_once(within(Scheduler(lanes, do, workers=4)))
    assert done.count("broken") == after
    assert done.count("fine") < 100


def test_a_lane_that_hangs_keeps_its_share_and_no_more() -> None:
    """Of four workers two wait for ever, and the other lane has the other two until all of it is done."""
    lanes = [Lane("hangs", iter(range(20)), 4), Lane("works", iter(range(20)), 4)]
    hanging = done = 0

    async def do(lane: Lane[int], piece: int) -> None:
        nonlocal hanging, done
        if lane.name == "hangs":
            hanging += 1
            await asyncio.sleep(_LONG)
            return
        await asyncio.sleep(1)
        done += 1
        if done == 20:
            scheduler.abort()

    async def main() -> float:
        loop = asyncio.get_running_loop()
        before = loop.time()
        await within(scheduler)
        return loop.time() - before

    scheduler = Scheduler(lanes, do, workers=4)
    assert run_at_once(main()) == pytest.approx(10.0)
    assert done == 20
    # Room that nobody else wants is for the lane that hangs, too, but only at the end.
    assert hanging <= 3


def test_a_cancelled_run_starts_nothing_more() -> None:
    """What ends because it is cancelled makes room for nothing."""
    started: list[int] = []

    async def do(lane: Lane[int], piece: int) -> None:
        started.append(piece)
        await asyncio.sleep(1)

    async def main() -> Scheduler[int]:
        scheduler = Scheduler([Lane("a", iter(range(100)), 4)], do, workers=4)
        running = asyncio.create_task(scheduler.run())
        await asyncio.sleep(1.5)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await asyncio.sleep(5)
        return scheduler

    scheduler = run_at_once(main())
    assert started == list(range(8))
    assert scheduler.in_flight == 0
