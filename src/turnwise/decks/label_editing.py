"""A person's label into a file of samples, without harm to anything else in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from ..conversation.files import shown_file
from ..errors import InputError, UsageError
from .file_replacing import alone, replace_file
from .line_label import csv_proposals, json_proposals, jsonl_proposals
from .sample import HumanLabel, Sample
from .sample_record import labelled
from .samples import SampleFile, read_sample_file
from .toml_label import toml_proposals
from .yaml_label import yaml_proposals

__all__ = ["set_label"]

_BOM = b"\xef\xbb\xbf"
_Proposals = Callable[[str, Sample, HumanLabel], Iterator[str]]
_EDITORS: dict[str, _Proposals] = {
    ".toml": toml_proposals,
    ".jsonl": jsonl_proposals,
    ".ndjson": jsonl_proposals,
    ".csv": csv_proposals,
    ".yaml": yaml_proposals,
    ".yml": yaml_proposals,
    ".json": json_proposals,
}


class _Changed(Exception):  # noqa: N818  (a proposal that is not taken, not an error)
    """The proposal would change something else."""


def set_label(path: Path, sample_id: str, label: HumanLabel) -> None:
    """Put a label into a file of samples: among `labels` if it names a rater, whose earlier label it replaces; else as
    `expected`.

    Everything else stays as it is, comments too. The new text is read back, and takes the file's place only if all
    samples and all else in it are what they were. Raises `UsageError` if that cannot be done, or if there is no such
    sample, and `InputError` if the file cannot be read.
    """
    with alone(path):
        before = read_sample_file(path)
        sample = next((each for each in before.samples if each.id == sample_id), None)
        if sample is None:
            raise _no_sample(path, sample_id, before)
        wanted = [labelled(each, label) if each is sample else each for each in before.samples]
        if not _replaced(path, sample, label, before, wanted):
            raise _refused(path, sample)


def _replaced(path: Path, sample: Sample, label: HumanLabel, before: SampleFile, wanted: list[Sample]) -> bool:
    data = path.read_bytes()
    mark = _BOM if data.startswith(_BOM) else b""
    text = data[len(mark) :].decode("utf-8")

    def check(draft: Path) -> None:
        read = read_sample_file(draft)
        said = [(each.code, each.message, each.case_id) for each in read.diagnostics]
        same = read.samples == wanted and (read.extras, read.rest) == (before.extras, before.rest)
        if not same or said != [(each.code, each.message, each.case_id) for each in before.diagnostics]:
            raise _Changed

    for proposal in _EDITORS[path.suffix.lower()](text, sample, label):
        try:
            replace_file(path, mark + proposal.encode("utf-8", "backslashreplace"), check)
        except _Changed:
            continue
        return True
    return False


def _no_sample(path: Path, sample_id: str, read: SampleFile) -> Exception:
    if not read.samples:
        return InputError(read.diagnostics)
    return UsageError(f"{shown_file(path)} has no sample {sample_id!r}", "it may have been renamed meanwhile")


def _refused(path: Path, sample: Sample) -> UsageError:
    file = shown_file(path)
    where = f"{file}:{sample.place.line}"
    message = f"{where}: the label of sample {sample.id!r} cannot be written without changing other parts of the file"
    other = path.with_suffix(".labelled.jsonl")
    hint = f"nothing was changed; label a copy instead: turnwise samples convert {file} {shown_file(other)}"
    return UsageError(message, hint)
