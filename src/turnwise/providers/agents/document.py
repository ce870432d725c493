"""What an agent is asked: the question, and before it links to every file that it must read first. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Mirrored", "agent_document"]


@dataclass(frozen=True, slots=True)
class Mirrored:
    """A file of the case in the agent's workspace. `written` is how the case spells it."""

    written: str
    path: Path
    guideline: bool = False


def agent_document(question: str, files: Sequence[Mirrored]) -> str:
    """The text that an agent is given; without files it is the question alone.

    >>> print(agent_document("Is it polite?", [Mirrored("tone.md", Path("/w/tone.md"), guideline=True)]))
    Read every file of this list before you answer: open each of them.
    <BLANKLINE>
    Guidelines to follow:
    - [tone.md](file:///w/tone.md)
    <BLANKLINE>
    When you have read them, answer this:
    <BLANKLINE>
    Is it polite?
    """
    if not files:
        return question
    blocks = ["Read every file of this list before you answer: open each of them."]
    blocks += _links("Guidelines to follow:", [each for each in files if each.guideline])
    blocks += _links("Attachments:", [each for each in files if not each.guideline])
    return "\n\n".join([*blocks, "When you have read them, answer this:", question])


def _links(title: str, files: Sequence[Mirrored]) -> list[str]:
    lines = [f"- [{_label(each.written)}]({each.path.as_uri()})" for each in files]
    return ["\n".join([title, *lines])] if lines else []


def _label(written: str) -> str:
    """A path as the text of a link: a bracket or a line break in it must not end the link."""
    return " ".join(written.split()).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
