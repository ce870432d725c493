"""Asking a judge: within its bound and the time of the result, and never with an error that breaks the run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from ..errors import ProviderError
from ..graders.judges import JudgeAnswer
from ..providers.cost import answer_cost
from .cut_short import cut_short_by

if TYPE_CHECKING:
    from ..graders.verdict import StatusKind
    from ..providers.base import ProviderRequest, ProviderResponse
    from .asking import Asked

__all__ = ["ask_judge", "is_judging", "judge_until", "judging"]

_FAILURES: Mapping[str, StatusKind] = {"timeout": "timeout", "content_filter": "refusal"}
_until: ContextVar[float | None] = ContextVar("judge_until", default=None)
_judging: ContextVar[bool] = ContextVar("judging", default=False)


def judge_until(moment: float) -> None:
    """Let judges of the present piece of work take no longer than to that time of the loop."""
    _until.set(moment)


def is_judging() -> bool:
    """Whether what is being asked is a judge."""
    return _judging.get()


@contextmanager
def judging() -> Iterator[float | None]:
    """What is asked inside is a judge; gives the time of the loop until which it may take."""
    token = _judging.set(True)
    try:
        yield _until.get()
    finally:
        _judging.reset(token)


async def ask_judge(asked: Asked, room: asyncio.Semaphore, model: str | None, request: ProviderRequest) -> JudgeAnswer:
    """What the judge says, or why it says nothing. Raises nothing but `CancelledError`."""
    try:
        with judging() as until:
            async with asyncio.timeout_at(until), room:
                response = await asked.provider.ask(request)
                if (work := response.agent) is not None:
                    await asyncio.to_thread(work.release, failed=False)  # nobody looks at what a judge did
    except TimeoutError:
        detail = "no time was left of what one result may take; raise --timeout"
        return JudgeAnswer(text=None, failure="timeout", detail=detail, model=model, cost_usd=None)
    except asyncio.CancelledError:
        if (error := cut_short_by()) is None:
            raise
        return _failed(error, model)
    except ProviderError as error:
        return _failed(error, model)
    return _answer(asked, response, model)


def _failed(error: ProviderError, model: str | None) -> JudgeAnswer:
    failure = _FAILURES.get(error.kind, "api_error")
    return JudgeAnswer(text=None, failure=failure, detail=str(error), model=model, attempts=error.attempts)


def _answer(asked: Asked, response: ProviderResponse, model: str | None) -> JudgeAnswer:
    from_cache = response.attempts == 0
    return JudgeAnswer(
        text=response.text,
        finish_reason="refusal" if response.refusal and not response.text else response.finish_reason,
        model=response.model or model,
        usage=response.usage,
        cost_usd=0.0 if from_cache and asked.paid else answer_cost(response, asked.prices),
        latency_ms=response.latency_ms,
        attempts=response.attempts,
    )
