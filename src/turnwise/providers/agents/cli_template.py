"""Commands with placeholders: which there are, and how a request is filled in, with and without a shell. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath

from ...errors import SetupError
from ...targets.commands import (
    IN_FORMAT,
    NAMES,
    arguments_of,
    check_files_form,
    check_quotes,
    check_shell_words,
    fill_in,
    placeholders,
    whole_placeholder,
)

__all__ = ["NAMES", "Values", "filled", "placeholders"]

Values = Mapping[str, str | tuple[str, ...]]
"""A value for each name; those of `FILES` and `GUIDELINES` are paths."""

_SHELL = "/bin/sh"
_PATH = "{path}"


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
        if isinstance(command, str):
            check_shell_words(command, key)
        words = arguments_of(command, key)
        return tuple(argument for word in words for argument in _arguments(word, values, form))
    if not isinstance(command, str):
        raise SetupError(f"with `shell: true`, `{key}` is one text", hint="a list needs no shell: leave `shell` out")
    check_quotes(command, key)
    check_files_form(form)

    return _SHELL, "-c", fill_in(command, lambda name: _text(name, values, form, shlex.quote))


def _arguments(word: str, values: Values, form: str) -> Iterator[str]:
    whole = whole_placeholder(word)
    if whole is not None and _is_list(values, whole):
        for path in values[whole]:
            yield from (_formatted(part, path) for part in _parts(form, whole))
    else:
        yield fill_in(word, lambda name: _text(name, values, form, str))


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
    return IN_FORMAT.sub(lambda match: given[match[1]], form)
