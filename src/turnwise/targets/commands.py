"""Commands as targets write them: their words, their placeholders, and what a shell would make of them. Pure."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Sequence

from ..errors import SetupError

__all__ = ["IN_FORMAT", "NAMES", "PLACEHOLDER", "arguments_of", "check_quotes", "check_shell_words", "placeholders"]

NAMES = ("PROMPT", "PROMPT_FILE", "FILES", "GUIDELINES", "CASE_ID", "ATTEMPT", "OUTPUT_FILE", "PROJECT")
"""What a command may name in braces."""

# `${NAME}` is a variable of the shell's.
PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Z][A-Z0-9_]*)\}")
"""One of `NAMES` in braces."""

IN_FORMAT = re.compile(r"\{(path|basename)\}")
"""What `files_format` may hold."""

_SHELL_WORDS = frozenset({"&&", "||", ";", "|", "&", ">", ">>", "<", "<<", "2>", "2>&1", ">&2", "&>"})


def arguments_of(command: Sequence[str] | str, key: str) -> tuple[str, ...]:
    """A command as a list of arguments; a text is split as a shell would. Raises `SetupError` if it cannot be.

    >>> arguments_of("git commit -m 'a b'", "command")
    ('git', 'commit', '-m', 'a b')
    """
    try:
        arguments = tuple(shlex.split(command) if isinstance(command, str) else command)
    except ValueError as error:
        message = f"`{key}` cannot be split into arguments: {str(error).lower()}"
        raise SetupError(message, hint="write it as a list, which needs no quotes") from error
    if not arguments:
        raise SetupError(f"`{key}` names no program", hint="write it as a list: [program, argument]")
    return arguments


def placeholders(command: Sequence[str] | str, key: str = "command") -> frozenset[str]:
    """The names that a command holds. Raises `SetupError` for one that means nothing.

    >>> sorted(placeholders(["awk", "{print $1}", "${HOME}/x", "--id={CASE_ID}", "{PROMPT}"]))
    ['CASE_ID', 'PROMPT']
    """
    words = [command] if isinstance(command, str) else command
    found = frozenset(match[1] for word in words for match in PLACEHOLDER.finditer(word))
    for name in sorted(found.difference(NAMES)):
        near = difflib.get_close_matches(name, NAMES, 1)
        hint = f"did you mean `{{{near[0]}}}`?" if near else "there are " + ", ".join(f"{{{each}}}" for each in NAMES)
        raise SetupError(f"`{key}` has a placeholder that is not known: {{{name}}}", hint=hint)
    return found


def check_shell_words(command: str, key: str) -> None:
    """Raise `SetupError` for a text that is written for a shell, where there is none: `&&` would be an argument.

    >>> check_shell_words("grep '|' notes.txt", "command")
    """
    arguments_of(command, key)
    # Words that are quoted keep their quotes here, and so are none of a shell's.
    found = next((word for word in shlex.split(command, posix=False) if word in _SHELL_WORDS), None)
    if found is not None:
        raise SetupError(
            f"`{key}` is run without a shell, for which `{found}` is an argument like any other",
            hint="set `shell: true`, or quote it if it is meant as an argument",
        )


def check_quotes(command: str, pattern: re.Pattern[str], key: str) -> None:
    """Raise `SetupError` for a placeholder in quotes. Quotes within quotes end them: a prompt could then run commands.
    So a placeholder stands alone."""
    for match in pattern.finditer(command):
        around = _surroundings(command[: match.start()])
        if around is not None:
            raise SetupError(
                f"`{key}`: {match[0]} stands {around}; with `shell: true` it is quoted already",
                hint=f"write {match[0]} without quotes around it",
            )


def _surroundings(before: str) -> str | None:
    """What a shell would be in the middle of after this text, if anything that changes how it reads the next."""
    quote, position = "", 0
    while position < len(before):
        each = before[position]
        if each == "\\" and quote != "'":
            if position + 1 == len(before):
                return "after a backslash"
            position += 1
        elif quote:
            quote = "" if each == quote else quote
        elif each in "'\"`":
            quote = each
        elif before.startswith("<<", position):
            return "after `<<`"
        position += 1
    return {"": None, "`": "within backticks"}.get(quote, "within quotes")
