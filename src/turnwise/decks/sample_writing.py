"""Samples to a file, in the form that its ending names; what is written is read back and compared before it counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..conversation.files import shown_file
from ..errors import UsageError
from .file_replacing import replace_file
from .sample import HumanLabel, Sample
from .sample_csv_text import csv_samples
from .sample_record import sample_record
from .samples import SAMPLE_ENDINGS, read_sample_file
from .toml_text import toml_samples
from .yaml_text import yaml_samples

__all__ = ["check_ending", "samples_text", "write_samples"]

Extras = Mapping[str, Mapping[str, Any]]
_Records = Sequence[Mapping[str, Any]]


def _json_lines(records: _Records) -> str:
    return "".join(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in records)


def _json_document(records: _Records) -> str:
    return json.dumps({"samples": records}, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


_WRITERS: dict[str, Callable[[_Records], str]] = {
    ".toml": toml_samples,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".csv": csv_samples,
    ".yaml": yaml_samples,
    ".yml": yaml_samples,
    ".json": _json_document,
}


def check_ending(path: Path) -> str:
    """The ending of a file of samples. Raises `UsageError` for one that samples cannot have."""
    ending = path.suffix.lower()
    if ending not in _WRITERS:
        message = f"samples are written to {', '.join(SAMPLE_ENDINGS)} files, not to {shown_file(path)}"
        raise UsageError(message, f"name the file {path.name}.jsonl, for example")
    return ending


def samples_text(ending: str, samples: Sequence[Sample], extras: Extras | None = None) -> str:
    """The text of a file with that ending."""
    return _WRITERS[ending]([sample_record(sample, (extras or {}).get(sample.id)) for sample in samples])


def write_samples(path: Path, samples: Sequence[Sample], extras: Extras | None = None) -> None:
    """Write the samples, whole or not at all: TOML, JSONL, CSV, YAML or JSON. `extras` are names, descriptions and
    metadata, by the ids of the samples.

    Raises `UsageError` if the file cannot be written, or if its form cannot hold the samples exactly.
    """
    ending = check_ending(path)
    # JSON can spell half of a surrogate pair, which UTF-8 cannot; other forms are found wanting below.
    data = samples_text(ending, samples, extras).encode("utf-8", "backslashreplace")

    def check(draft: Path) -> None:
        read = read_sample_file(draft)
        wanted = {sample.id: dict(extras[sample.id]) for sample in samples if extras and sample.id in extras}
        if [_said(each) for each in read.samples] != [_said(each) for each in samples] or read.extras != wanted:
            raise _inexact(path, ending, samples, read.samples)

    replace_file(path, data, check)


def _said(sample: Sample) -> Sample:
    """CSV cannot tell a label that says nothing from none at all."""
    return replace(sample, expected=None) if sample.expected == HumanLabel() else sample


def _inexact(path: Path, ending: str, samples: Sequence[Sample], read: Sequence[Sample]) -> UsageError:
    found = {sample.id: _said(sample) for sample in read}
    bad = next((sample.id for sample in samples if found.get(sample.id) != _said(sample)), None)
    which = "a name, description or metadata" if bad is None else f"sample {bad!r}"
    hint = "write a .jsonl file instead; ids must differ, and control characters have no form in CSV"
    return UsageError(f"{shown_file(path)} is not written: {which} cannot be told exactly in {ending}", hint)
