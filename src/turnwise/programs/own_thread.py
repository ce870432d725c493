"""A call in a thread of its own: one that hangs takes no place of a pool, and delays no exit of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["in_own_thread"]

Result = TypeVar("Result")


async def in_own_thread(call: Callable[[], Result], name: str) -> Result:
    """The result of a call, or what it raises. Whoever no longer waits for it leaves it running: no thread can be
    ended from outside."""
    from asyncio import wrap_future
    from concurrent.futures import Future
    from contextvars import copy_context
    from threading import Thread

    outcome: Future[Result] = Future()
    outcome.set_running_or_notify_cancel()
    context = copy_context()

    def run() -> None:
        try:
            outcome.set_result(context.run(call))
        except BaseException as error:  # noqa: BLE001  (it is raised where it is waited for)
            outcome.set_exception(error)

    Thread(target=run, name=name, daemon=True).start()
    return await wrap_future(outcome)
