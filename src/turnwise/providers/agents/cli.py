"""Any program that takes a prompt and gives an answer: how its command is made, and how its answer is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import SetupError
from ...targets.command_rules import check_batch, check_prompt
from ...targets.commands import arguments_of, placeholders
from ..pointer import PointerError, resolve_pointer
from .cli_template import filled
from .kind import Start, Task
from .leftovers import plain_file
from .session import Session

if TYPE_CHECKING:
    from ...programs.program import Ran
    from ...targets.resolve import ResolvedTarget
    from ..base import Provider
    from .base import Surroundings

__all__ = ["Cli", "open_cli"]

# Linux takes no argument of 131,072 bytes or more.
_LONGEST_ARGUMENT = 120_000
_LONGEST_ANSWER = 64 * 1024 * 1024


def open_cli(resolved: ResolvedTarget, around: Surroundings) -> Provider:
    """The provider of a `cli` target: one process for each request or for many, after a check if there is one."""
    from .base import AgentProvider
    from .opening import agent_kind

    target: Any = resolved.target
    kind = agent_kind(target) if target.command is None else Cli(target, around.root)
    if target.batch is True and target.command is not None:
        from .cli_batch import BatchProvider

        provider: Provider = BatchProvider(Cli(target, around.root), resolved, around)
    else:
        provider = AgentProvider(kind, resolved, around)
    if target.healthcheck is None:
        return provider
    from .healthcheck import CheckedProvider

    return CheckedProvider(provider, resolved, around)


class Cli:
    """How the program of a target is started, and how its answer is read. It is known by the target's name."""

    install = ""
    config_variables = ()
    signs_in = ""

    def __init__(self, target: Any, root: Path | None = None) -> None:
        self._root = root or Path.cwd()
        self.title: str = target.name
        self.program = _program(target, self._root)

    def start(self, task: Task) -> Start:
        """The command with the request filled in. Raises `SetupError` if that cannot be."""
        target = task.target
        return Start(
            command=self._in_project(_filled(target, _with_prompt(target), self._values(task))),
            given=task.prompt.encode("utf-8", "replace") if target.prompt_by == "stdin" else b"",
            files={_prompt_file(task): task.prompt.encode("utf-8", "replace").decode()},
        )

    def start_batch(self, task: Task, given: bytes) -> Start:
        """The command of a process that takes many requests: only `{PROJECT}` can be filled in."""
        check_batch(task.target)
        command = _filled(task.target, task.target.command, {"PROJECT": str(self._root)})
        return Start(command=self._in_project(command), given=given)

    def read(self, ran: Ran, task: Task) -> Session:
        """What the program printed, or left in the file, is the answer; or what the pointer leads to in it."""
        session, target = Session(), task.target
        data: bytes | None = ran.output
        if target.answer_from == "file":
            data = _left_in(_answer_file(task))
        if data is not None and len(data) > _LONGEST_ANSWER:
            session.misfit = f"left more than {_LONGEST_ANSWER:,} bytes in the file {{OUTPUT_FILE}}"
            return session
        if data is None:
            session.misfit = "left no answer in the file {OUTPUT_FILE}"
            return session
        text = data.decode("utf-8", "replace").rstrip("\r\n")
        if target.answer_pointer is None or not text.strip():
            session.text = text
        else:
            _point(text, target.answer_pointer, session)
        return session

    def _values(self, task: Task) -> dict[str, str | tuple[str, ...]]:
        return {
            "PROMPT": task.prompt,
            "PROMPT_FILE": str(_prompt_file(task)),
            "FILES": tuple(str(each.path) for each in task.files),
            "GUIDELINES": tuple(str(each.path) for each in task.files if each.guideline),
            "CASE_ID": task.request.case_id or "",
            "ATTEMPT": str(task.request.attempt),
            "OUTPUT_FILE": str(_answer_file(task)),
            "PROJECT": str(self._root),
        }

    def _in_project(self, command: tuple[str, ...]) -> tuple[str, ...]:
        """A program that is named by a relative path is one of the project's."""
        program, *rest = command
        own = self._root / Path(program).expanduser() if "/" in program else None
        return command if own is None or not own.exists() else (str(own), *rest)


def _program(target: Any, root: Path) -> str:
    """The program that a command starts; nothing if it is one of the workspace's, which is not there yet, or if the
    command cannot be split, which is told when it is started."""
    try:
        named = "/bin/sh" if target.shell is True else arguments_of(target.command, "command")[0]
    except SetupError:
        return ""
    return named if "/" not in named or (root / Path(named).expanduser()).exists() else ""


def _with_prompt(target: Any) -> list[str] | str:
    """The command, with a place for the prompt. Raises `SetupError` if it has none, or none for the answer."""
    command: list[str] | str = target.command
    check_prompt(target)
    if target.shell is True or target.prompt_by != "argument" or placeholders(command) & {"PROMPT", "PROMPT_FILE"}:
        return command
    return [*arguments_of(command, "command"), "{PROMPT}"]


def _filled(target: Any, command: list[str] | str, values: dict[str, Any]) -> tuple[str, ...]:
    arguments = filled(command, values, shell=target.shell is True, files_format=target.files_format)
    longest = max(len(each.encode("utf-8", "replace")) for each in arguments)
    if longest > _LONGEST_ARGUMENT:
        raise SetupError(
            f"an argument of {target.name!r} has {longest:,} bytes; systems take no more than {_LONGEST_ARGUMENT:,}",
            hint="give the prompt by `prompt_by: stdin`, or by `prompt_by: file` and {PROMPT_FILE}",
        )
    return tuple(each.encode("utf-8", "replace").decode() for each in arguments)


def _prompt_file(task: Task) -> Path:
    return task.scratch / "prompt.md"


def _answer_file(task: Task) -> Path:
    return task.scratch / "answer"


def _left_in(path: Path) -> bytes | None:
    """What a program left in a file; of too much, one byte too many."""
    file = plain_file(path)
    if file is None:
        return None
    with file:
        return file.read(_LONGEST_ANSWER + 1)


def _point(text: str, pointer: str, session: Session) -> None:
    try:
        value = resolve_pointer(json.loads(text), pointer)
    except PointerError as error:
        session.misfit = f"wrote JSON that has no answer at `{pointer}`: {error}"
    except (ValueError, RecursionError):
        session.misfit = f"should write JSON, and wrote: {text!r}"
    else:
        if isinstance(value, str):
            session.text = value
        else:
            session.misfit = f"wrote JSON whose `{pointer}` is no text: {json.dumps(value)}"
