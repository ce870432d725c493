"""The commands before and after an agent's work: `setup` and `teardown`, each within bounds of time and output."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...errors import SetupError
from ...programs.words import how_it_ended, stderr_tail, why_unstarted

__all__ = ["arguments_of", "run_step"]

_SECONDS = 300.0
_MOST_OUTPUT = 16 * 1024 * 1024


def arguments_of(command: Sequence[str] | str, key: str) -> tuple[str, ...]:
    """A command as a list of arguments; a text is split as a shell would. Raises `SetupError` if it cannot be.

    >>> arguments_of("git commit -m 'a b'", "setup")
    ('git', 'commit', '-m', 'a b')
    """
    try:
        arguments = tuple(shlex.split(command) if isinstance(command, str) else command)
    except ValueError as error:
        message = f"`{key}` cannot be split into arguments: {str(error).lower()}"
        raise SetupError(message, hint="write it as a list, which needs no quotes") from error
    if not arguments:
        raise SetupError(f"`{key}` names no program", hint="write it as a list: [program, argument]")
    return arguments


async def run_step(
    key: str,
    command: Sequence[str] | str,
    folder: Path,
    environment: Mapping[str, str],
    target: str,
    seconds: float = _SECONDS,
) -> None:
    """Run a command in the workspace. Raises `SetupError` if it fails: what the agent did then says little."""
    from ...programs.program import Program
    from ...programs.running import ran

    program = Program(
        command=arguments_of(command, key),
        folder=folder,
        environment=environment,
        seconds=seconds,
        most_bytes=_MOST_OUTPUT,
    )
    try:
        done = await ran(program)
    except (OSError, ValueError) as error:
        raise SetupError(f"target {target!r}: the system starts no process for `{key}`: {error}") from error
    said = stderr_tail(done.complaint.decode("utf-8", "replace"))
    what = f"target {target!r}: `{key}`"
    if done.unstarted is not None:
        raise SetupError(f"{what}: {why_unstarted(done.unstarted, program.command[0], folder)[1]}")
    if done.ended == "timeout":
        raise SetupError(f"{what} was ended after {seconds:g} s{said}", hint="do less in it, or do it beforehand")
    if done.ended is not None:
        raise SetupError(f"{what} was ended: {done.ended}{said}")
    if done.status:
        raise SetupError(f"{what} {how_it_ended(done.status)}{said}", hint="try it by hand in a copy of the workspace")
