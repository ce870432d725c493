"""One piece of work, from a case to the line that is kept of it: asked, graded, and never lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..conversation.conversation import Conversation
from ..errors import ApplicationError, Problem, ProviderError, ProviderTimeoutError, ResolutionError, TurnwiseError
from ..graders.guarded import grade_until
from ..providers.deadline import wait_until
from ..providers.python_import import raised_at, shown_error
from .cut_short import cut_short_by
from .file_hash import part_hash
from .judge_asking import judge_until
from .record import Head, failed_record, graded_record, unmade_record

if TYPE_CHECKING:
    from ..conversation.values import File, Image
    from ..providers.base import Preview, ProviderRequest, ProviderResponse
    from .asking import Asked, Asking
    from .clock import RunClock
    from .talk import Exchange, Talk
    from .workload import Piece

__all__ = ["Doing"]

# Below that it is we who are slow, not the server: to have the next request first would only cost more of our time.
_AT_ONCE_MS = 30.0
# Judges end in time, and say that they are late; what else grades has a second more.
_GRACE = 1.0
_UNDO = "undo the change and resume the run, or start a new one"

Outcome = tuple[dict[str, Any], ProviderError | None]


def _nothing() -> None:
    """Nobody waits for the answer."""


class Doing:
    """Does pieces of work. `timeout` are the seconds that one may take, retries and grading included; `files` the
    hashes of what the plan has read, by path. `sent` says how often a piece under way was sent; `took` is told of each
    answer within a live conversation."""

    def __init__(
        self,
        run_id: str,
        asking: Asking,
        clock: RunClock,
        *,
        timeout: float | None = None,
        files: Mapping[str, str] | None = None,
        sent: Callable[[Piece], int] | None = None,
        took: Callable[[Piece, Exchange], None] | None = None,
    ) -> None:
        self._run_id = run_id
        self._asking = asking
        self._clock = clock
        self._timeout = timeout
        self._files = files or {}
        self._sent = sent or (lambda work: work.tried + 1)
        self._took = took

    async def do(self, work: Piece, answered: Callable[[], None] = _nothing) -> Outcome:
        """The line for a piece of work, and the error if there is no answer. Raises nothing but `CancelledError`.

        `answered` is called as soon as there is an answer that took its time, before it is graded.
        """
        asked = self._asking.of(work)
        head = Head(
            work.key, self._run_id, work.conversation_id, work.threshold, asked.paid, self._clock.now()
        )  # fmt: skip
        try:
            request = work.request(asked.system_prompt)
            self._refuse_changed(work.prefix, request.files)
            if getattr(work, "is_live", False):
                self._begin_talk(work, request, asked)
        except ResolutionError as error:
            return unmade_record(head, error, finished_at=self._clock.now()), None
        try:
            return await self._answered(work, asked, head, request, answered), None
        except ResolutionError as error:  # of what is expected: the answer cannot be graded by it
            return unmade_record(head, error, finished_at=self._clock.now()), None
        except ProviderError as error:
            return self._failed(work, asked, head, request, error), error
        except Exception as error:  # noqa: BLE001  (one case fails, not the whole run)
            fault = ApplicationError(f"a fault of Turnwise: {shown_error(error)} ({raised_at(error)})")
            return self._failed(work, asked, head, request, fault), fault

    def _begin_talk(self, work: Any, request: ProviderRequest, asked: Asked) -> None:
        """Prepare a conversation that goes on; one that was put back goes on where it was."""
        from .conversing import begin_talk

        if work.talk is None:
            talk = begin_talk(work, request, asked.system_prompt)
            self._refuse_changed(work.prefix, Conversation(tuple(work.case.turn_messages)).files)
            work.talk = talk

    def _refuse_changed(self, prefix: str, files: Sequence[File | Image]) -> None:
        """Raise `ResolutionError` for a file that is not what the run says that it asks about."""
        planned = self._files
        problems = [
            Problem(("input_messages",), "file-changed", f"{file.path} has changed since the run was planned", _UNDO)
            for file in files
            if (name := f"{prefix}{file.path}") in planned and part_hash(file) != planned[name]
        ]
        if problems:
            raise ResolutionError(problems)

    def _failed(
        self, work: Piece, asked: Asked, head: Head, request: ProviderRequest, error: ProviderError
    ) -> dict[str, Any]:
        """The line for a request without an answer, with the attempts of before it was put back."""
        attempts = error.attempts + work.attempts
        finished_at = self._clock.now()
        talk: Talk | None = getattr(work, "talk", None)
        request = request if talk is None else talk.request()
        record = failed_record(
            head,
            request,
            error,
            attempts=attempts,
            sent=_preview(asked, request),
            prices=asked.prices,
            finished_at=finished_at,
        )
        if talk is not None:
            from .live_record import kept_fields

            record |= kept_fields(talk, record)
        return record | getattr(work, "as_recorded", {})

    async def _answered(
        self, work: Piece, asked: Asked, head: Head, request: ProviderRequest, answered: Callable[[], None]
    ) -> dict[str, Any]:
        if self._timeout is None:
            return await self._graded(work, asked, head, request, answered)
        try:
            async with asyncio.timeout(self._timeout) as limit:
                return await self._graded(work, asked, head, request, answered, limit)
        except TimeoutError as error:
            trouble = "" if work.trouble is None else f"; the last attempt failed, {work.trouble}"
            message = f"not done within the {self._timeout:g} s that one result may take{trouble}"
            late = ProviderTimeoutError(message, hint="raise --timeout, or lower `max_retries`")
            talk: Talk | None = getattr(work, "talk", None)
            late.attempts = 0 if talk is not None and talk.is_users else self._sent(work)
            raise late from error

    async def _graded(
        self,
        work: Piece,
        asked: Asked,
        head: Head,
        request: ProviderRequest,
        answered: Callable[[], None],
        limit: asyncio.Timeout | None = None,
    ) -> dict[str, Any]:
        talk: Talk | None = getattr(work, "talk", None)
        wait_until(None if limit is None else limit.when())
        if talk is None:
            response = await asked.provider.ask(request)
        else:
            await self._converse(talk, work, asked, limit)
            request, response = talk.exchanges[-1].request, talk.response()
        if limit is not None and (until := limit.when()) is not None:
            judge_until(until)
            grade_until(until + _GRACE)
            limit.reschedule(None)  # an answer that is there is kept: each grader is bounded by itself
        if (response.latency_ms or 0.0) > _AT_ONCE_MS:
            answered()
            await asyncio.sleep(0)  # the next request goes out first: a server should not wait for our graders
        try:
            grades, score = await work.grade(request, response, asked.prices)
        except BaseException:
            await _release(response, failed=True)
            raise
        await _release(response, failed=score.status != "passed")
        record = graded_record(
            head, request, response, score=score, grades=grades, prices=asked.prices, finished_at=self._clock.now()
        )  # fmt: skip
        record["attempts"] += work.attempts
        if talk is not None:
            from .live_record import live_fields

            record |= live_fields(talk, record)
        return record | getattr(work, "as_recorded", {})

    async def _converse(self, talk: Talk, work: Any, asked: Asked, limit: asyncio.Timeout | None) -> None:
        from .conversing import converse

        if limit is not None and (until := limit.when()) is not None:
            judge_until(until + _GRACE)  # the simulated user is asked like a judge, and `limit` ends it

        def took(exchange: Exchange) -> None:
            work.tried, work.trouble = 0, None
            if self._took is not None:
                self._took(work, exchange)

        try:
            await converse(talk, asked, work.ask_user, took)
        except asyncio.CancelledError:
            # Nothing is lost of a conversation that has not begun; of any other, what was said is kept with the error.
            error = cut_short_by() if talk.exchanges else None
            if error is None:
                raise
            raise error from None


async def _release(response: ProviderResponse, *, failed: bool) -> None:
    """An agent's workspace was there for the graders, too."""
    if (work := response.agent) is not None:
        await asyncio.shield(asyncio.to_thread(work.release, failed=failed))


def _preview(asked: Asked, request: ProviderRequest) -> Preview | None:
    """What a request that failed has sent; None for one that has no form for the API."""
    try:
        return asked.provider.preview(request)
    except (TurnwiseError, ValueError, TypeError, RecursionError):
        return None
