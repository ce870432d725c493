"""Doing many things at once, within bounds: one for all, one for each target, and less where a target is overrun.

Knows nothing of cases: a lane is a name, a stream of pieces of work and a bound, and what is done with a piece is the
caller's business. Pieces are taken from their streams only when they can be started, so memory does not grow with the
plan.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

__all__ = ["Lane", "Scheduler"]

Work = TypeVar("Work")


@dataclass
class Lane(Generic[Work]):
    """The work for one target. `most` is how many pieces may be under way; `allowed` adapts, and is never above it."""

    name: str
    work: Iterator[Work]
    most: int
    allowed: int = field(init=False)
    in_flight: int = field(default=0, init=False)
    ended: bool = field(default=False, init=False)
    resting: bool = field(default=False, init=False)
    _returned: deque[Work] = field(default_factory=deque, init=False)
    _calm: int = field(default=0, init=False)
    _generation: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.most < 1:
            raise ValueError("a lane needs room for one")
        self.allowed = self.most

    @property
    def has_room(self) -> bool:
        """Whether another piece may be started now."""
        return not self.ended and not self.resting and self.in_flight < self.allowed

    def next(self) -> Work | None:
        """The next piece, those that were put back first; None if there is none at the moment."""
        if self._returned:
            return self._returned.popleft()
        piece = next(self.work, None)
        self.ended = piece is None
        return piece

    def put_back(self, piece: Work) -> None:
        """A piece that is to be started again later."""
        self._returned.append(piece)
        self.ended = False

    @property
    def generation(self) -> int:
        """Which cut of `allowed` is the latest: a piece that was started before it tells nothing new."""
        return self._generation

    def overrun(self, generation: int) -> None:
        """The target had too many at once: half as many from now on. Pieces of before the last cut do not cut again."""
        self._calm = 0
        if generation == self._generation:
            self.allowed = max(1, self.allowed // 2)
            self._generation += 1

    def went_well(self) -> None:
        """A quarter more, and at least one, may go at once after as many good ones as are allowed now."""
        self._calm += 1
        if self._calm >= self.allowed:
            self._calm = 0
            self.allowed = min(self.most, self.allowed + max(1, self.allowed // 4))


class Scheduler(Generic[Work]):
    """Runs the work of all lanes, in turns, with at most `workers` pieces under way.

    `do` must not raise for what becomes of a piece: an exception is a fault, ends everything, and comes out of `run`.
    A stream of work that fails is a fault, too, but what is under way is done first. `admits` is asked before each
    start, with the number of pieces under way: while it says no, nothing starts.

    A piece that has what it waited for may `release` its place to the next one, and be finished beside it. With those,
    there are never more pieces than twice `workers`.
    """

    def __init__(
        self,
        lanes: Sequence[Lane[Work]],
        do: Callable[[Lane[Work], Work], Awaitable[None]],
        *,
        workers: int,
        admits: Callable[[int], bool] | None = None,
    ) -> None:
        if workers < 1:
            raise ValueError("there must be a worker")
        self.lanes = list(lanes)
        self._do = do
        self._workers = workers
        self._admits = admits
        self._tasks: set[asyncio.Task[None]] = set()
        self._released: set[asyncio.Task[None]] = set()
        self._turn = 0
        self._draining = False
        self._naps: set[asyncio.TimerHandle] = set()
        self._over: asyncio.Event | None = None
        self._fault: BaseException | None = None

    @property
    def in_flight(self) -> int:
        """How many pieces are under way."""
        return len(self._tasks)

    def drain(self) -> None:
        """Start nothing more; `run` returns when what is under way is done."""
        self._draining = True
        self._advance()

    def abort(self) -> None:
        """Stop what is under way, too."""
        self.drain()
        for task in self._tasks:
            task.cancel()

    @property
    def draining(self) -> bool:
        """Whether nothing more is started."""
        return self._draining

    def release(self, lane: Lane[Work]) -> None:
        """Let another piece start in the place of the one that calls this."""
        task = asyncio.current_task()
        if task in self._tasks and task not in self._released:
            self._released.add(task)
            lane.in_flight -= 1
            self._advance()

    def rest(self, lane: Lane[Work], seconds: float) -> None:
        """Start nothing of a lane for so long."""
        if lane.resting:
            return
        lane.resting = True

        def wake() -> None:
            self._naps.discard(nap)
            lane.resting = False
            self._advance()

        nap = asyncio.get_running_loop().call_later(seconds, wake)
        self._naps.add(nap)

    async def run(self) -> None:
        """Do all the work, or what `drain` and `abort` leave of it. Cancelled, it leaves nothing under way."""
        self._over = asyncio.Event()
        try:
            self._advance()
            await self._over.wait()
        finally:
            self._over.set()  # cancelled: what ends now makes room for nothing
            for nap in self._naps:
                nap.cancel()
            await self._stop_all()
        if self._fault is not None:
            raise self._fault

    def _start_next(self) -> bool:
        """Start a piece of the lane that has the fewest under way, in turns among equals; whether there was one.

        So a lane whose pieces take long, or never end, keeps no more than its share from the others.
        """
        count, turn = len(self.lanes), self._turn
        places = range(count) if count == 1 else sorted(range(count), key=lambda place: self._rank(place, turn))
        for place in places:
            lane = self.lanes[place]
            if not lane.has_room:
                continue
            piece = lane.next()
            if piece is None:
                continue
            self._turn = (place + 1) % count
            self._start(lane, piece)
            return True
        return False

    def _rank(self, place: int, turn: int) -> tuple[int, int]:
        return self.lanes[place].in_flight, (place - turn) % len(self.lanes)

    def _start(self, lane: Lane[Work], piece: Work) -> None:
        lane.in_flight += 1
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(self._do_one(lane, piece))
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._finished(lane, done))

    async def _do_one(self, lane: Lane[Work], piece: Work) -> None:
        await self._do(lane, piece)

    def _finished(self, lane: Lane[Work], task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task in self._released:
            self._released.discard(task)
        else:
            lane.in_flight -= 1
        if not task.cancelled() and (error := task.exception()) is not None and self._fault is None:
            self._fault = error
            self.abort()
        self._advance()

    def _has_place(self) -> bool:
        tasks = len(self._tasks)
        return tasks - len(self._released) < self._workers and tasks < 2 * self._workers

    def _admitted(self) -> bool:
        return self._admits is None or self._admits(len(self._tasks))

    def _advance(self) -> None:
        """Start what may be started, at once where something has ended; and end the run where nothing is left."""
        if self._over is None or self._over.is_set():
            return
        try:
            while not self._draining and self._has_place() and self._admitted():
                if not self._start_next():
                    break
        except Exception as fault:  # noqa: BLE001  (it comes out of `run`, when what is under way is done)
            self._fault = self._fault or fault
            self._draining = True
        if not self._tasks and (self._draining or not self._naps):
            self._over.set()

    async def _stop_all(self) -> None:
        for task in self._tasks:
            task.cancel()
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await asyncio.sleep(0)  # the callbacks that take them out run after them
