"""Samples: conversations that people have labelled, read from TOML, JSONL, CSV, YAML and JSON files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from ..conversation.files import shown_file
from ..diagnostics import NOWHERE, Diagnostic, has_errors
from ..errors import InputError
from ..suite.datasets import read_rows
from ..suite.explain import described, did_you_mean
from ..suite.paths import DataPath, shown_path
from ..suite.reading import garbage_collection_paused, read_document, read_source_text
from ..suite.sources import JsonSource, LineSource, Source
from .contexts import contexts_from_data
from .sample import HumanLabel, Sample, SampleMessage, check_sample
from .sample_csv import read_csv_samples
from .toml_source import read_toml

__all__ = [
    "EXTRA_KEYS",
    "SAMPLE_ENDINGS",
    "HumanLabel",
    "Sample",
    "SampleFile",
    "SampleMessage",
    "SampleReader",
    "check_top_level",
    "no_sample_left",
    "read_sample_file",
    "read_samples",
]

SAMPLE_ENDINGS = (".toml", ".jsonl", ".ndjson", ".csv", ".yaml", ".yml", ".json")
EXTRA_KEYS = ("name", "description", "metadata")
_TOP_LEVEL_KEYS = ["$schema", "contexts", "description", "meta", "metadata", "name", "samples"]
_MOST_DIAGNOSTICS = 1_000


@dataclass(frozen=True, slots=True)
class SampleFile:
    """A file of samples, whole: `extras` are the name, description and metadata of a sample, by its id, and `rest` is
    what stands beside the samples, such as contexts."""

    samples: list[Sample]
    diagnostics: list[Diagnostic]
    extras: dict[str, dict[str, Any]] = field(default_factory=dict)
    rest: dict[str, Any] = field(default_factory=dict)


def read_samples(path: Path) -> tuple[list[Sample], list[Diagnostic]]:
    """The usable samples of a file, and all that there is to say about the others. Never raises for a bad file.

    >>> read_samples(Path("no-such-file.toml"))[1][0].message
    'the file does not exist'
    """
    read = read_sample_file(path)
    return read.samples, read.diagnostics


def read_sample_file(path: Path) -> SampleFile:
    """The same, with all else that the file holds: for those who write it again."""
    file = shown_file(path)
    reader = SampleReader()
    data: dict[str, Any] = {}
    try:
        with garbage_collection_paused():
            data = _read_file(path, file, reader)
    except InputError as error:
        reader.diagnostics += error.diagnostics
    # A file of contexts alone is a good file: decks embed it.
    holds_contexts = bool(data.get("contexts")) and "samples" not in data
    if not reader.samples and not holds_contexts and not has_errors(reader.diagnostics):
        reader.diagnostics.append(no_sample_left(file, reader.seen))
    rest = {key: value for key, value in data.items() if key != "samples"}
    return SampleFile(reader.samples, reader.diagnostics, reader.extras, rest)


def no_sample_left(file: str, seen: int) -> Diagnostic:
    """The error about a file of whose samples none can be used."""
    if seen:
        message = (
            f"no sample is left: all {seen} are skipped" if seen > 1 else "no sample is left: the only one is skipped"
        )
        return Diagnostic("error", "no-samples", message, file, NOWHERE, "correct the samples that the warnings name")
    hint = "write `[[samples]]` tables (TOML), one sample a line (JSONL), or a `samples:` list (YAML)"
    return Diagnostic("error", "no-samples", "the file holds no samples", file, NOWHERE, hint)


def _read_file(path: Path, file: str, reader: SampleReader) -> dict[str, Any]:
    """Give the samples to the reader. What is returned is the file's outermost mapping, if it has one."""
    ending = path.suffix.lower()
    if ending not in SAMPLE_ENDINGS:
        message = (
            f"samples are read from {', '.join(SAMPLE_ENDINGS)} files, not from {ending or 'a file without ending'}"
        )
        raise InputError([Diagnostic("error", "bad-ending", message, file, hint="rename or convert the file")])
    if ending in (".jsonl", ".ndjson"):
        reader.add_lines(path, file)
        return {}
    if ending == ".csv":
        reader.add_csv(path, file)
        return {}
    text = read_source_text(path, file)
    data, source = read_toml(text, file) if ending == ".toml" else read_document(text, file)
    reader.diagnostics += check_top_level(data, source)
    if not isinstance(data, dict):
        return {}
    reader.diagnostics += contexts_from_data(data.get("contexts"), source)[1]
    reader.add(data.get("samples"), source, path.stem)
    return data


def check_top_level(data: Any, source: Source) -> list[Diagnostic]:
    """What is wrong with the outermost level of a file that holds samples and contexts."""
    if data is None:
        return []
    if not isinstance(data, dict):
        message = f"the file must be a mapping with `samples`, found {described(data)}"
        hint = "put the list under `samples:`"
        return [Diagnostic("error", "wrong-type", message, source.file, source.place(()), hint)]
    return [
        Diagnostic(
            "error",
            "unknown-key",
            f"unknown key `{key}`",
            source.file,
            source.place((key,), key=True),
            did_you_mean(key, _TOP_LEVEL_KEYS),
            key,
        )
        for key in islice((key for key in data if key not in _TOP_LEVEL_KEYS), _MOST_DIAGNOSTICS)
    ]


class SampleReader:
    """Collects samples from one or several sources: ids are unique over all of them.

    `known_ids` are those of skipped samples too; `seen` counts all that were written. `extras` are the name,
    description and metadata of usable samples, by their ids.
    """

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self.diagnostics: list[Diagnostic] = []
        self.extras: dict[str, dict[str, Any]] = {}
        self._first: dict[str, tuple[Source, DataPath]] = {}
        self.seen = 0

    @property
    def known_ids(self) -> list[str]:
        """Every id that was met, in order."""
        return list(self._first)

    def add(self, value: Any, source: Source, stem: str, prefix: DataPath = ("samples",)) -> None:
        """The samples of parsed data: a list, or a mapping from ids to samples. `stem` begins the ids of the others."""
        if value is None:
            return
        for path, key, item in self._items(value, source, prefix):
            if self._is_full(source, path):
                return
            self._add_one(item, source, path, key, f"{stem}-{path[-1]}")

    def add_lines(self, path: Path, file: str) -> None:
        """The samples of a JSONL file, one line at a time."""
        for index, row in enumerate(read_rows(path, file)):
            if self._is_full(row.source, ()):
                return
            if row.problem is not None:
                self.seen += 1
                self.diagnostics.append(row.problem)
            else:
                self._add_one(row.value, row.source, (), None, f"{path.stem}-{index}")

    def add_csv(self, path: Path, file: str) -> None:
        """The samples of a CSV file, in which several lines may be one sample."""
        read = read_csv_samples(path, file)
        self.diagnostics += read.problems
        self.seen += read.bad_rows
        for row in read.samples:
            if self._is_full(row.source, ()):
                return
            self._add_one(row.value, row.source, (), None, f"{path.stem}-{row.number}")

    def _items(self, value: Any, source: Source, prefix: DataPath) -> Iterator[tuple[DataPath, str | None, Any]]:
        if isinstance(value, list):
            yield from (((*prefix, index), None, item) for index, item in enumerate(value))
        elif isinstance(value, dict) and not isinstance(value.get("messages"), list):
            yield from (((*prefix, key), key, item) for key, item in value.items())
        else:
            is_sample = isinstance(value, dict)
            message = "`samples` must be a list, or a mapping from ids to samples, found "
            message += "a single sample" if is_sample else described(value)
            hint = "make it a list: `[[samples]]` in TOML, with two brackets" if is_sample else None
            place = source.place(prefix, key=True)
            self.diagnostics.append(
                Diagnostic("error", "wrong-type", message, source.file, place, hint, shown_path(prefix))
            )

    def _add_one(self, value: Any, source: Source, path: DataPath, key: str | None, default_id: str) -> None:
        self.seen += 1
        checked = check_sample(value, source, path, key, default_id)
        self.diagnostics += checked.problems
        where = (_line_only(source) if isinstance(source, JsonSource) and not path else source, path)
        first_source, first_path = self._first.setdefault(checked.id, where)
        if (first_source, first_path) != where:
            self._refuse_twice(checked.id, first_source, first_path, source, path)
        elif checked.sample is not None:
            self.samples.append(replace(checked.sample, source=where[0]))
            extras = {name: value[name] for name in EXTRA_KEYS if value.get(name) is not None}
            if extras:
                self.extras[checked.id] = extras

    def _refuse_twice(
        self, sample_id: str, first: Source, first_path: DataPath, source: Source, path: DataPath
    ) -> None:
        line = first.place(first_path).line
        where = f"line {line}" if first.file == source.file else f"{first.file}, line {line}"
        message = f"the sample id {sample_id!r} is used twice, first in {where}"
        place = source.place((*path, "id"))
        self.diagnostics.append(
            Diagnostic(
                "error", "duplicate-id", message, source.file, place, "rename one of them", shown_path(path), sample_id
            )
        )

    def _is_full(self, source: Source, path: DataPath) -> bool:
        if len(self.diagnostics) < _MOST_DIAGNOSTICS:
            return False
        message = f"stopped after {_MOST_DIAGNOSTICS:,} problems"
        self.diagnostics.append(Diagnostic("error", "too-many", message, source.file, source.place(path)))
        return True


def _line_only(source: JsonSource) -> Source:
    """A JSONL line's number without its text: the samples must not keep the whole file twice."""
    return LineSource(source.file, source.first_line, source.text.lstrip())
