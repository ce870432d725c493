"""The graders of a case that ask a model without a deck, and the files of their prompts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import FileReferenceError, Problem
from .inside import judges_inside, names_judge
from .judge_prompt import JudgePrompt
from .numbered import GraderIndex, numbered_graders
from .roles import PromptText, Wanted
from .specs import make_graders

if TYPE_CHECKING:
    from ..suite.case import Case, CaseContext
    from ..suite.paths import DataPath

__all__ = ["FoundPrompt", "JudgeUse", "find_prompt", "judge_uses", "prompt_problems"]

_LONGEST_PATH = 500


@dataclass(frozen=True, slots=True)
class JudgeUse:
    """A grader of a case that asks a model: its kind, whom it wants, and its place below the grader that holds it."""

    kind: str
    wanted: Wanted
    inside: DataPath = ()


@dataclass(frozen=True, slots=True)
class FoundPrompt:
    """The words of a prompt, and the file that they are from; None if they stand in the suite."""

    text: str
    file: str | None = None


def judge_uses(case: Case) -> Iterator[tuple[GraderIndex, JudgeUse]]:
    """Those graders, each with the number of the grader that it is or is inside of; those with a mistake are not."""
    for index, spec in numbered_graders(case):
        if names_judge(spec):
            for grader in make_graders([spec])[0]:
                for inside, found in judges_inside(grader, spec):
                    kind = getattr(getattr(found, "settings", None), "kind", "grader")
                    yield index, JudgeUse(kind, found.wanted(), inside)


def find_prompt(prompt: PromptText, context: CaseContext) -> FoundPrompt:
    """The text of the file that is named, or what is written if no file has that name.

    Raises `FileReferenceError` for what is surely a file, but cannot be read.
    """
    written = prompt.written.strip()
    if "\n" in written or len(written) > _LONGEST_PATH:
        return FoundPrompt(prompt.written)
    try:
        return _read(written, context)
    except FileReferenceError:
        if _looks_like_a_file(written):
            raise
        return FoundPrompt(prompt.written)


def prompt_problems(prompt: PromptText, context: CaseContext) -> list[Problem]:
    """What is wrong with a prompt: its file, or a name in it."""
    try:
        found = find_prompt(prompt, context)
    except FileReferenceError as error:
        hint = "mend the path; if it is the text of a prompt, end it with a full stop"
        return [Problem((), f"file-{error.kind}", str(error), hint if error.kind == "missing" else error.hint)]
    if not found.text.strip():
        return [Problem((), "empty", f"the prompt {found.file or ''} is empty".replace("  ", " "), "say what to judge")]
    return JudgePrompt(found.text, prompt.form).problems()


def _read(written: str, context: CaseContext) -> FoundPrompt:
    """Beside the suite first, then beside a dataset in another folder."""
    beside_suite = Path(context.source.file).parent
    try:
        found = context.files.read_text(written, beside_suite)
    except FileReferenceError:
        found = context.files.read_text(written, context.folder)
    return FoundPrompt(found.content, found.path)


def _looks_like_a_file(written: str) -> bool:
    """A line that ends like a file of text: a mistake in a path should not become a prompt."""
    filled = "{{" in written or "${" in written
    return not filled and written.lower().endswith((".md", ".txt", ".prompt", ".jinja", ".j2"))
