"""Claims one of the agents' folders: the first that nobody uses and VS Code is not at work in, or a new one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import time

from ....errors import SetupError
from ..leftovers import read_at_most
from .folders import AgentFolder, gone
from .locks import HeldLock, take_lock

__all__ = ["Claim", "claim_folder"]

_MOST_FOLDERS = 1000
_LONGEST_NOTE = 1024 * 1024
# VS Code cannot be told to stop: an agent that nobody waits for any more may go on in its folder for a while.
_REST_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Claim:
    """A folder that is ours until `release`."""

    folder: AgentFolder
    lock: HeldLock

    def expect(self, answers: Sequence[Path]) -> None:
        """Note that VS Code is about to work here, until the answers are there. The note outlives this process.
        Raises `SetupError`."""
        note = {"answers": [str(each) for each in answers], "since": time()}
        gone(self.folder.unanswered)  # it may be a link that an agent left
        try:
            with self.folder.unanswered.open("x", encoding="utf-8") as file:
                json.dump(note, file)
        except OSError as error:
            message = f"{self.folder.unanswered} cannot be written: {error.strerror}"
            raise SetupError(message, hint="is there room on the disk, and may you write there?") from error

    def release(self) -> None:
        """Let others have the folder; if an answer is still to come, they wait for it. A second time does nothing."""
        if self.lock.is_held and not _is_at_work(self.folder):
            gone(self.folder.unanswered)
        self.lock.release()


def claim_folder(root: Path) -> Claim:
    """A folder of our own. No claim waits: where all are taken, there is one more. Raises `SetupError`.

    How many there are is bounded by how many requests are under way at once, and by `_MOST_FOLDERS`.
    """
    for number in range(1, _MOST_FOLDERS + 1):
        claim = _claimed(AgentFolder(root / f"agent-{number}"))
        if claim is not None:
            return claim
    raise SetupError(
        f"all {_MOST_FOLDERS:,} agent folders in {root} are taken",
        hint="end the runs that use them, and remove the folders that are left",
    )


def _claimed(folder: AgentFolder) -> Claim | None:
    if not _is_ours(folder):
        return None
    lock = take_lock(folder.lock)
    if lock is None:
        return None
    try:
        if not _is_at_work(folder):
            gone(folder.unanswered)
            return Claim(folder, lock)
    except BaseException:
        lock.release()
        raise
    lock.release()
    return None


def _is_ours(folder: AgentFolder) -> bool:
    """Whether the folder may be used, and emptied. One that is there without our lock may be anybody's."""
    try:
        folder.lock.parent.mkdir(parents=True, exist_ok=True)
        folder.path.mkdir(parents=True)
    except FileExistsError:
        return folder.lock.is_file() and not folder.path.is_symlink()
    except OSError as error:
        raise SetupError(
            f"the agent folder {folder.path} cannot be made: {error.strerror}",
            hint="choose an `agent_root` that you may write to",
        ) from error
    return True


def _is_at_work(folder: AgentFolder) -> bool:
    """Whether answers are still to come. A note that cannot be read is no reason to wait."""
    data = read_at_most(folder.unanswered, _LONGEST_NOTE)
    if data is None:
        return False
    try:
        note = json.loads(data)
        is_late = not 0 <= time() - float(note["since"]) < _REST_SECONDS
        return not is_late and not all(Path(each).exists() for each in note["answers"])
    except (OSError, OverflowError, ValueError, KeyError, TypeError, RecursionError):
        return False
