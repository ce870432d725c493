"""The kind `code`: any program judges the answer. It is given JSON, and its verdict is JSON.

The program is not trusted to end, to be quiet or to make sense. Whatever it does, the run goes on; and what keeps it
from judging is an error, never a score.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from ..conversation.authored import FormatModel, Word
from ..errors import Problem
from .base import Grade, GradeError, GraderSettings, Submission
from .protocol import judged, submission_data

if TYPE_CHECKING:
    from ..programs.program import Program, Ran

__all__ = ["CodeGrader", "CodeOptions"]

_LONGEST_TIMEOUT = 86_400
_VARIABLE = re.compile(r"\$\{\{\s*(\w*)")

Arguments = Annotated[list[str], Field(min_length=1)]


class CodeOptions(FormatModel):
    """A program that reads JSON and prints a score."""

    command: Annotated[Arguments | Word, Field(union_mode="left_to_right")] | None = Field(
        None, description="The program and its arguments: a list, or one text that is split as a shell would."
    )
    script: Word | None = Field(None, description="The same as `command` in one text, as AgentV spells it.")
    cwd: Word | None = Field(
        None, description="The folder to run it in, relative to the suite's, which is the default."
    )
    timeout: float = Field(60, gt=0, le=_LONGEST_TIMEOUT, description="Seconds until it is ended.")
    env: dict[Word, str] = Field({}, description="Variables that are set for it.")
    inherit_env: list[Word] = Field([], description="Variables of your environment that it may see.")
    max_output_bytes: int = Field(1_000_000, ge=1, description="How much it may write before it is ended.")
    workers: int | None = Field(
        None, ge=1, description="How many may run at once; as many as there are cores if absent."
    )

    @model_validator(mode="after")
    def _names_a_program(self) -> Self:
        if (self.command is None) == (self.script is None):
            rule = "`code` needs a `command`" if self.command is None else "`command` and `script` are the same"
            hint = "such as `command: [python3, check.py]`" if self.command is None else "remove one of them"
            raise PydanticCustomError("bad_command", "{rule}", {"rule": rule, "hint": hint})
        _split(self.command or self.script or "")
        for name, value in self.env.items():
            if (variable := _VARIABLE.search(value)) is not None:
                rule = "`env` takes plain texts: `${{ }}` in the value of {name} is not filled in"
                hint = f"write `inherit_env: [{variable[1] or name}]`: the program sees the variable under its own name"
                raise PydanticCustomError("grader_options", rule, {"name": name, "hint": hint})
        return self

    @property
    def arguments(self) -> tuple[str, ...]:
        """The program and its arguments."""
        return _split(self.command or self.script or "")

    def folder(self, suites: Path) -> Path:
        """The folder that the program is run in, for a suite in the folder `suites`."""
        return suites if self.cwd is None else suites / Path(self.cwd).expanduser()

    def problem(self, suites: Path) -> Problem | None:
        """What is not there, if that can be known before the program is run; None otherwise."""
        folder, program = self.folder(suites), self.arguments[0]
        if not folder.is_dir():
            return Problem((), "bad-command", f"there is no folder {folder} to run the program in", "check `cwd`")
        # Without a slash, it is looked up on the path that the program is given.
        if "/" in program and not (folder / program).exists():
            hint = "paths start from `cwd`, or else from the suite's folder"
            return Problem((), "bad-command", f"there is no program {program} in {folder}", hint)
        return None


def _split(command: list[str] | str) -> tuple[str, ...]:
    import shlex

    try:
        arguments = shlex.split(command) if isinstance(command, str) else command
    except ValueError as error:
        hint = "write a list, which needs no quotes: [python3, check.py]"
        reason = f"`command` cannot be split: {str(error).lower()}"
        raise PydanticCustomError("bad_command", "{reason}", {"reason": reason, "hint": hint}) from error
    if not arguments or not arguments[0].strip():
        raise PydanticCustomError("bad_command", "`command` names no program", {"hint": "such as [python3, check.py]"})
    return tuple(arguments)


@dataclass(frozen=True, slots=True)
class CodeGrader:
    """Runs the program for each answer, some at a time."""

    options: CodeOptions
    settings: GraderSettings

    def program_problem(self, suites: Path) -> Problem | None:
        """What keeps the program from being run, for a suite in that folder."""
        return self.options.problem(suites)

    async def grade(self, submission: Submission) -> Grade:
        """Judge an answer."""
        from .code_run import code_ran, waiting_room
        from .code_verdict import verdict_of

        program, hidden = self._program(submission)
        given = json.dumps(submission_data(submission)).encode("ascii")
        async with waiting_room(self.settings.name, self.options.workers):
            outcome: Ran | GradeError = await code_ran(program, given)
        if isinstance(outcome, GradeError):
            return self.settings.ungraded(outcome)
        return judged(self.settings, verdict_of(outcome, program, hidden))

    def _program(self, submission: Submission) -> tuple[Program, dict[str, str]]:
        """The program; and, by name, what it knows but nobody should read in a result."""
        from ..programs.environment import environment, hidden_values
        from ..programs.program import Program

        options = self.options
        program = Program(
            command=options.arguments,
            folder=options.folder(submission.folder or Path.cwd()),
            environment=environment(options.env, options.inherit_env),
            seconds=options.timeout,
            most_bytes=options.max_output_bytes,
        )
        return program, hidden_values(options.inherit_env)
