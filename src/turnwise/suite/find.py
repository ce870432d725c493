"""From what was named on the command line to files, and from a file to the kind of thing it is."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from ..conversation.files import shown_file
from ..errors import UsageError

__all__ = ["FileKind", "Found", "file_kind", "find_files"]

FileKind = Literal["suite", "dataset", "config", "targets", "env", "deck", "samples", "other"]

_ENDINGS = (".yaml", ".yml", ".json", ".jsonl", ".ndjson", ".toml", ".deck.md")
_OUR_FOLDERS = (".turnwise", ".agentv")
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv", "runs", "schemas", "calibrations"})
_SNIFFED_BYTES = 1024 * 1024

# Keys at the left margin of a YAML file, or at the first level of a JSON object: enough to tell the kinds apart.
# Compiled when needed: a suite that is named on the command line is not sniffed at.
_TOP_KEY = r"""^(?:\ufeff)?[ \t]*[{,]?[ \t]*["']?([A-Za-z_$]+)["']?[ \t]*:"""
_YAML_KEY = r"""^\ufeff?["']?([A-Za-z_$]+)["']?[ \t]*:"""
_CONFIG_KEYS = {"guideline_patterns", "default_system_prompt", "allow_paths", "runs_dir"}


class Found(NamedTuple):
    """A file to look at; `named` says whether the user named it, rather than a folder or a pattern around it."""

    path: Path
    file: str
    named: bool


def find_files(arguments: Sequence[str]) -> list[Found]:
    """Files, folders and globs to files, each once, in a stable order. Raises `UsageError` for what is not there."""
    found: dict[Path, Found] = {}
    for argument in arguments:
        for each in _expand(argument):
            found.setdefault(Path(os.path.realpath(each.path)), each)
    return list(found.values())


def file_kind(path: Path) -> FileKind:
    """What a file is, told by its name or else by its first level of keys."""
    name, folder = path.name, path.parent.name
    if name.endswith(".deck.md"):
        return "deck"
    if name == ".env":
        return "env"
    if name in ("config.yaml", "config.yml") and folder in _OUR_FOLDERS:
        return "config"
    if name in ("targets.yaml", "targets.yml") and folder in _OUR_FOLDERS:
        return "targets"
    if name.endswith(".csv"):
        return "dataset"
    if path.exists() and not path.is_file():
        return "suite"  # a pipe, as from a shell's <(…): it can be read only once
    try:
        with open(path, "rb") as stream:
            start = stream.read(_SNIFFED_BYTES).decode("utf-8", "replace")
    except OSError:
        return "other"
    if name.endswith((".jsonl", ".ndjson")):
        first = start.lstrip().split("\n", 1)[0]
        return "samples" if '"input_messages"' not in first and '"messages"' in first else "dataset"
    if name.endswith(".toml"):
        return "samples" if re.search(r"^\s*\[\[?\s*(samples|contexts)\b", start, re.MULTILINE) else "other"
    return _kind_by_keys(start, name in ("targets.yaml", "targets.yml"))


def _kind_by_keys(text: str, named_targets: bool) -> FileKind:
    flow = text.lstrip("\ufeff \t\r\n")[:1] == "{"
    keys = set(re.findall(_TOP_KEY if flow else _YAML_KEY, text, re.MULTILINE))
    if flow:
        keys.update(re.findall(r"""[{,]\s*["']?([A-Za-z_$]+)["']?\s*:""", text[:2000]))
    if keys & {"cases", "evalcases"}:
        return "suite"
    if "samples" in keys:
        return "samples"
    if "targets" in keys and (named_targets or "provider" in text):
        return "targets"
    if keys & {"input_messages", "graders", "system_prompt"}:
        return "suite"
    return "config" if keys & _CONFIG_KEYS else "other"


def _expand(argument: str) -> Iterator[Found]:
    path = Path(argument)
    if path.is_dir():
        yield from _walk(path)
    elif os.path.lexists(path):
        yield Found(path, argument, True)
    elif glob.has_magic(argument):
        matches = sorted(glob.glob(argument, recursive=True))
        if not matches:
            raise UsageError(f"no file matches {argument}", "quote the pattern so that the shell leaves it alone")
        for match in matches:
            if Path(match).is_file():
                yield Found(Path(match), match, False)
    else:
        raise UsageError(
            f"{argument} does not exist", "name a suite, a folder of suites, or a glob; `-` is standard input"
        )


def _walk(folder: Path) -> Iterator[Found]:
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if name in _OUR_FOLDERS or not (name.startswith(".") or name in _SKIPPED_FOLDERS)
        )
        for name in sorted(names):
            if name.endswith(_ENDINGS) or (name == ".env" and Path(base).name in _OUR_FOLDERS):
                path = Path(base, name)
                yield Found(path, shown_file(path), False)
