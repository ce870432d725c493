"""From what was named on the command line to files: folders are walked, globs expanded, nothing comes twice."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..conversation.files import shown_file
from ..errors import PatternError, UsageError
from .kinds import OUR_FOLDERS

__all__ = ["Found", "find_files"]

_ENDINGS = (".yaml", ".yml", ".json", ".jsonl", ".ndjson", ".toml", ".deck.md")
_NAMES = "name a suite, a folder of suites, or a glob"
_STDIN = f"`-` means standard input only where the help of a command says so; {_NAMES}"
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv"})
_MADE_FOLDERS = frozenset({"runs", "schemas", "calibrations"})  # below .turnwise: Turnwise writes them itself


class Found(NamedTuple):
    """A file to look at; `named` says whether the user named it, rather than a folder or a pattern around it."""

    path: Path
    file: str
    named: bool


def find_files(arguments: Sequence[str]) -> list[Found]:
    """Files, folders and globs to files, each once, in a stable order. Raises `UsageError` for what is not there."""
    found: dict[str, Found] = {}
    for argument in arguments:
        for each in _expand(argument):
            known = found.setdefault(os.path.realpath(each.path), each)
            if each.named and not known.named:
                found[os.path.realpath(each.path)] = each
    return list(found.values())


def _expand(argument: str) -> Iterator[Found]:
    path = Path(argument)
    if path.is_dir():
        yield from _walk(path)
    elif os.path.lexists(path):
        yield Found(path, argument, True)
    elif _has_magic(argument):
        matches = [match for match in _matches(argument) if Path(match).is_file()]
        if not matches:
            raise UsageError(f"no file matches {argument}", "quote the pattern so that the shell leaves it alone")
        yield from (Found(Path(match), match, False) for match in sorted(matches))
    else:
        raise UsageError(f"{argument} does not exist", _STDIN if argument == "-" else _NAMES)


def _has_magic(text: str) -> bool:
    return glob.has_magic(text) or "{" in text


def _matches(pattern: str) -> Iterator[str]:
    """The paths that a glob matches. Python's own `**` follows links, and so might never come to an end."""
    if "**" not in pattern and "{" not in pattern:
        yield from glob.glob(pattern)
        return
    from ..conversation.globs import compile_glob

    parts = pattern.split("/")
    first = next(index for index, part in enumerate(parts) if _has_magic(part))
    hidden = any(part.startswith(".") for part in parts[first:])
    base = "/".join(parts[:first]) or ("/" if pattern.startswith("/") else ".")
    try:
        matcher = compile_glob("/".join(parts[first:]))
    except PatternError as error:
        raise UsageError(str(error), "globs know `*`, `**`, `?`, `[…]` and `{a,b}`") from error
    for folder, folders, names in os.walk(base):
        folders[:] = [name for name in folders if hidden or not (name.startswith(".") or name in _SKIPPED_FOLDERS)]
        for name in names:
            path = os.path.join(folder, name)
            if matcher.matches(os.path.relpath(path, base).replace(os.sep, "/")):
                yield os.path.normpath(path)


def _walk(folder: Path) -> Iterator[Found]:
    for base, folders, names in os.walk(folder):
        inside_ours = Path(base).name in OUR_FOLDERS
        skipped = _SKIPPED_FOLDERS | (_MADE_FOLDERS if inside_ours else frozenset())
        folders[:] = sorted(
            name for name in folders if name in OUR_FOLDERS or not (name.startswith(".") or name in skipped)
        )
        for name in sorted(names):
            if name.endswith(_ENDINGS) or (name == ".env" and inside_ours):
                path = Path(base, name)
                yield Found(path, shown_file(path), False)
