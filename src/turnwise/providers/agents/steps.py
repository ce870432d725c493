"""The commands before and after an agent's work: `setup` and `teardown`, each within bounds of time and output."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import SetupError
from ...programs.words import how_it_ended, stderr_tail, why_unstarted
from .hiding import Hidden

__all__ = ["Steps", "run_step"]

_SECONDS = 300.0
_SHELL = "/bin/sh"
_SECONDS_AFTER_CANCEL = 30.0
_MOST_OUTPUT = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a target's, for the workspaces of its requests."""

    target: Any = field(repr=False)
    hidden: Hidden = field(default_factory=Hidden, repr=False)

    @asynccontextmanager
    async def around(self, folder: Path, environment: Mapping[str, str], notes: list[str]) -> AsyncIterator[None]:
        """`setup` before what is done within, and `teardown` after it, whatever came of it.

        Raises `SetupError` if `setup` fails. A `teardown` that fails takes no answer away, and hides no other failure:
        it is noted.
        """
        from asyncio import CancelledError

        seconds = _SECONDS if self.target.step_timeout is None else float(self.target.step_timeout)
        try:
            await self._run("setup", folder, environment, seconds)
            yield
        except CancelledError:
            seconds = min(seconds, _SECONDS_AFTER_CANCEL)  # somebody waits for the run to end
            raise
        finally:
            try:
                await self._run("teardown", folder, environment, seconds)
            except SetupError as error:
                notes.append(self.hidden.text(str(error)))

    async def _run(self, key: str, folder: Path, environment: Mapping[str, str], seconds: float) -> None:
        command = getattr(self.target, key)
        if command is not None:
            await run_step(key, command, folder, environment, self.target.name, seconds, self.hidden)


async def run_step(
    key: str,
    command: Sequence[str] | str,
    folder: Path,
    environment: Mapping[str, str],
    target: str,
    seconds: float = _SECONDS,
    hidden: Hidden | None = None,
) -> None:
    """Run a command in the workspace: a text by a shell, a list as it is. Nothing is filled into either. Raises
    `SetupError` if it fails: what the agent did then says little."""
    from ...programs.program import Program
    from ...programs.running import ran

    program = Program(
        command=(_SHELL, "-c", command) if isinstance(command, str) else tuple(command),
        folder=folder,
        environment=environment,
        seconds=seconds,
        most_bytes=_MOST_OUTPUT,
    )
    try:
        done = await ran(program)
    except (OSError, ValueError) as error:
        raise SetupError(f"target {target!r}: the system starts no process for `{key}`: {error}") from error
    said = stderr_tail((hidden or Hidden()).complaint(done.complaint))
    what = f"target {target!r}: `{key}`"
    if done.unstarted is not None:
        raise SetupError(f"{what}: {why_unstarted(done.unstarted, program.command[0], folder)[1]}")
    if done.ended == "timeout":
        raise SetupError(
            f"{what} was ended after {seconds:g} s{said}", hint="raise `step_timeout`, or do less in it"
        )  # fmt: skip
    if done.ended is not None:
        raise SetupError(f"{what} was ended: {done.ended}{said}")
    if done.status:
        raise SetupError(f"{what} {how_it_ended(done.status)}{said}", hint="try it by hand in a copy of the workspace")
