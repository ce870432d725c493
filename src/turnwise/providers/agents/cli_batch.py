"""Requests that arrive together, answered by one process: each is a line of JSON, and so is each answer."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from ...errors import ApplicationError, ProtocolError, ProviderError
from ...programs.places import leave_place
from ..base import DEFAULT_TIMEOUT, ProviderRequest, ProviderResponse
from .base import AgentProvider, in_thread, stoppable
from .changes import changes_between
from .cli_lines import Reading, read_lines, request_lines
from .disk import writing
from .logs import MOST_COMPLAINT, Log
from .picture import picture
from .session import Session
from .work import AgentWork
from .workspace import Workspace

if TYPE_CHECKING:
    import asyncio

    from ...programs.program import Program, Ran
    from ...targets.resolve import ResolvedTarget
    from .base import Surroundings
    from .cli import Cli
    from .kind import Task

__all__ = ["BatchProvider"]

_QUIET_SECONDS = 0.1
_MOST_REQUESTS = 1000
_MOST_OUTPUT = 256 * 1024 * 1024
_MOST_NOTED = 20
_LONGEST_SHOWN = 80


@dataclass(frozen=True, slots=True)
class _Outcome:
    """How a process went that took several requests."""

    ran: Ran
    program: Program
    reading: Reading
    seconds: float
    log: Log


@dataclass(slots=True, eq=False)
class _Waiting:
    """A request on its way. `number` says when it came, `identity` is its own among those of its process."""

    task: Task
    number: int
    outcome: asyncio.Future[_Outcome]
    identity: str = ""


@dataclass(slots=True, eq=False)
class _Batch:
    items: list[_Waiting]
    running: asyncio.Task[None] | None = field(default=None)


class BatchProvider(AgentProvider):
    """Gives requests to one process as soon as no more arrive, or as many as the target's `workers` are there."""

    def __init__(self, kind: Cli, resolved: ResolvedTarget, around: Surroundings) -> None:
        super().__init__(kind, resolved, around)
        self._cli = kind
        self._most = int(self._target.workers or _MOST_REQUESTS)
        self._gathered: list[_Waiting] = []
        self._coming: dict[asyncio.Task[Any] | None, int] = {}
        self._asked_for = 0
        self._timer: asyncio.TimerHandle | None = None
        self._batches: set[_Batch] = set()

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        """Ask, together with what else is asked now. Raises `ProviderError`, and nothing else."""
        import asyncio

        this = asyncio.current_task()
        self._asked_for += 1
        self._coming[this] = self._asked_for
        try:
            return await super().ask(request)
        finally:
            self._coming.pop(this, None)

    async def close(self) -> None:
        """End the processes that still run."""
        import asyncio

        if self._timer is not None:
            self._timer.cancel()
        running = [batch.running for batch in self._batches if batch.running is not None]
        for each in running:
            each.cancel()
        if running:
            await asyncio.wait(running)
        await super().close()

    async def _asked(self, request: ProviderRequest, workspace: Workspace, work: AgentWork) -> ProviderResponse:
        with writing(f"a file for {self._kind.title}", workspace.base):
            task = await in_thread(lambda: self._task(request, workspace))
        async with self._steps.around(workspace.folder, self._environment(workspace, {}), work.notes):
            before = await stoppable(lambda stop: picture(workspace.folder, stop.is_set))
            identity, outcome = await self._answered(task)
            ran = outcome.ran
            work.seconds, work.exit_code = outcome.seconds, None if ran.ended or ran.unstarted else ran.status
            work.keep(outcome.log)
            after = await stoppable(lambda stop: picture(workspace.folder, stop.is_set))
            work.changes = await stoppable(lambda stop: changes_between(before, after, stop.is_set))
            session, failure = self._read(identity, outcome, work)
            if failure is not None:
                raise failure
        # How long one of many took is not known.
        return replace(self._response(task, session, work), latency_ms=None)

    async def _answered(self, task: Task) -> tuple[str, _Outcome]:
        import asyncio

        loop = asyncio.get_running_loop()
        number = self._coming.pop(asyncio.current_task(), self._asked_for)
        item = _Waiting(task, number, loop.create_future())
        self._gathered.append(item)
        if self._timer is not None:
            self._timer.cancel()
        if len(self._gathered) >= self._most:
            self._begin()
        else:
            self._timer = loop.call_later(_QUIET_SECONDS, self._begin_if_quiet)
        try:
            outcome = await item.outcome
            return item.identity, outcome
        except asyncio.CancelledError:
            self._leave(item)
            raise

    def _begin_if_quiet(self) -> None:
        """Those whose workspace is being made belong to the same process."""
        import asyncio

        if self._coming:
            self._timer = asyncio.get_running_loop().call_later(_QUIET_SECONDS, self._begin_if_quiet)
        else:
            self._begin()

    def _begin(self) -> None:
        import asyncio

        items, self._gathered, self._timer = self._gathered, [], None
        items.sort(key=lambda item: item.number)
        if items:
            for item, identity in zip(items, _identities([item.task.request for item in items]), strict=True):
                item.identity = identity
            batch = _Batch(items)
            self._batches.add(batch)
            batch.running = asyncio.ensure_future(self._carried_out(batch))

    def _leave(self, item: _Waiting) -> None:
        """Nobody waits for this one. A process that nobody waits for is ended."""
        if item in self._gathered:
            self._gathered.remove(item)
        for batch in self._batches:
            if batch.running is not None and all(each.outcome.done() for each in batch.items):
                batch.running.cancel()

    async def _carried_out(self, batch: _Batch) -> None:
        waiting = batch.items
        try:
            outcome = await self._run(waiting)
        except Exception as error:  # noqa: BLE001  (it is raised where the answers are waited for)
            for item in waiting:
                if not item.outcome.done():
                    item.outcome.set_exception(copy.copy(error))  # one for each: more is written into it
        else:
            for item in waiting:
                if not item.outcome.done():
                    item.outcome.set_result(outcome)
        finally:
            self._batches.discard(batch)
            for item in waiting:  # whatever happened, nobody waits for ever
                item.outcome.cancel()

    async def _run(self, items: Sequence[_Waiting]) -> _Outcome:
        with writing("the workspace"):
            workspace = await stoppable(self._maker.make, lambda made: leave_place(made.base))
        self._open.add(workspace.base)
        try:
            program, given = await in_thread(lambda: self._batch_program(items, workspace))
            began = monotonic()
            ran = await self._ran(program, given)
            seconds = monotonic() - began
        finally:
            self._open.discard(workspace.base)
            await in_thread(lambda: leave_place(workspace.base))
        reading = await in_thread(lambda: read_lines(ran.output, {item.identity for item in items}))
        log = await in_thread(lambda: self._logs.write(items[0].task.request, _noted(ran, self._strangers(reading))))
        return _Outcome(ran, program, reading, seconds, log)

    def _batch_program(self, items: Sequence[_Waiting], workspace: Workspace) -> tuple[Program, bytes]:
        from ...programs.program import Program

        given = request_lines((item.identity, item.task) for item in items)
        start = self._cli.start_batch(items[0].task, given)
        program = Program(
            command=start.command,
            folder=workspace.folder,
            environment=self._environment(workspace, start.variables),
            seconds=float(self._target.timeout or DEFAULT_TIMEOUT),
            most_bytes=_MOST_OUTPUT,
            complaint_bytes=MOST_COMPLAINT,
            mark=workspace.base.name,
        )
        return program, start.given

    def _strangers(self, reading: Reading) -> str:
        """A note on answers that nobody asked for; nothing if there are none."""
        if not reading.unknown:
            return ""
        named = [self._hidden.text(repr(each))[:_LONGEST_SHOWN] for each in reading.unknown[:_MOST_NOTED]]
        count = len(reading.unknown)
        return f"{count} {'line has' if count == 1 else 'lines have'} an id that no request has: {', '.join(named)}"

    def _read(self, identity: str, outcome: _Outcome, work: AgentWork) -> tuple[Session, ProviderError | None]:
        ran, reading = outcome.ran, outcome.reading
        session = reading.answers.get(identity)
        if identity in reading.double:
            message = f"{self._kind.title} wrote more than one answer for the id {identity!r}"
            return Session(), ProtocolError(message, hint="write one line for each request")
        if session is not None:
            # It answered; what became of it afterwards does not change that.
            return session, self._failure(replace(ran, status=0, ended=None), session, outcome.program, work)
        session = Session(malformed=reading.junk)
        if reading.junk is None and not (ran.status or ran.ended or ran.unstarted):
            strangers = self._strangers(reading)
            message = f"{self._kind.title} wrote no answer for the id {identity!r}{strangers and f'; {strangers}'}"
            return session, ApplicationError(message, hint="each line of its input needs a line with the same `id`")
        return session, self._failure(ran, session, outcome.program, work)


def _identities(requests: Sequence[ProviderRequest]) -> list[str]:
    """A name for each request that no other has."""
    taken: dict[str, Any] = {}
    for request in requests:
        wanted = identity = f"{request.case_id or 'request'}#{request.attempt}"
        number = 2
        while identity in taken:
            identity, number = f"{wanted}#{number}", number + 1
        taken[identity] = request
    return list(taken)


def _noted(ran: Ran, note: str) -> Ran:
    """What it wrote, with a note of ours."""
    return replace(ran, complaint=ran.complaint + f"\nturnwise: {note}\n".encode("utf-8", "replace")) if note else ran
