"""`.env` files: `KEY=VALUE` lines. What they hold is secret: no message and no place ever shows a piece of it.

    # a comment
    export OPENAI_API_KEY=sk-…          `export` may stand before the key
    FOLDER=C:/Users/me/My Documents     unquoted: to the end of the line, or to ` #`
    PLAIN='as it is, \\n too'            single quotes: nothing is special inside
    BANNER="two\\nlines"                 double quotes: \\n, \\t, \\" and \\\\ are escapes, other backslashes stay

A value is on one line, and `$NAME` in it means nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from ..conversation.files import shown_file
from ..diagnostics import Diagnostic, Place, has_errors
from ..errors import ConfigError, InputError
from ..suite.reading import read_source_text

__all__ = ["environment", "parse_dotenv", "read_dotenv"]

_KEY = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=", re.ASCII)
_COMMENT = re.compile(r"(?:^|[ \t])#")
_ESCAPE = re.compile(r'\\([nt"\\])')
_ESCAPED = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}
_CLOSED = {"'": re.compile(r"'([^']*)'"), '"': re.compile(r'"((?:[^"\\]|\\.)*)"')}


class _LineError(Exception):
    """Why a line cannot be read, and in which column."""

    def __init__(self, code: str, message: str, hint: str, column: int) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.column = column


def environment(project_root: Path) -> Mapping[str, str]:
    """The variables that targets may use: the process's own, then `.turnwise/.env`, then `.env` in the project's root.

    Files that do not exist are passed over, and so is a folder named `.env`. Raises `ConfigError` for malformed lines
    of either file.
    """
    variables: dict[str, str] = {}
    diagnostics: list[Diagnostic] = []
    for path in (project_root / ".env", project_root / ".turnwise" / ".env"):
        # Neither a virtual environment of that name nor a pipe, which would block, is meant.
        if os.path.isfile(path):
            values, found = read_dotenv(path)
            variables |= values
            diagnostics += found
    if has_errors(diagnostics):
        raise ConfigError(diagnostics)
    return variables | os.environ


def read_dotenv(path: Path) -> tuple[dict[str, str], list[Diagnostic]]:
    """The variables of a file, and what is wrong with it; never raises for what the file holds."""
    file = shown_file(path)
    try:
        return parse_dotenv(read_source_text(path, file), file)
    except InputError as error:
        return {}, [_without_content(diagnostic) for diagnostic in error.diagnostics]


def parse_dotenv(text: str, file: str = ".env") -> tuple[dict[str, str], list[Diagnostic]]:
    """The variables of a text, and its malformed lines; those are left out, the others are read.

    >>> parse_dotenv('A=1 # one\\nexport B="x y"')[0]
    {'A': '1', 'B': 'x y'}
    >>> print(parse_dotenv("A=1\\nB='x")[1][0])
    .env:2:3: error: a quote is not closed on its line
    """
    variables: dict[str, str] = {}
    diagnostics: list[Diagnostic] = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        line = line.removesuffix("\r")
        try:
            pair = _pair(line)
        except _LineError as fault:
            place = Place(number, fault.column)
            diagnostics.append(Diagnostic("error", fault.code, fault.message, file, place, fault.hint))
            continue
        if pair is None:
            continue
        key, value, column = pair
        if key in variables:
            message = f"{key} is set twice: this one is used"
            place = Place(number, column)
            diagnostics.append(Diagnostic("warning", "duplicate-key", message, file, place, "remove one of them"))
        variables[key] = value
    return variables, diagnostics


def _pair(line: str) -> tuple[str, str, int] | None:
    """Key, value, and the column of the key; None for a line that says nothing."""
    bare = line.strip()
    if not bare or bare.startswith("#"):
        return None
    match = _KEY.match(line)
    if match is None:
        # The line may be the rest of a value that was broken in two, so nothing of it is quoted.
        column = len(line) - len(line.lstrip()) + 1
        raise _LineError("bad-line", "this line is not KEY=VALUE", "keys have letters, digits and `_`", column)
    return match[1], _value(line, match.end()), match.start(1) + 1


def _value(line: str, start: int) -> str:
    rest = line[start:]
    value = rest.lstrip(" \t")
    start += len(rest) - len(value)
    if value[:1] in _CLOSED:
        return _quoted(value, start)
    # `KEY=#x` is the text `#x`; `KEY= #x` is an empty value and a comment.
    comment = _COMMENT.search(rest) if rest[:1] != "#" else _COMMENT.search(rest, 1)
    return (rest[: comment.start()] if comment else rest).strip()


def _quoted(value: str, start: int) -> str:
    quote = value[0]
    match = _CLOSED[quote].match(value)
    if match is None:
        hint = 'close it; a line break is written "\\n", in double quotes'
        raise _LineError("unclosed-quote", "a quote is not closed on its line", hint, start + 1)
    after = value[match.end() :].strip()
    if after and not after.startswith("#"):
        hint = 'a quoted value ends at the quote; inside double quotes a quote is written \\"'
        raise _LineError("text-after-quote", "there is text after the closing quote", hint, start + match.end() + 1)
    return match[1] if quote == "'" else _ESCAPE.sub(lambda escape: _ESCAPED[escape[1]], match[1])


def _without_content(diagnostic: Diagnostic) -> Diagnostic:
    """The same problem of reading the file, with nothing in it that the file holds."""
    message = "not UTF-8 text" if diagnostic.code == "not-utf8" else diagnostic.message
    hint = None if diagnostic.code == "too-large" else diagnostic.hint
    place = Place(diagnostic.place.line, diagnostic.place.column)
    return Diagnostic("error", diagnostic.code, message, diagnostic.file, place, hint)
