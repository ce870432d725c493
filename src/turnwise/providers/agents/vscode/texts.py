"""Everything that VS Code's agent is told. Pure.

An answer is written under one name and renamed when it is complete: a file of the final name is never half an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Letter", "orchestrator_text", "prompt_for", "request_text", "wake_up_text"]


@dataclass(frozen=True, slots=True)
class Letter:
    """The files of one request, in `folder`; `stamp` begins their names."""

    folder: Path
    stamp: str

    @property
    def request(self) -> Path:
        """What is asked."""
        return self.folder / f"{self.stamp}_req.md"

    @property
    def unfinished(self) -> Path:
        """The answer while it is written."""
        return self.folder / f"{self.stamp}_res.tmp.md"

    @property
    def answer(self) -> Path:
        """The whole answer."""
        return self.folder / f"{self.stamp}_res.md"


def request_text(document: str, letter: Letter) -> str:
    """The request file: the agent document, and where the answer goes."""
    return f"{document}\n\n---\n\n{_where(letter)}\n"


def orchestrator_text(letters: Sequence[Letter]) -> str:
    """The request file of a batch: which request files there are, and what to do with them.

    >>> print(orchestrator_text([Letter(Path("/m"), "1_0"), Letter(Path("/m"), "1_1")]))
    Each of these files is a request of its own. Carry out every one of them, to the end:
    <BLANKLINE>
    - /m/1_0_req.md
    - /m/1_1_req.md
    <BLANKLINE>
    Give each request to a subagent of its own (#runSubagent) if you can, else carry them out one after the other.
    No request may use what another says. Each file says where its answer goes.
    <BLANKLINE>
    """
    listed = "\n".join(f"- {letter.request}" for letter in letters)
    return (
        "Each of these files is a request of its own. Carry out every one of them, to the end:\n\n"
        f"{listed}\n\n"
        "Give each request to a subagent of its own (#runSubagent) if you can, else carry them out one after the "
        "other.\n"
        "No request may use what another says. Each file says where its answer goes.\n"
    )


def wake_up_text(letter: Letter) -> str:
    """A chat that shows that the agent is there, and can write a file and rename it without asking anybody."""
    return f"Show that you are ready: answer with the word “ready”.\n\n{_where(letter)}"


def prompt_for(file: Path) -> str:
    """The text of the chat that hands a request file over.

    >>> prompt_for(Path("/m/1_req.md"))
    'Follow the instructions in [1_req.md](file:///m/1_req.md).'
    """
    return f"Follow the instructions in [{file.name}]({file.as_uri()})."


def _where(letter: Letter) -> str:
    return (
        "Answer with files, not in the chat.\n"
        f"Write your whole answer to the file: {letter.unfinished}\n"
        f"Then rename it to: {letter.answer}"
    )
