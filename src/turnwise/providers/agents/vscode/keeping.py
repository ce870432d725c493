"""What stays of a request to VS Code: its folder is emptied for the next one, and the log is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....errors import ProtocolError
from ....programs.program import Ran
from .answers import read_answer

if TYPE_CHECKING:
    from ...base import ProviderRequest
    from ..logs import AgentLogs
    from ..work import AgentWork
    from .preparing import Errand

__all__ = ["keep_letters"]


def keep_letters(logs: AgentLogs, request: ProviderRequest, errand: Errand, said: str, work: AgentWork) -> None:
    """Write request and answer into the log of the request, with what `code` said beside it."""
    letter = errand.letter
    parts = [f"# {letter.request.name}\n\n{errand.text.rstrip()}\n"]
    for answer in (letter.unfinished, letter.answer):
        if answer.exists() or answer.is_symlink():
            try:
                text = read_answer(answer)
            except ProtocolError as error:
                text = f"(not kept: {error})"
            parts.append(f"# {answer.name}\n\n{text}\n")
    output = "\n".join(parts).encode("utf-8", "replace")
    work.keep(logs.write(request, Ran(status=0, output=output, complaint=said.encode("utf-8", "replace"))))
