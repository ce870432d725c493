"""What a file is: told by its name, or else by what stands at the top level of its data."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Literal

from ..errors import InputError

__all__ = ["DATASET_ENDINGS", "LINE_ENDINGS", "OUR_FOLDERS", "FileKind", "file_kind", "is_jsonl"]

FileKind = Literal["suite", "dataset", "config", "targets", "env", "deck", "samples", "special", "other"]

OUR_FOLDERS = (".turnwise", ".agentv")
LINE_ENDINGS = (".jsonl", ".ndjson")
DATASET_ENDINGS = (*LINE_ENDINGS, ".csv")
_LONGEST_FIRST_LINE = 10 * 1024 * 1024
_CONFIG_KEYS = {"guideline_patterns", "default_system_prompt", "allow_paths", "runs_dir"}
_MESSAGE_KEYS = {"input_messages", "expected_messages"}
_SETTINGS = {"system_prompt", "graders", "outcome", "threshold", "trials"}
_SUITE_KEYS = _SETTINGS | {"name", "description", "target", "targets", "guideline_patterns", "tags", "metadata", "vars"}


def file_kind(path: Path) -> FileKind:
    """The kind of a file. One that cannot be read, or that seems to be a suite gone wrong, is a suite: whoever reads
    it then says what is wrong with it."""
    name = path.name
    if path.exists() and not path.is_file():
        return "special"
    if name.endswith(".deck.md"):
        return "deck"
    if name == ".env":
        return "env"
    if path.parent.name in OUR_FOLDERS and name in ("config.yaml", "config.yml"):
        return "config"
    if path.parent.name in OUR_FOLDERS and name in ("targets.yaml", "targets.yml"):
        return "targets"
    if name.endswith(".csv"):
        return "dataset"
    if name.endswith(LINE_ENDINGS):
        return _kind_of_lines(path)
    if name.endswith(".toml"):
        return _kind_of_toml(path)
    return _kind_of_document(path)


def is_jsonl(path: Path) -> bool:
    """Whether a file of unknown name holds a case a line, rather than a suite."""
    value = _first_value(path)
    return isinstance(value, dict) and bool({"id", "input_messages", "vars"} & value.keys()) and "cases" not in value


def _kind_of_lines(path: Path) -> FileKind:
    value = _first_value(path)
    if not isinstance(value, dict):
        return "dataset"
    if {"input_messages", "vars"} & value.keys():
        return "dataset"
    if "messages" in value:
        return "samples"
    return "dataset" if _nearly(value, "input_messages") else "other"


def _first_value(path: Path) -> Any:
    """The value of the first line that is not blank; None if it is not JSON."""
    try:
        with open(path, "rb") as stream:
            first = stream.readline(_LONGEST_FIRST_LINE).removeprefix(b"\xef\xbb\xbf")
            while first.isspace():
                first = stream.readline(_LONGEST_FIRST_LINE)
        return json.loads(first)
    except (OSError, ValueError, RecursionError):
        return None


def _kind_of_toml(path: Path) -> FileKind:
    import tomllib

    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "samples"
    try:
        value = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        ours = re.search(r"^[ \t]*(\[\[?[ \t]*(samples|contexts)\b|samples[ \t]*=)", text, re.MULTILINE)
        return "samples" if ours else "other"
    return "samples" if _are_samples(value.get("samples")) or isinstance(value.get("contexts"), dict) else "other"


def _kind_of_document(path: Path) -> FileKind:
    from .reading import read_document, read_source_text

    try:
        text = read_source_text(path, str(path))
    except InputError:
        return "suite"
    if re.search(r"^(cases|evalcases)[ \t]*:", text, re.MULTILINE):
        return "suite"  # as nearly always; the rest is worth reading the file twice
    try:
        value, _ = read_document(text, str(path))
    except InputError:
        return "suite" if re.search(r"\b(cases|evalcases|input_messages)\b", text) else "other"
    kind = _kind_of_mapping(value, path.stem) if isinstance(value, dict) else "other"
    if kind == "other" and re.search(r"""\binput_messages["']?[ \t]*:""", text):
        return "suite"  # messages in the wrong place are a suite gone wrong
    return kind


def _kind_of_mapping(value: dict[str, Any], stem: str) -> FileKind:
    if {"cases", "evalcases"} & value.keys():
        return "suite"
    if _are_samples(value.get("samples")):
        return "samples"
    targets = value.get("targets")
    if isinstance(targets, list) and (
        stem == "targets" or any(isinstance(target, dict) and "provider" in target for target in targets)
    ):
        return "targets"
    if _MESSAGE_KEYS & value.keys() or (_SETTINGS & value.keys() and value.keys() <= _SUITE_KEYS):
        return "suite"
    if any(_nearly({key: item}, "cases") and _are_cases(item) for key, item in value.items()):
        return "suite"
    return "config" if _CONFIG_KEYS & value.keys() else "other"


def _are_samples(value: Any) -> bool:
    """A list or a mapping of mappings; an empty list may become one."""
    items = list(value.values()) if isinstance(value, dict) else value
    return isinstance(items, list) and all(isinstance(item, dict) for item in items)


def _are_cases(value: Any) -> bool:
    """What could stand under `cases`: a list of mappings, or the path of a dataset."""
    if isinstance(value, str):
        return value.lower().endswith(DATASET_ENDINGS)
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _nearly(value: dict[str, Any], word: str) -> bool:
    """Whether a key is the word misspelt."""
    from difflib import SequenceMatcher

    return any(SequenceMatcher(None, key.lower()[:40], word).ratio() >= 0.8 for key in value)
