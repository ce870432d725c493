"""Diagnostics for people, and for the programs that show them to people: editors, GitHub, code scanners."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from typing import Any

from ..diagnostics import Diagnostic
from .terminal import Style, one_line, plain, printable

__all__ = ["as_github", "as_json", "as_record", "as_sarif", "as_text"]


def as_text(diagnostic: Diagnostic, style: Style = plain) -> str:
    """`file:line:column: error: text`, then the source line, a caret and a hint."""
    place = diagnostic.place
    where = ":".join(str(each) for each in (one_line(diagnostic.file), place.line, place.column) if each is not None)
    severity = style(diagnostic.severity, "red" if diagnostic.severity == "error" else "yellow", bold=True)
    lines = [f"{style(where, None, bold=True)}: {severity}: {one_line(diagnostic.message)}"]
    if place.source is not None and place.line is not None:
        number = str(place.line)
        lines.append(f" {number} | {printable(place.source)}")
        if place.column is not None:
            pointer = style("^", "red" if diagnostic.severity == "error" else "yellow", bold=True)
            lines.append(f" {' ' * len(number)} | {_padding(place.source, place.column)}{pointer}")
    if diagnostic.hint:
        lines.append(f"   {style('hint:', 'cyan')} {one_line(diagnostic.hint)}")
    return "\n".join(lines)


def as_record(diagnostic: Diagnostic) -> dict[str, Any]:
    """One diagnostic as plain data; what is not known is null."""
    return {
        "file": diagnostic.file,
        "line": diagnostic.place.line,
        "column": diagnostic.place.column,
        "severity": diagnostic.severity,
        "code": diagnostic.code,
        "message": diagnostic.message,
        "hint": diagnostic.hint,
        "path": diagnostic.path or None,
        "case_id": diagnostic.case_id,
    }


def as_json(diagnostics: Sequence[Diagnostic]) -> str:
    """A JSON list, one object a diagnostic."""
    return json.dumps([as_record(diagnostic) for diagnostic in diagnostics], ensure_ascii=False, indent=2)


def as_github(diagnostic: Diagnostic) -> str:
    """A workflow command that GitHub shows at the line in a pull request."""
    properties = {"file": diagnostic.file, "line": diagnostic.place.line, "col": diagnostic.place.column}
    properties["title"] = f"turnwise: {diagnostic.code}"
    shown = ",".join(f"{key}={_escaped(str(value), ':,')}" for key, value in properties.items() if value is not None)
    text = diagnostic.message + (f" ({diagnostic.hint})" if diagnostic.hint else "")
    return f"::{diagnostic.severity} {shown}::{_escaped(text)}"


def as_sarif(diagnostics: Sequence[Diagnostic], version: str) -> str:
    """A SARIF 2.1.0 log, for code scanners."""
    codes = sorted({diagnostic.code for diagnostic in diagnostics})
    rules = [{"id": code, "shortDescription": {"text": code.replace("-", " ")}} for code in codes]
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "turnwise", "version": version, "rules": rules}},
                "columnKind": "unicodeCodePoints",
                "results": [_sarif_result(diagnostic, codes) for diagnostic in diagnostics],
            }
        ],
    }
    return json.dumps(log, ensure_ascii=False, indent=2)


def _sarif_result(diagnostic: Diagnostic, codes: list[str]) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": _uri(diagnostic.file)}}
    if diagnostic.place.line is not None:
        location["region"] = {"startLine": diagnostic.place.line}
        if diagnostic.place.column is not None:
            location["region"]["startColumn"] = diagnostic.place.column
    text = diagnostic.message + (f". {diagnostic.hint}" if diagnostic.hint else "")
    return {
        "ruleId": diagnostic.code,
        "ruleIndex": codes.index(diagnostic.code),
        "level": diagnostic.severity,
        "message": {"text": text},
        "locations": [{"physicalLocation": location}],
    }


def _uri(file: str) -> str:
    from urllib.parse import quote

    return ("file://" if file.startswith("/") else "") + quote(os.fsencode(file))


def _escaped(text: str, also: str = "") -> str:
    for character in "%\r\n" + also:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _padding(source: str, column: int) -> str:
    """White space as wide as the source before the column: tabs stay tabs, wide characters count double."""
    import unicodedata

    before = source[: column - 1]
    widened: Callable[[re.Match[str]], str] = lambda match: (  # noqa: E731
        "  " if unicodedata.east_asian_width(match[0]) in "WF" else " "
    )
    return re.sub(r"[^\t]", widened, before)
