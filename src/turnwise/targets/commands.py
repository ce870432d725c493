"""Commands as targets write them: their words, their placeholders, and what a shell would make of them. Pure."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Callable, Sequence

from ..errors import SetupError
from .shell_text import end_of_text, surroundings

__all__ = [
    "IN_FORMAT",
    "NAMES",
    "arguments_of",
    "check_files_form",
    "check_quotes",
    "check_shell_words",
    "fill_in",
    "placeholders",
    "whole_placeholder",
]

NAMES = ("PROMPT", "PROMPT_FILE", "FILES", "GUIDELINES", "CASE_ID", "ATTEMPT", "OUTPUT_FILE", "PROJECT")
"""What a command may name in braces."""

_NAME = r"\{([A-Z][A-Z0-9_]*)\}"
_LITERAL = r"(?<!\$)\{(\{[A-Z][A-Z0-9_]*\})\}"
# `${NAME}` is a variable of the shell's, and a name in two pairs of braces is a text.
_PLACEHOLDER = re.compile(rf"(?<!\$)(?!(?<=(?<!\$)\{{){_NAME.replace('(', '(?:')}\}}){_NAME}")
_LITERAL_OR_PLACEHOLDER = re.compile(rf"{_LITERAL}|{_PLACEHOLDER.pattern}")

IN_FORMAT = re.compile(r"\{(path|basename)\}")
"""What `files_format` may hold."""

_SHELL_WORDS = frozenset({"&&", "||", ";", "|", "&", ">", ">>", "<", "<<", "2>", "2>&1", ">&2", "&>"})
# The words of a text as they are written, with their quotes.
_WRITTEN_WORD = re.compile(r"""(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|[^ \t\r\n\\'"])+""", re.DOTALL)


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
    found = frozenset(match[1] for word in words for match in _PLACEHOLDER.finditer(word))
    for name in sorted(found.difference(NAMES)):
        near = difflib.get_close_matches(name, NAMES, 1)
        hint = f"did you mean `{{{near[0]}}}`?" if near else "there are " + ", ".join(f"{{{each}}}" for each in NAMES)
        hint = f"{hint.removesuffix('?')}, or, if {{{name}}} is a text, write {{{{{name}}}}}"
        raise SetupError(f"`{key}` has a placeholder that is not known: {{{name}}}", hint=hint)
    return found


def fill_in(text: str, value: Callable[[str], str]) -> str:
    """A text with the value of each placeholder; a name in two pairs of braces loses one of them.

    >>> fill_in("{PROMPT} {{X}} ${HOME}", str.lower)
    'prompt {X} ${HOME}'
    """
    return _LITERAL_OR_PLACEHOLDER.sub(lambda found: found[1] or value(found[2]), text)


def whole_placeholder(word: str) -> str | None:
    """The name of the placeholder that a word is, and nothing else."""
    whole = _PLACEHOLDER.fullmatch(word)
    return whole[1] if whole is not None else None


def check_shell_words(command: str, key: str) -> None:
    """Raise `SetupError` for a text that is written for a shell, where there is none: `&&` would be an argument.

    >>> check_shell_words("grep '|' notes.txt", "command")
    """
    arguments_of(command, key)
    found = next((word for word in _WRITTEN_WORD.findall(command) if word in _SHELL_WORDS), None)
    if found is not None:
        # `shell: true` is for the target's own command, too, which may be a list.
        shell = "set `shell: true`" if key == "command" else 'write it as a list: [sh, -c, "…"]'
        raise SetupError(
            f"`{key}` is run without a shell, for which `{found}` is an argument like any other",
            hint=f"{shell}, or quote it if it is meant as an argument",
        )


def check_quotes(command: str, key: str, pattern: re.Pattern[str] = _PLACEHOLDER) -> None:
    """Raise `SetupError` for a placeholder that does not stand alone, as a plain word of a shell's. Quotes within
    quotes end them, and a second line ends a comment: a prompt could then run commands."""
    found = {match.start(): match for match in pattern.finditer(command)}
    around = surroundings(command, [match.span() for match in found.values()])
    for start in sorted(around):
        name = found[start][0]
        hint = f"write {name} without quotes around it"
        if around[start] != "within quotes":
            hint = f"""write a list, with "$1" for it in the text: [sh, -c, '…', sh, "{name}"]"""
        message = f"`{key}`: {name} stands {around[start]}, where a value might run commands"
        raise SetupError(message, hint=hint)


def check_files_form(form: str) -> None:
    """Raise `SetupError` for a form of files that a shell would misread, of one file or of many in a row."""
    check_quotes(form, "files_format", IN_FORMAT)
    if (around := end_of_text(form)) is not None:
        raise SetupError(f"`files_format` ends {around}, which would go on in the next file", hint="end it there")
