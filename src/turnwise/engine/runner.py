"""Carrying out a plan: every piece of work asked, graded, written down and told, until all is done or enough."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..errors import ApplicationError, ProviderError, RateLimitError
from ..providers.agents.opening import AGENTS
from ..providers.prices import is_paid
from .asking import Asking
from .budget import Budget
from .clock import RunClock
from .cut_short import cut_short
from .doing import Doing
from .events import Begun, Ended, Notice, ResultDone, Retried, Slowed, Started, Stopping
from .journal import JournalWriter
from .judge_asking import is_judging
from .judge_costs import count_judging, count_result
from .judges import JudgeBook
from .record import error_record
from .result_keys import Done
from .retry_budget import RetryBudget
from .run_folder import RESULTS
from .scheduler import Lane, Scheduler
from .spending import count_record

if TYPE_CHECKING:
    from ..providers.retries import Retry
    from .events import Observer, StopReason
    from .options import Execution
    from .planned_targets import PlannedTarget
    from .run_folder import RunFolder
    from .talk import Exchange
    from .workload import Piece, Workload

__all__ = ["DEFAULT_WORKERS", "Runner", "workers_for"]

DEFAULT_WORKERS = 16
_AGENT_WORKERS = 4
_BATCH_WORKERS = 1000
AGENT_LOGS = "agents"
"""The folder, in that of a run, for what agents write."""
_OVERRUN = (429, 503, 529)
_FIRST_REST, _LONGEST_REST = 5.0, 60.0
_PATIENCE = 600.0
_MOST_RETURNS = 10

Taker = Callable[[Mapping[str, Any]], Awaitable[None]]


@dataclass
class _Health:
    """How a target does: retries it may still have, and for how long it has given nothing but rate limits."""

    retries: RetryBudget
    rests: int = 0
    refused_since: float | None = None
    out_of_retries: bool = field(default=False)


class Runner:
    """Carries a plan out, once. `observe` is told what happens; `take` is awaited with each result, so that whoever
    takes them slowly slows the run down instead of filling the memory.

    `stop` finishes what is under way, `abort` does not; both leave a journal that the run can be resumed from.
    """

    def __init__(
        self,
        plan: Workload,
        folder: RunFolder,
        execution: Execution,
        *,
        observe: Observer,
        done: Done | None = None,
        budget: Budget | None = None,
        take: Taker | None = None,
        judges: JudgeBook | None = None,
    ) -> None:
        self._plan = plan
        self._judges = judges or JudgeBook()
        self._folder = folder
        self._execution = execution
        self._observe = observe
        self._done = done or Done()
        self._budget = budget
        self._take = take
        self._clock = RunClock()
        self._left = plan.results - len(self._done)
        self._stopped: StopReason | None = None
        self._lanes = [self._lane(target) for target in plan.targets]
        self._health = {id(lane): _Health(RetryBudget(lane.most)) for lane in self._lanes}
        self._scheduler: Scheduler[Piece] = Scheduler(
            self._lanes, self._do, workers=self.workers, admits=None if budget is None else self._admits
        )
        self._under_way = 0
        # Until when each task waits to send again, and after what. Some belong to the cache: it ends them in its time.
        self._pauses: WeakKeyDictionary[asyncio.Task[Any], tuple[float, ProviderError]] = WeakKeyDictionary()
        self._sent_again_at: dict[int, float] = {}  # by the id of a piece under way
        self._notices: set[str] = set()
        self._asking: Asking | None = None
        self._piece: ContextVar[tuple[Lane[Piece], int, Piece]] = ContextVar("piece")

    @property
    def workers(self) -> int:
        """How many requests may be under way at once."""
        return workers_for(self._plan, self._execution)

    async def run(self) -> Ended:
        """Do what is left. Raises `RunError` if results cannot be written, `SuiteError` if a dataset has changed."""
        plan, folder = self._plan, self._folder
        targets = tuple(dict.fromkeys(target.name for target in plan.targets))
        suites = tuple(plan.names)
        self._observe(Started(folder.id, folder.path, plan.results, len(self._done), targets, suites, self.workers))
        try:
            await self._carry_out()
        except asyncio.CancelledError:
            self._stopped = self._stopped or "interrupted"
            raise
        except Exception:
            self._stopped = "fault"
            raise
        finally:
            self._settle()
            ended = Ended(folder.id, folder.path, self._left, self._stopped, self._clock.seconds)
            self._observe(ended)
        return ended

    async def _carry_out(self) -> None:
        plan, execution = self._plan, self._execution
        notice = self._notice_from(asyncio.get_running_loop())
        async with Asking(
            plan,
            cache=execution.cache is True,
            on_retry=self._on_retry,
            notice=notice,
            judges=self._judges.targets,
            logs=self._folder.path / AGENT_LOGS,
        ) as self._asking:
            for name in self._asking.unpriced:
                self._notice(f"{name}: no price is known, so its cost is not counted; give the target `prices`")
            with self._open_journal() as self._journal:
                self._doing = Doing(
                    self._folder.id,
                    self._asking,
                    self._clock,
                    timeout=execution.timeout,
                    files=plan.files,
                    sent=self._sent,
                    took=self._took,
                )
                with self._judges.asked_through(self._asking, execution.workers or DEFAULT_WORKERS):
                    await self._scheduler.run()

    def _open_journal(self) -> JournalWriter:
        targets = (*self._plan.targets, *self._judges.targets)
        secrets = {each for target in targets for found in target.resolved.values() for each in found.secrets}
        path, durable = self._folder.path / RESULTS, self._execution.durable
        return JournalWriter(path, durable=durable, notice=self._notice, secrets=secrets)

    def stop(self) -> None:
        """Start nothing more, and finish what is under way; what waits to be sent again is left for later, and ends
        with an error where something is there already: an answer to grade, or a part of a conversation."""
        now = asyncio.get_running_loop().time()
        idle: dict[asyncio.Task[Any], ProviderError | None] = {
            task: error for task, (until, error) in self._pauses.items() if until > now
        }
        idle |= dict.fromkeys(self._asking.waiting if self._asking is not None else ())
        self._drain("interrupted", len(idle))
        for task, error in idle.items():
            cut_short(task, error)

    def abort(self) -> None:
        """Stop at once: what is under way is not written, and is done again when the run is resumed."""
        self._stopped = "interrupted"
        self._scheduler.abort()

    def _lane(self, target: PlannedTarget) -> Lane[Piece]:
        own: Any = target.resolved[None].target.workers
        return Lane(target.name, self._work(target), own or self._execution.workers or _usual_workers(target))

    def _work(self, target: PlannedTarget) -> Iterator[Piece]:
        done = self._done
        return (work for work in self._plan.work(target) if not done or work.key not in done)

    async def _do(self, lane: Lane[Piece], work: Piece) -> None:
        generation = lane.generation
        self._piece.set((lane, generation, work))
        self._under_way += 1
        work.tried, work.is_answered, work.trouble = 0, False, None
        self._observe(Begun(self._under_way))
        try:
            record, error = await self._doing.do(work, lambda: self._answered(lane, work))
        finally:
            self._under_way -= not work.is_answered
            self._sent_again_at.pop(id(work), None)
        if error is not None and self._put_back(lane, generation, work, error):
            return
        if error is None:
            self._went_well(lane)
        record = self._written(record)
        self._left -= 1
        if self._budget is not None and (hasattr(work, "as_recorded") or record.get("live")):
            count_judging(self._budget, record)  # requests for the answer were counted before
        elif self._budget is not None:
            count_result(self._budget, record, work.target.resolved[work.settings_key])
        self._observe(ResultDone(record, self._under_way))
        if self._take is not None:
            await self._take(record)

    def _took(self, work: Piece, exchange: Exchange) -> None:
        """Book a request of a live conversation at once: what it took is spent, however the conversation ends."""
        if self._budget is not None:
            from .live_record import booked_as

            resolved = work.target.resolved[work.settings_key]
            count_record(self._budget, booked_as(exchange, paid=is_paid(resolved.target)), resolved)

    def _answered(self, lane: Lane[Piece], work: Piece) -> None:
        """The next request may go out; where there is a budget, not before what this one took is booked, and where
        there are judges, not before they are done: they would be overrun."""
        if self._budget is None and not getattr(work, "is_judged", False):
            work.is_answered = True
            self._under_way -= 1
            self._scheduler.release(lane)

    def _written(self, record: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._journal.add(record)
        except (TypeError, ValueError) as error:
            # An answer of a program under test may hold what JSON cannot.
            fault = ApplicationError(f"the answer cannot be written as JSON: {error}")
            return self._journal.add({**record, **_unwritable(fault)})

    def _went_well(self, lane: Lane[Piece]) -> None:
        health = self._health[id(lane)]
        health.retries.earn()
        health.rests, health.refused_since = 0, None
        before = lane.allowed
        lane.went_well()
        if before < lane.allowed == lane.most:
            self._observe(Slowed(lane.name, lane.allowed, lane.most))

    def _put_back(self, lane: Lane[Piece], generation: int, work: Piece, error: ProviderError) -> bool:
        """Whether a piece that a rate limit has kept from an answer is tried again later, after a rest."""
        if isinstance(error, RateLimitError):
            self._overrun(lane, generation)
        if not isinstance(error, RateLimitError) or not error.retryable or self._scheduler.draining:
            return False
        health, now = self._health[id(lane)], asyncio.get_running_loop().time()
        health.refused_since = health.refused_since or now
        if work.returns >= _MOST_RETURNS or now - health.refused_since > _PATIENCE:
            return False
        work.returns += 1
        work.attempts += error.attempts
        lane.put_back(work)
        if not lane.resting:
            rest = min(_LONGEST_REST, _FIRST_REST * 2**health.rests)
            health.rests += 1
            self._scheduler.rest(lane, max(rest, min(error.retry_after or 0.0, _PATIENCE)))
        return True

    def _on_retry(self, name: str, retry: Retry) -> bool | None:
        """Told by a provider before it sends again: counts, slows down, and refuses where it is no use."""
        if is_judging():
            return self._on_judge_retry(name, retry)
        lane, generation, work = self._piece.get()
        error = retry.error
        work.tried, work.trouble = retry.attempt - 1, f"{error.kind}: {error}"
        if isinstance(error, RateLimitError) or error.status in _OVERRUN:
            self._overrun(lane, generation)
            self._piece.set((lane, lane.generation, work))
        if self._scheduler.draining:
            return False
        health = self._health[id(lane)]
        if not isinstance(error, RateLimitError) and not health.retries.take():
            if not health.out_of_retries:
                health.out_of_retries = True
                self._notice(f"{name}: too many requests fail; until more succeed, those that fail are not sent again")
            return False
        self._sent_again_at[id(work)] = self._pause(retry)
        self._observe(Retried(name, retry))
        return None

    def _on_judge_retry(self, name: str, retry: Retry) -> bool | None:
        """What a judge has trouble with says nothing about the target whose answer is judged."""
        if self._scheduler.draining:
            return False
        self._pause(retry)
        self._observe(Retried(name, retry))
        return None

    def _pause(self, retry: Retry) -> float:
        """Remember that this task waits to send again; gives until when."""
        until = asyncio.get_running_loop().time() + retry.delay
        self._pauses[_task()] = until, retry.error
        return until

    def _sent(self, work: Piece) -> int:
        """How often a piece under way was sent; one that waits to be sent again has not been yet."""
        waits = self._sent_again_at.get(id(work), 0.0) > asyncio.get_running_loop().time()
        return work.tried if waits else work.tried + 1

    def _overrun(self, lane: Lane[Piece], generation: int) -> None:
        before = lane.allowed
        lane.overrun(generation)
        if lane.allowed < before:
            self._observe(Slowed(lane.name, lane.allowed, lane.most))

    def _admits(self, in_flight: int) -> bool:
        assert self._budget is not None
        if self._budget.admits(in_flight):
            return True
        if (reason := self._budget.reached) is not None:
            self._notice(reason)
            self._drain("budget")
        return False

    def _drain(self, reason: StopReason, idle: int = 0) -> None:
        """Start nothing more. A person who stops a run that is stopping already has the last word."""
        if self._stopped is None or reason == "interrupted":
            self._stopped = reason
            self._observe(Stopping(reason, max(0, self._under_way - idle)))
        self._scheduler.drain()

    def _settle(self) -> None:
        """A run that was told to stop, but had nothing left to do, did not stop early."""
        if not self._left and self._stopped != "fault":
            self._stopped = None

    def _notice_from(self, loop: asyncio.AbstractEventLoop) -> Callable[[str], object]:
        """For the thread of the cache: watchers are told by the loop's own thread alone."""
        return lambda message: loop.call_soon_threadsafe(self._notice, message)

    def _notice(self, message: str) -> None:
        if message not in self._notices:
            self._notices.add(message)
            self._observe(Notice(message))


def workers_for(plan: Workload, execution: Execution) -> int:
    """How many requests may be under way at once: as told, else as many as the targets take, else 16."""
    if execution.workers is not None:
        return execution.workers
    own: list[Any] = [target.resolved[None].target.workers for target in plan.targets]
    usual = [_usual_workers(target) for target, each in zip(plan.targets, own, strict=True) if not each]
    return max(sum(each for each in own if each), *usual) if usual else sum(own)


def _usual_workers(target: PlannedTarget) -> int:
    """Where nothing is said. An agent is many processes: few at once, unless one process takes many requests."""
    asked: Any = target.resolved[None].target
    if asked.provider == "cli" and asked.batch is True:
        return _BATCH_WORKERS
    return _AGENT_WORKERS if asked.provider in AGENTS else DEFAULT_WORKERS


def _task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


def _unwritable(error: ProviderError) -> dict[str, Any]:
    return {
        "status": "error",
        "score": None,
        "grades": [],
        "answer": None,
        "output_messages": [],
        "model": None,
        "usage": None,
        "cost_usd": None,
        "judge_usage": None,
        "judge_cost_usd": None,
        "raw_request": None,
        "error": error_record(error),
    }
