"""Programs beside the event loop: each is gone when nobody waits for it any more."""

from __future__ import annotations

from .own_thread import in_own_thread
from .program import Program, Ran, run_program

__all__ = ["ran"]


async def ran(program: Program, given: bytes = b"") -> Ran:
    """Run a program to its end. If this is cancelled, the program is ended first, and then it is as cancelled as it
    should be. Raises `OSError` or `ValueError` if there is no process to be had."""
    import asyncio
    from threading import Event

    stop = Event()
    running = asyncio.ensure_future(in_own_thread(lambda: run_program(program, given, stop), "turnwise-program"))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([running])
        raise
