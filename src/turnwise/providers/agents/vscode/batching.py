"""Gathers requests that arrive together, so that they go out as one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....errors import ProviderError

if TYPE_CHECKING:
    import asyncio

    from ...base import ProviderRequest, ProviderResponse

__all__ = ["Asked", "Gatherer"]

QUIET_SECONDS = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A request, and where its answer goes."""

    request: ProviderRequest
    answer: asyncio.Future[ProviderResponse]


class Gatherer:
    """Calls `carry_out` with the requests that came without a pause, at most `most` at once."""

    def __init__(self, carry_out: Callable[[Sequence[Asked]], Awaitable[None]], most: int | None) -> None:
        self._carry_out = carry_out
        self._most = most
        self._waiting: list[Asked] = []
        self._timer: asyncio.TimerHandle | None = None
        self._groups: set[asyncio.Task[None]] = set()

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        """The answer to a request, or what is wrong with it."""
        import asyncio

        loop = asyncio.get_running_loop()
        asked = Asked(request, loop.create_future())
        self._waiting.append(asked)
        if self._timer is not None:
            self._timer.cancel()
        if self._most is not None and len(self._waiting) >= self._most:
            self._send()
        else:
            self._timer = loop.call_later(QUIET_SECONDS, self._send)
        return await asked.answer

    async def close(self) -> None:
        """End what is under way."""
        import asyncio

        if self._timer is not None:
            self._timer.cancel()
        for group in self._groups:
            group.cancel()
        await asyncio.gather(*self._groups, return_exceptions=True)

    def _send(self) -> None:
        import asyncio

        self._timer = None
        group, self._waiting = [each for each in self._waiting if not each.answer.done()], []
        if not group:
            return
        task = asyncio.ensure_future(self._carried(group))
        self._groups.add(task)
        task.add_done_callback(self._groups.discard)
        for each in group:
            each.answer.add_done_callback(lambda _: _end_if_unwanted(task, group))

    async def _carried(self, group: Sequence[Asked]) -> None:
        try:
            await self._carry_out(group)
        except ProviderError as error:
            for each in _open(group):
                each.answer.set_exception(copy(error))  # each is kept, and changed, with its own case
        except Exception as error:  # noqa: BLE001  (it is raised where it is waited for)
            for each in _open(group):
                each.answer.set_exception(error)
        finally:
            for each in _open(group):
                each.answer.cancel()


def _open(group: Sequence[Asked]) -> list[Asked]:
    return [each for each in group if not each.answer.done()]


def _end_if_unwanted(task: asyncio.Task[None], group: Sequence[Asked]) -> None:
    """Nobody waits any more: what is left of the work is ended, so that its lock is free."""
    if all(each.answer.cancelled() for each in group):
        task.cancel()
