"""The one way in which agents are asked: a fresh workspace, the program in it, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from ...errors import ProviderError, SetupError
from ...programs.places import leave_place
from ...programs.strays import MARK
from ..base import DEFAULT_TIMEOUT, Preview, ProviderRequest, ProviderResponse
from ..deadline import seconds_left
from .changes import changes_between
from .counts import credible
from .disk import writing
from .document import agent_document
from .failures import failure_of
from .hiding import Hidden
from .kind import AgentKind, Task
from .logs import MOST_COMPLAINT, AgentLogs
from .mirror import mirror, planned_mirror
from .picture import picture
from .program_finder import ProgramFinder
from .steps import Steps
from .surroundings import agent_environment
from .work import AgentWork
from .workspace import Workspace, WorkspaceMaker

if TYPE_CHECKING:
    from ...programs.program import Program, Ran
    from ...targets.resolve import ResolvedTarget
    from .session import Session

__all__ = ["AgentProvider", "Surroundings"]

_MOST_OUTPUT = 64 * 1024 * 1024
_SHOWN_WORKSPACE = Path("/workspace")

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where agents of a project work: `root` is the project's, `environment` the variables, `logs` the folder for
    what agents write, if it is kept."""

    root: Path
    environment: Mapping[str, str]
    logs: Path | None = None


class AgentProvider:
    """Asks one kind of agent. Each request has a workspace, a HOME and processes of its own."""

    def __init__(self, kind: AgentKind, resolved: ResolvedTarget, surroundings: Surroundings) -> None:
        self._kind = kind
        self._target: Any = resolved.target
        self._around = surroundings
        self._maker = WorkspaceMaker(self._target, surroundings.root)
        self._finder = ProgramFinder(kind, self._target, surroundings)
        self._hidden = Hidden(resolved.secrets)
        self._logs = AgentLogs(self._target, surroundings, self._hidden)
        self._steps = Steps(self._target, self._hidden)
        self._open: set[Path] = set()

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        """Let the agent work on the request. Raises `ProviderError`, and nothing else."""
        self._maker.check()
        version = await self._finder.version()
        with writing("the workspace"):
            workspace = await stoppable(self._maker.make, lambda made: leave_place(made.base))
        self._open.add(workspace.base)
        work = AgentWork(title=self._kind.title, version=version, folder=workspace.folder)
        try:
            response = await self._asked(request, workspace, work)
        except ProviderError as error:
            work.kept = await in_thread(lambda: self._release(workspace, failed=True))
            error.agent = work.record()
            self._hidden.error(error)
            raise
        except BaseException:
            await in_thread(lambda: self._release(workspace, failed=False))
            raise
        work.on_release = lambda failed: self._release(workspace, failed=failed)
        return response

    def preview(self, request: ProviderRequest) -> Preview:
        """The text that the agent would be given, with `/workspace` for a folder that is not there yet."""
        prompt = agent_document(request.question, planned_mirror(request.files, _SHOWN_WORKSPACE))
        return Preview(messages=[{"role": "user", "content": prompt}], rewrites=(), request=None)

    async def close(self) -> None:
        """Remove what nobody asked to keep."""
        for base in list(self._open):
            await in_thread(partial(self._release, Workspace(base, base), failed=False))
        await in_thread(self._maker.close)

    async def _asked(self, request: ProviderRequest, workspace: Workspace, work: AgentWork) -> ProviderResponse:
        with writing(f"a file for {self._kind.title}", workspace.base):
            task = await in_thread(lambda: self._task(request, workspace))
        seconds = seconds_left(DEFAULT_TIMEOUT if self._target.timeout is None else float(self._target.timeout))
        with writing(f"a file for {self._kind.title}", workspace.base):
            program, given = await in_thread(lambda: self._program(task, workspace, seconds))
        async with self._steps.around(workspace.folder, program.environment, work.notes):
            before = await stoppable(lambda stop: picture(workspace.folder, stop.is_set))
            began = monotonic()
            ran = await self._ran(program, given)
            work.seconds, work.exit_code = monotonic() - began, None if ran.ended or ran.unstarted else ran.status
            work.keep(await in_thread(lambda: self._logs.write(request, ran)))
            after = await stoppable(lambda stop: picture(workspace.folder, stop.is_set))
            work.changes = await stoppable(lambda stop: changes_between(before, after, stop.is_set))
            session = await in_thread(lambda: self._kind.read(ran, task))  # it may be long
            if (failure := self._failure(ran, session, program, work)) is not None:
                raise failure
        return self._response(task, session, work)

    def _failure(self, ran: Ran, session: Session, program: Program, work: AgentWork) -> ProviderError | None:
        """Why there is no answer; what the agent said and used until then is kept with it."""
        work.notes += credible(session)
        self._hidden.session(session)
        shown = replace(ran, complaint=self._hidden.complaint(ran.complaint).encode("utf-8", "replace"))
        failure = failure_of(self._kind, shown, session, program)
        if failure is not None:
            failure.spent = session.spent()
        return failure

    def _task(self, request: ProviderRequest, workspace: Workspace) -> Task:
        # A folder of the user's own is not filled with files of ours.
        place = workspace.folder if self._maker.is_fresh else workspace.scratch / "files"
        files = tuple(mirror(request.files, place))
        return Task(
            prompt=agent_document(request.question, files),
            folder=workspace.folder,
            home=workspace.home,
            scratch=workspace.scratch,
            target=self._target,
            request=request,
            files=files,
        )

    def _program(self, task: Task, workspace: Workspace, seconds: float) -> tuple[Program, bytes]:
        from ...programs.program import Program

        start = self._kind.start(task)
        for path, text in start.files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        # A path of the target's starts at the project, and the agent somewhere else.
        named, *rest = start.command
        program = Program(
            command=(self._finder.path() if named == self._finder.name else named, *rest),
            folder=workspace.folder,
            environment=self._environment(workspace, start.variables),
            seconds=seconds,
            most_bytes=_MOST_OUTPUT,
            complaint_bytes=MOST_COMPLAINT,
            mark=workspace.base.name,
        )
        return program, start.given

    def _environment(self, workspace: Workspace, variables: Mapping[str, str]) -> dict[str, str]:
        return agent_environment(
            self._target,
            self._around.environment,
            home=workspace.home,
            temp=workspace.temp,
            variables={**variables, MARK: workspace.base.name},
            config_variables=self._kind.config_variables,
        )

    async def _ran(self, program: Program, given: bytes) -> Ran:
        from ...programs.running import ran

        try:
            done = await ran(program, given)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise SetupError(f"the system starts no process for {self._kind.title}: {reason}") from error
        # Before its end is cut off, which could leave half a secret.
        return replace(done, complaint=self._hidden.end(done.complaint))

    def _response(self, task: Task, session: Session, work: AgentWork) -> ProviderResponse:
        assert session.text is not None
        said = session.messages or [{"role": "assistant", "content": session.text}]
        return ProviderResponse(
            text=session.text,
            messages=said,
            usage=session.usage,
            cost_usd=session.cost_usd,
            model=session.model,
            response_id=session.session_id,
            sent=[{"role": "user", "content": task.prompt}],
            latency_ms=None if work.seconds is None else work.seconds * 1000,
            agent=work,
        )

    def _release(self, workspace: Workspace, *, failed: bool) -> bool:
        """Whether the workspace stays on disk."""
        self._open.discard(workspace.base)
        keep = self._target.keep_workspaces
        return leave_place(workspace.base, keep=keep == "always" or (keep == "failed" and failed))


async def in_thread(call: Callable[[], Result]) -> Result:
    """Files are read and written beside the event loop, to the end even if nobody waits for it any more."""
    import asyncio

    running = asyncio.ensure_future(asyncio.to_thread(call))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise


async def stoppable(call: Callable[[Event], Result], undo: Callable[[Result], object] | None = None) -> Result:
    """The same for what may take long, and ends soon once the event that it is given is set. If nobody waits for the
    result any more, `undo` is given it."""
    import asyncio

    stop = Event()
    running = asyncio.ensure_future(asyncio.to_thread(call, stop))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([running])
        if undo is not None and running.exception() is None:
            await in_thread(partial(undo, running.result()))
        raise
