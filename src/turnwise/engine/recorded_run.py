"""A run that was recorded: where each of its results is in the file, and what it was like. Answers stay on disk."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..conversation.files import shown_file
from ..errors import RunError, UsageError
from .result_keys import ResultKey, key_of
from .resuming import find_project_run
from .run_folder import RESULTS, RUN, RunFolder

__all__ = ["RecordedResult", "RecordedRun", "find_recorded", "question_digest", "read_recorded"]

_HINT = "a file of results has one JSON object a line, as a run writes it"


@dataclass(frozen=True, slots=True)
class RecordedResult:
    """One result: its key, its status, where its line begins, and the digest of the question that was asked."""

    key: ResultKey
    status: str
    offset: int
    question: bytes | None


@dataclass(frozen=True)
class RecordedRun:
    """The results of a run, each of which counts once. `root` is the folder that its suites are named from."""

    file: Path
    run_id: str
    root: Path
    description: Mapping[str, Any]
    results: Mapping[ResultKey, RecordedResult] = field(repr=False)

    @property
    def suites(self) -> list[str]:
        """The suites, in the order in which results name them."""
        return list(dict.fromkeys(key.suite for key in self.results))

    @property
    def targets(self) -> list[str]:
        """The targets, in the order in which results name them."""
        return list(dict.fromkeys(key.target for key in self.results))

    def record(self, result: RecordedResult) -> dict[str, Any]:
        """The whole line of a result. Raises `RunError` if the file has changed."""
        try:
            with open(self.file, "rb") as file:
                file.seek(result.offset)
                record = json.loads(file.readline())
            if isinstance(record, dict) and key_of(record) == result.key:
                return record
        except (OSError, ValueError, RecursionError, RunError):
            pass  # all of these say the same: the file is not what it was
        raise RunError(f"{shown_file(self.file)} has changed since it was first read", "start again")


def find_recorded(written: str, runs_dir: Path | None = None) -> RecordedRun:
    """The run of that id or folder, or of that file of results. Raises `UsageError` if there is none."""
    if os.path.isfile(written):
        return read_recorded(Path(written))
    try:
        folder = find_project_run(written, runs_dir)
    except UsageError:
        folder = Path(written)
        if not os.path.isfile(folder / RESULTS):
            raise
    if not os.path.isfile(folder / RESULTS):
        raise UsageError(f"the run {folder.name} has no results", "go on with it by `turnwise run --resume`")
    return read_recorded(folder / RESULTS)


def read_recorded(file: Path) -> RecordedRun:
    """The results of a file, with what a `run.json` beside it says. A later line replaces an earlier one of the same
    piece of work. Raises `RunError` for what is no result."""
    results: dict[ResultKey, RecordedResult] = {}
    run_id = file.stem
    for result, said in _results(file):
        results[result.key] = result
        run_id = said or run_id
    if not results:
        raise RunError(f"{shown_file(file)} holds no results", _HINT)
    description: Mapping[str, Any] = {}
    if file.name == RESULTS and (file.parent / RUN).is_file():
        with suppress(RunError):  # the results are enough: without it, only the suites' places have to be guessed
            description = RunFolder(file.parent).description()
    return RecordedRun(file, run_id, _root(file, description), description, results)


def question_digest(question: Any) -> bytes | None:
    """16 bytes that stand for a question; None for what is none."""
    if not isinstance(question, str):
        return None
    return blake2b(question.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _root(file: Path, description: Mapping[str, Any]) -> Path:
    from ..suite.project import find_project_root

    root = description.get("root")
    return Path(os.path.normpath(file.parent / root)) if isinstance(root, str) else find_project_root(Path.cwd())


def _results(file: Path) -> Iterator[tuple[RecordedResult, str | None]]:
    offset = 0
    try:
        with open(file, "rb") as lines:
            for number, line in enumerate(lines, start=1):
                record = _parsed(line, f"{shown_file(file)}:{number}") if line.strip() else None
                if record is not None:
                    yield _result(record, offset, f"{shown_file(file)}:{number}"), _text(record.get("run_id"))
                offset += len(line)
    except OSError as error:
        raise RunError(f"{shown_file(file)} cannot be read: {error.strerror or error}", _HINT) from error


def _parsed(line: bytes, where: str) -> dict[str, Any] | None:
    """The object of a line; None for a last one that is torn."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        if not line.endswith(b"\n"):
            return None
        raise RunError(f"{where}: not JSON: {error}", _HINT) from error
    if not isinstance(record, dict):
        raise RunError(f"{where}: a result is a JSON object", _HINT)
    return record


def _result(record: dict[str, Any], offset: int, where: str) -> RecordedResult:
    try:
        key = key_of(record)
    except RunError as error:
        raise RunError(f"{where}: {error}", _HINT) from error
    asked = record.get("raw_request")
    # The last request of a live conversation holds all that was said before: it is no question of the case.
    question = asked.get("question") if isinstance(asked, Mapping) and not record.get("live") else None
    return RecordedResult(key, str(record.get("status")), offset, question_digest(question))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
