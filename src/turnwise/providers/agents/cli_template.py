"""Commands with placeholders: which there are, and how a request is filled in, with and without a shell. Pure."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath

from ...errors import SetupError
from .steps import arguments_of

__all__ = ["NAMES", "Values", "filled", "placeholders"]

NAMES = ("PROMPT", "PROMPT_FILE", "FILES", "GUIDELINES", "CASE_ID", "ATTEMPT", "OUTPUT_FILE", "PROJECT")
"""What a command may name in braces."""

Values = Mapping[str, str | tuple[str, ...]]
"""A value for each name; those of `FILES` and `GUIDELINES` are paths."""

_SHELL = "/bin/sh"
_PATH = "{path}"
# `${NAME}` is a variable of the shell's.
_PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Z][A-Z0-9_]*)\}")
_IN_FORMAT = re.compile(r"\{(path|basename)\}")


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
        raise SetupError(f"`{key}` has a placeholder that is not known: {{{name}}}", hint=hint)
    return found


def filled(
    command: Sequence[str] | str, values: Values, *, shell: bool, files_format: str | None, key: str = "command"
) -> tuple[str, ...]:
    """The arguments of a command. A text is split before it is filled in: no value becomes two arguments.

    With `shell`, they start a shell, and every value is quoted for it. Raises `SetupError` for a command that cannot
    be filled in.

    >>> filled("say --to 'a b' {PROMPT}", {"PROMPT": "it's 5 > 4"}, shell=False, files_format=None)
    ('say', '--to', 'a b', "it's 5 > 4")
    >>> filled("say {PROMPT} | tr a b", {"PROMPT": "$(x)"}, shell=True, files_format=None)
    ('/bin/sh', '-c', "say '$(x)' | tr a b")
    """
    placeholders(command, key)
    form = files_format or _PATH
    if not shell:
        words = arguments_of(command, key)
        return tuple(argument for word in words for argument in _arguments(word, values, form))
    if not isinstance(command, str):
        raise SetupError(f"with `shell: true`, `{key}` is one text", hint="a list needs no shell: leave `shell` out")
    _check_quotes(command, _PLACEHOLDER, key)
    _check_quotes(form, _IN_FORMAT, "files_format")

    return _SHELL, "-c", _PLACEHOLDER.sub(lambda match: _text(match[1], values, form, shlex.quote), command)


def _arguments(word: str, values: Values, form: str) -> Iterator[str]:
    whole = _PLACEHOLDER.fullmatch(word)
    if whole is not None and _is_list(values, whole[1]):
        for path in values[whole[1]]:
            yield from (_formatted(part, path) for part in _parts(form, whole[1]))
    else:
        yield _PLACEHOLDER.sub(lambda match: _text(match[1], values, form, str), word)


def _is_list(values: Values, name: str) -> bool:
    return not isinstance(values[name], str)


def _text(name: str, values: Values, form: str, quote: Callable[[str], str]) -> str:
    value = values[name]
    if isinstance(value, str):
        return quote(value)
    return " ".join(_formatted(form if name == "FILES" else _PATH, path, quote) for path in value)


def _parts(form: str, name: str) -> tuple[str, ...]:
    """`--file {path}` is two arguments, as it is in a shell. Only files have a form, guidelines are paths."""
    return arguments_of(form, "files_format") if name == "FILES" else (_PATH,)


def _formatted(form: str, path: str, quote: Callable[[str], str] = str) -> str:
    given = {"path": quote(path), "basename": quote(PurePath(path).name)}
    return _IN_FORMAT.sub(lambda match: given[match[1]], form)


def _check_quotes(command: str, pattern: re.Pattern[str], key: str) -> None:
    """Quotes within quotes end them: a prompt could then run commands. So a placeholder stands alone."""
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
