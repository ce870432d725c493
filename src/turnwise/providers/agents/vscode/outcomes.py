"""How a request can end without an answer on purpose: it was handed over and nobody waits, or it was a dry run."""

from __future__ import annotations

from ....errors import NotAwaitedError
from .folders import AgentFolder
from .preparing import Errand

__all__ = ["dispatched", "rehearsed"]


def dispatched(errand: Errand, folder: AgentFolder) -> NotAwaitedError:
    """For `wait: false`."""
    return NotAwaitedError(
        "the request was handed to VS Code, and nobody waits for its answer (`wait: false`): it will be "
        f"{errand.letter.answer}",
        hint=f"there is nothing to grade; {_moves(errand, folder)}",
    )


def rehearsed(errand: Errand, folder: AgentFolder) -> NotAwaitedError:
    """For `dry_run: true`."""
    error = NotAwaitedError(
        f"dry run: nothing was sent; the request is {errand.letter.request}, its workspace {folder.workspace_file}",
        hint=f"there is nothing to grade; remove `dry_run` to send it; {_moves(errand, folder)}",
    )
    error.attempts = 0
    return error


def _moves(errand: Errand, folder: AgentFolder) -> str:
    place = errand.letter.folder.name
    return f"when another case uses {folder.name}, this one's files move to {folder.archive / place}"
