"""How the settings of a `cli` target go together: whether its command has a place for what it must hold. Pure.

A text with a variable in it is checked when the variable is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import SetupError
from .commands import IN_FORMAT, check_files_form, check_quotes, check_shell_words, placeholders

__all__ = ["check_batch", "check_command", "check_files_format", "check_healthcheck", "check_prompt"]

_IN_PLACE = "add it where the path belongs"


def check_command(target: Any) -> None:
    """Raise `SetupError` for a command that no request could be filled into."""
    command: list[str] | str = target.command
    if _is_open(command):
        return
    placeholders(command)
    _check_text(command, target.shell, "command")
    if target.batch is True:
        check_batch(target)
    elif target.batch is False:
        check_prompt(target)


def check_batch(target: Any) -> None:
    """Raise `SetupError` for a command that many requests share, and that has a place for one."""
    found = placeholders(target.command) - {"PROJECT"}
    if found:
        message = f"with `batch: true`, `command` cannot hold {{{min(found)}}}: one process takes many requests"
        raise SetupError(message, hint="each request is a line of JSON on the program's stdin")


def check_prompt(target: Any) -> None:
    """Raise `SetupError` for a command without a place for the prompt, with two, or without one for the answer."""
    names = placeholders(target.command)
    if target.answer_from == "file" and "OUTPUT_FILE" not in names:
        raise SetupError("`answer_from: file` needs {OUTPUT_FILE} in `command`", hint=_IN_PLACE)
    if target.prompt_by == "file" and "PROMPT_FILE" not in names:
        raise SetupError("`prompt_by: file` needs {PROMPT_FILE} in `command`", hint=_IN_PLACE)
    if target.prompt_by == "stdin" and "PROMPT" in names:
        message = "with `prompt_by: stdin`, `command` cannot hold {PROMPT}: the program would get the prompt twice"
        raise SetupError(message, hint="remove one of the two")
    if target.shell is True and target.prompt_by == "argument" and not names & {"PROMPT", "PROMPT_FILE"}:
        message = "`command` has no place for the prompt: neither {PROMPT} nor {PROMPT_FILE}"
        raise SetupError(message, hint="add one of them, without quotes, or set `prompt_by: stdin`")


def check_files_format(target: Any) -> None:
    """Raise `SetupError` for a form of files that names none of them, or that a shell would misread."""
    form: str = target.files_format
    if _is_open(form):
        return
    if IN_FORMAT.search(form) is None:
        message = "`files_format` names no file: it holds neither {path} nor {basename}"
        raise SetupError(message, hint="such as files_format: --file {path}")
    if target.shell is True:
        check_files_form(form)


def check_healthcheck(target: Any) -> None:
    """Raise `SetupError` for a check whose command cannot be run."""
    command: list[str] | str = target.healthcheck.command
    if _is_open(command):
        return
    placeholders(command, "healthcheck.command")
    # A list needs no shell, whatever the target's own command is.
    _check_text(command, target.shell if isinstance(command, str) else False, "healthcheck.command")


def _check_text(command: Sequence[str] | str, shell: Any, key: str) -> None:
    if shell is True and not isinstance(command, str):
        raise SetupError(f"with `shell: true`, `{key}` is one text", hint="a list needs no shell: leave `shell` out")
    if isinstance(command, str) and shell is True:
        check_quotes(command, key)
    elif isinstance(command, str) and shell is False:
        check_shell_words(command, key)


def _is_open(command: Sequence[str] | str) -> bool:
    words = [command] if isinstance(command, str) else command
    return any("${{" in word for word in words)
