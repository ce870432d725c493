"""`${{ NAME }}` in the texts of a target: found, checked and filled in. Pure functions over plain values.

There is no escape: a text that must hold a literal `${{` gets it from a variable, whose value is not looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import Problem
from ..suite.paths import DataPath

__all__ = ["Reference", "is_whole_reference", "malformed", "missing", "references", "substitute"]

_OPEN, _CLOSE = "${{", "}}"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
# What stands between the braces is never quoted: somebody may have written the secret itself there.
_PROBLEMS = {
    "unclosed": "`${{` is not closed by `}}`",
    "nameless": "`${{ }}` names no variable",
    "bad-name": "`${{ … }}` must hold one variable name: letters, digits and `_`, not starting with a digit",
}
_HINT = "write ${{ NAME }}"


@dataclass(frozen=True, slots=True)
class Reference:
    """One use of a variable: its name, where it stands in the data, and whether it is the whole text there."""

    path: DataPath
    name: str
    whole: bool


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of a text: as it is, a variable's name, or a fault."""

    text: str
    name: str | None = None
    fault: str | None = None


def references(value: Any, path: DataPath = ()) -> list[Reference]:
    """Every well-formed reference in a value, in the order of the file.

    >>> references({"base_url": "https://${{ HOST }}/v1", "retries": "${{ N }}"})
    [Reference(path=('base_url',), name='HOST', whole=False), Reference(path=('retries',), name='N', whole=True)]
    """
    found = []
    for where, text in _texts(value, path):
        pieces = _pieces(text)
        found += [Reference(where, piece.name, len(pieces) == 1) for piece in pieces if piece.name is not None]
    return found


def malformed(value: Any, path: DataPath = ()) -> list[Problem]:
    """Every `${{` that is not a reference.

    >>> [(problem.path, problem.code) for problem in malformed(["${{ }}", "${{ a b }}", "${{ X"])]
    [((0,), 'variable-nameless'), ((1,), 'variable-bad-name'), ((2,), 'variable-unclosed')]
    """
    return [
        Problem(where, f"variable-{piece.fault}", _PROBLEMS[piece.fault], _HINT)
        for where, text in _texts(value, path)
        for piece in _pieces(text)
        if piece.fault is not None
    ]


def missing(value: Any, variables: Mapping[str, str]) -> list[str]:
    """The names that are used and not defined, each once, in the order of the file."""
    return list(dict.fromkeys(use.name for use in references(value) if use.name not in variables))


def substitute(value: Any, variables: Mapping[str, str]) -> tuple[Any, list[str]]:
    """The value with every defined variable filled in, and the names of those that are not defined.

    Keys of mappings and malformed references stay as they are. What is filled in is text and is not searched again.

    >>> substitute({"url": "http://${{ HOST }}:${{ PORT }}"}, {"HOST": "localhost"})
    ({'url': 'http://localhost:${{ PORT }}'}, ['PORT'])
    """
    return _filled(value, variables), missing(value, variables)


def is_whole_reference(text: str) -> bool:
    """Whether a text is one reference and nothing else.

    >>> is_whole_reference("${{ RETRIES }}"), is_whole_reference("${{ A }}${{ B }}"), is_whole_reference("3")
    (True, False, False)
    """
    pieces = _pieces(text)
    return len(pieces) == 1 and pieces[0].name is not None


def _texts(value: Any, path: DataPath) -> Iterator[tuple[DataPath, str]]:
    if isinstance(value, str):
        if _OPEN in value:
            yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))


def _filled(value: Any, variables: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        if _OPEN not in value:
            return value
        return "".join(variables.get(piece.name or "", piece.text) for piece in _pieces(value))
    if isinstance(value, dict):
        return {key: _filled(item, variables) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, variables) for item in value]
    return value


def _pieces(text: str) -> list[_Piece]:
    """The text cut at its references; joined, the pieces' texts are the text again."""
    pieces = []
    position = 0
    while (start := text.find(_OPEN, position)) >= 0:
        if start > position:
            pieces.append(_Piece(text[position:start]))
        end = text.find(_CLOSE, start)
        next_open = text.find(_OPEN, start + len(_OPEN))
        if end < 0 or 0 <= next_open < end:
            position = next_open if next_open >= 0 else len(text)
            pieces.append(_Piece(text[start:position], fault="unclosed"))
            continue
        position = end + len(_CLOSE)
        pieces.append(_reference(text[start:position]))
    if position < len(text):
        pieces.append(_Piece(text[position:]))
    return pieces


def _reference(text: str) -> _Piece:
    name = text[len(_OPEN) : -len(_CLOSE)].strip()
    if not name:
        return _Piece(text, fault="nameless")
    return _Piece(text, name=name) if _NAME.fullmatch(name) else _Piece(text, fault="bad-name")
