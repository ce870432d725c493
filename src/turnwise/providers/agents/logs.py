"""What an agent wrote, kept beside the results; keys are taken out of it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...programs.words import how_it_ended

if TYPE_CHECKING:
    from ...programs.program import Ran
    from ..base import ProviderRequest
    from .base import Surroundings
    from .hiding import Hidden

__all__ = ["ENDED", "MOST_COMPLAINT", "TRIAL", "AgentLogs", "Log", "complaint_of", "log_name", "plain_name"]

MOST_COMPLAINT = 1024 * 1024
"""How much of stderr is kept: bytes."""

TRIAL = "@"
"""What parts a case from the number of its trial in a file's name: in no part of such a name is it otherwise."""

ENDED = "turnwise: it "
"""What begins the line, at the end of what went to stderr, that says how a program ended."""

_ODD = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Log:
    """What was kept: `path` is the file, None if there is none; `note` says what is missing, and why."""

    path: Path | None = None
    note: str | None = None


class AgentLogs:
    """Writes one log for each request, where the target or the run wants them."""

    def __init__(self, target: Any, around: Surroundings, hidden: Hidden) -> None:
        own = target.log_dir
        self._folder = around.logs if own is None else (around.root / Path(own).expanduser()).resolve()
        self._target = target.name
        self._hidden = hidden
        self._used: set[Path] = set()

    def write(self, request: ProviderRequest, ran: Ran) -> Log:
        """Keep what the program wrote. A log that cannot be written is no failure of the agent's: it is noted."""
        if self._folder is None:
            return Log()
        path = self._free(self._folder / _ODD.sub("-", self._target), log_name(request))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self._hidden.data(ran.output))
            if complaint := self._hidden.data(ran.complaint) + _ending(ran):
                complaint_of(path).write_bytes(complaint)
        except OSError as error:
            return Log(note=f"the log cannot be written: {path}: {error.strerror or error}")
        return Log(path, _missing(ran))

    def _free(self, folder: Path, name: str) -> Path:
        """A name of its own for each attempt."""
        path, number = folder / f"{name}.log", 2
        while path in self._used or path.exists():
            path, number = folder / f"{name}{TRIAL}{number}.log", number + 1
        self._used.add(path)
        return path


def complaint_of(log: Path) -> Path:
    """The file beside a log with what went to stderr, and how the program ended if that was not well."""
    return log.with_suffix(".stderr.txt")


def _ending(ran: Ran) -> bytes:
    if ran.ended is None and not ran.status:
        return b""
    how = how_it_ended(ran.status) if ran.ended is None else f"was ended: {ran.ended}"
    return f"\n{ENDED}{how}\n".encode()


def _missing(ran: Ran) -> str | None:
    """What a program wrote to stderr is kept from its end on."""
    cut = len(ran.complaint) >= MOST_COMPLAINT
    return f"the log holds only the last {MOST_COMPLAINT:,} bytes of stderr" if cut else None


def plain_name(request: ProviderRequest) -> str:
    """The case as part of a file name; two cases may have the same."""
    return (_ODD.sub("-", request.case_id or "request").strip("-.") or "request")[:_LONGEST_NAME]


def log_name(request: ProviderRequest) -> str:
    """A file name for a request: its case and trial. An id that cannot be one gets a few characters that no other id
    has.

    >>> from turnwise.providers.base import ProviderRequest
    >>> log_name(ProviderRequest(question="", case_id="greeting", attempt=2))
    'greeting@2'
    >>> log_name(ProviderRequest(question="", case_id="a/b c", attempt=2))
    'a-b-c-0af99a@2'
    """
    wanted, case = request.case_id or "request", plain_name(request)
    own = "" if case == wanted else f"-{hashlib.sha256(wanted.encode('utf-8', 'replace')).hexdigest()[:6]}"
    return f"{case}{own}{TRIAL}{request.attempt}"
