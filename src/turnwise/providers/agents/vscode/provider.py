"""The provider of `vscode` and `vscode-insiders`: a folder and a window for each request, and answers as files."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from ....errors import ProviderError, ProviderTimeoutError, SetupError
from ...base import DEFAULT_TIMEOUT, Preview, ProviderRequest, ProviderResponse
from ..base import in_thread
from ..document import agent_document
from ..hiding import Hidden
from ..logs import AgentLogs
from ..mirror import planned_mirror
from ..work import AgentWork
from .answers import awaited_answer
from .batching import Asked, Gatherer
from .claiming import claim_folder
from .command import CodeCommand
from .dispatching import Chat, Dispatcher
from .folders import agent_root, gone
from .jobs import Job
from .keeping import keep_letters
from .modes import mode_of
from .outcomes import dispatched, rehearsed
from .preparing import Prepared, Recipe, prepare
from .sharing import SharedClaim
from .texts import prompt_for
from .workspace_file import template_of

if TYPE_CHECKING:
    from ....targets.resolve import ResolvedTarget
    from ..base import Surroundings

__all__ = ["VSCodeProvider"]

_SHOWN_WORKSPACE = Path("/workspace")


class VSCodeProvider:
    """Asks agents in a running VS Code. Each request, or batch, has an agent folder of its own while it is under way,
    and until its case is graded."""

    def __init__(self, resolved: ResolvedTarget, around: Surroundings) -> None:
        target: Any = resolved.target
        self._target = target
        self._around = around
        self._seconds = DEFAULT_TIMEOUT if target.timeout is None else float(target.timeout)
        self._command = CodeCommand(target, around)
        self._gatherer = Gatherer(self._carry_out, target.workers) if target.batch else None
        self._open: set[SharedClaim] = set()
        self._logs = AgentLogs(target, around, Hidden(resolved.secrets))

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        """Hand the request to VS Code and wait for its answer. Raises `ProviderError`, and nothing else."""
        import asyncio

        if self._gatherer is not None:
            return await self._gatherer.ask(request)
        asked = Asked(request, asyncio.get_running_loop().create_future())
        await self._carry_out((asked,))
        return await asked.answer

    def preview(self, request: ProviderRequest) -> Preview:
        """The text that the agent would be given, with `/workspace` for a folder that is not there yet."""
        prompt = agent_document(request.question, planned_mirror(request.files, _SHOWN_WORKSPACE))
        return Preview(messages=[{"role": "user", "content": prompt}], rewrites=(), request=None)

    async def close(self) -> None:
        """End what is under way, and let go of every folder."""
        if self._gatherer is not None:
            await self._gatherer.close()
        for shared in list(self._open):
            shared.release_all()

    async def _carry_out(self, group: Sequence[Asked]) -> None:
        """Answer each of the group, or say what is wrong with it. Raises `ProviderError` if it is the same for all."""
        root, recipe = self._root(), self._recipe()
        version = None if self._target.dry_run else await self._command.version()
        shared = SharedClaim(claim_folder(root), len(group), self._open.discard)
        self._open.add(shared)
        try:
            prepared = await in_thread(lambda: prepare(shared.folder, [each.request for each in group], recipe))
            planned = Job(group, shared, prepared, version, monotonic())
            job = planned if self._target.dry_run else await self._handed_over(root, planned, recipe.mode.name)
            if job is not None:
                await self._finish(job)
        except BaseException:
            shared.release_all()
            raise

    def _root(self) -> Path:
        root = agent_root(self._target, self._around.root, self._around.environment)
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"target {self._target.name!r}: the folder for agents {root} cannot be made: {error.strerror}"
            raise SetupError(message, hint="set the target's `agent_root` to a folder that you may write to") from error
        return root

    def _recipe(self) -> Recipe:
        target, project = self._target, self._around.root
        return Recipe(
            template=template_of(target, project),
            mode=mode_of(target, project),
            is_kept=target.dry_run or not target.wait,
            is_batch=target.batch,
        )

    async def _handed_over(self, root: Path, job: Job, mode: str) -> Job | None:
        """The job, which begins now; None if VS Code did not take it. Then each case is told, and its request kept."""
        try:
            said = await self._hand_over(root, job.shared, job.prepared, mode)
        except ProviderError as error:
            works = await in_thread(lambda: [self._kept(job, number) for number in range(len(job.group))])
            for number, work in enumerate(works):
                own = copy(error)  # each is kept, and changed, with its own case
                own.agent = work.record()
                job.fail(number, own)
            return None
        return replace(job, began=monotonic(), said=said)

    def _kept(self, job: Job, number: int) -> AgentWork:
        work = AgentWork(title=self._command.title, version=job.version, folder=job.shared.folder.path)
        keep_letters(self._logs, job.group[number].request, job.prepared.errands[number], job.said, work)
        return work

    async def _hand_over(self, root: Path, shared: SharedClaim, prepared: Prepared, mode: str) -> str:
        chat = Chat(mode, prepared.attached, prompt_for(prepared.handed), prepared.has_new_mode)
        answers = [errand.letter.answer for errand in prepared.errands]
        try:
            return await Dispatcher(self._command, root).dispatch(
                shared.folder, chat, self._seconds, lambda: shared.claim.expect(answers)
            )
        except ProviderTimeoutError:
            raise  # a command that hung may have handed it over
        except ProviderError:
            gone(shared.folder.unanswered)
            raise

    async def _finish(self, job: Job) -> None:
        import asyncio

        if self._target.dry_run:
            job.fail_all(lambda errand: rehearsed(errand, job.shared.folder))
        elif not self._target.wait:
            job.fail_all(lambda errand: dispatched(errand, job.shared.folder))
        else:
            await asyncio.gather(*(self._settle(job, number) for number in range(len(job.group))))

    async def _settle(self, job: Job, number: int) -> None:
        letter = job.prepared.errands[number].letter
        try:
            text = await awaited_answer(letter, self._seconds, self._command.title)
        except ProviderError as error:
            work = await in_thread(lambda: self._noted(job, number))
            error.agent = work.record()
            if work.log is not None:  # the folder is emptied for the next request
                error.args = (f"{error}; the request is kept in {work.log}",)
            job.fail(number, error)
        else:
            work = await in_thread(lambda: self._noted(job, number))
            job.answer(number, text, work)

    def _noted(self, job: Job, number: int) -> AgentWork:
        work = self._kept(job, number)
        job.note(work)
        return work
