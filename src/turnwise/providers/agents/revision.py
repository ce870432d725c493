"""A working tree at a revision, in a repository of its own that borrows the other's objects."""

from __future__ import annotations

from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from ...errors import SetupError
from ...programs.environment import environment
from ...programs.words import clean_text

if TYPE_CHECKING:
    from threading import Event

__all__ = ["checked_out"]

_SECONDS = 300.0
_MOST_OUTPUT = 1 << 20
# Neither a question nor a hook of the user's may hold it up.
_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_LFS_SKIP_SMUDGE": "1"}
_NO_HOOKS = ("-c", "core.hooksPath=/dev/null")


def checked_out(repository: Path, revision: str, folder: Path, name: str, stop: Event) -> None:
    """Make the working tree. What an agent commits, stashes or configures stays in it, and it has no remote to push
    to. Raises `SetupError` if it cannot be made."""

    def git(*arguments: str) -> str:
        return _git(arguments, name, repository, revision, stop)

    # A branch of the original is none of the clone's.
    commit = git("-C", str(repository), "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    git("clone", "--quiet", "--shared", "--no-checkout", "--", str(repository), str(folder))
    git("-C", str(folder), "checkout", "--quiet", "--detach", commit)
    git("-C", str(folder), "remote", "remove", "origin")


def _git(arguments: tuple[str, ...], name: str, repository: Path, revision: str, stop: Event) -> str:
    from ...programs.program import Program, run_program

    program = Program(
        command=("git", *_NO_HOOKS, *arguments),
        folder=repository,
        environment=environment(_QUIET, ()),
        seconds=_SECONDS,
        most_bytes=_MOST_OUTPUT,
        mark=f"turnwise-git-{token_hex(8)}",
    )
    try:
        done = run_program(program, b"", stop)
    except (OSError, ValueError) as error:
        raise SetupError(f"target {name!r}: the system starts no process for git: {error}") from error
    if done.unstarted is not None:
        raise SetupError(f"target {name!r}: `workspace_revision` needs git", hint="install git")
    if done.ended == "timeout":
        raise SetupError(f"target {name!r}: git took longer than {_SECONDS:g} s", hint="try it by hand")
    if done.status or done.ended:
        said = clean_text(" ".join(done.complaint.decode("utf-8", "replace").split()))[-300:]
        message = f"target {name!r}: there is no working tree of {revision!r} of {repository}: {said}"
        raise SetupError(message, hint="`workspace_template` must be a git repository that has `workspace_revision`")
    return done.output.decode("utf-8", "replace").strip()
