"""Recorded outputs of judges, to be compared without asking any model.

Three forms are read: lines of `{"id", "model", "output"}`, the journal of a calibration (or its folder), and result
files of aibff in TOML. Whatever the form, the outputs go through the one parser.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..conversation.files import shown_file
from ..decks.toml_source import read_toml
from ..diagnostics import Diagnostic, Place
from ..engine.journal import read_journal
from ..engine.run_folder import RESULTS
from ..errors import DeckError
from ..suite.datasets import read_rows
from ..suite.explain import described, near_miss
from ..suite.paths import DataPath
from ..suite.project import find_project_root
from ..suite.reading import garbage_collection_paused, read_source_text
from ..suite.sources import LineSource, Source
from .answer_files import is_of_answers
from .judgement import Output
from .outputs import record_output

if TYPE_CHECKING:
    from ..graders.verdict import StatusKind

__all__ = ["read_replay"]

Replayed = dict[str, dict[str, list[Output]]]
_MOST_PROBLEMS = 100
_HINT = 'a line is {"id": "the sample", "model": "the judge", "output": "what it wrote"}'


def read_replay(written: str, known: Collection[str], *, deck: str | None = None) -> Replayed:
    """The outputs of every model by sample, in the order in which they stand; a repeated pair is a repeat.

    `known` are the ids of samples: another id is an error. Of a journal of several decks, only `deck` is taken. Raises
    `DeckError` with every line that cannot be used, or `RunError` for a folder that is no calibration.
    """
    path = _found(written)
    is_calibration = path.is_dir()
    path = path / RESULTS if is_calibration else path
    reader = _Reader(shown_file(path), frozenset(known), deck)
    with garbage_collection_paused():
        if is_calibration:
            reader.read_journal(path)
        elif path.suffix.lower() == ".toml":
            reader.read_toml(path)
        else:
            reader.read_lines(path)
    if reader.problems:
        raise DeckError(reader.problems)
    return reader.found


def _found(written: str) -> Path:
    """The file of recorded outputs: named, in the folder of a calibration, or in that of one named by its id."""
    path = Path(written)
    if not path.exists():
        kept = find_project_root(Path.cwd()) / ".turnwise" / "calibrations" / written
        path = kept if written and kept.is_dir() else path
    if not path.exists():
        hint = "check the path, or the id of the calibration"
        raise DeckError([Diagnostic("error", "file-missing", "the file does not exist", shown_file(path), hint=hint)])
    return path


class _Reader:
    def __init__(self, file: str, known: frozenset[str], deck: str | None) -> None:
        self.file = file
        self.found: Replayed = {}
        self.problems: list[Diagnostic] = []
        self._known = known
        self._some = sorted(known)[:200]
        self._deck = deck
        self._journalled: dict[tuple[str, str, int], Output] = {}

    def read_lines(self, path: Path) -> None:
        """One recorded output a line."""
        for row in read_rows(path, self.file):
            if len(self.problems) >= _MOST_PROBLEMS:
                break
            if row.problem is not None:
                self.problems.append(row.problem)
            else:
                self._line(row.value, row.source)
        self._end_lines()

    def read_journal(self, path: Path) -> None:
        """The answers of a calibration, which may have been killed: a torn last line was never an answer."""
        for number, record in enumerate(read_journal(path), start=1):
            if len(self.problems) >= _MOST_PROBLEMS:
                break
            self._line(record, LineSource(self.file, number))
        self._end_lines()

    def _end_lines(self) -> None:
        for (model, sample, _), output in sorted(self._journalled.items(), key=lambda item: item[0][2]):
            self.found.setdefault(model, {}).setdefault(sample, []).append(output)
        if not self.found and not self.problems:
            self._refuse("no-outputs", "the file holds no recorded outputs", Place(1), _HINT)

    def read_toml(self, file: Path) -> None:
        """A result file of aibff: `results` with `id` and `rawOutput`, of one model, or a table of models."""
        data, source = read_toml(read_source_text(file, self.file), self.file)
        model = str(data.get("model") or data.get("grader_model") or file.stem)
        rows = data.get("results")
        where: DataPath = ("results",)
        if isinstance(rows, Mapping):
            where = ()
            rows = [{"id": key, **row} if isinstance(row, Mapping) else row for key, row in rows.items()]
        if not isinstance(rows, list) or not rows:
            self._refuse("no-outputs", "the file holds no `results`", source.place(()), "write `[[results]]` tables")
            return
        for index, row in enumerate(rows):
            path = (*where, index) if where else ()
            if isinstance(row, Mapping):
                self._recorded_toml(row, model, source, path)
            else:
                message = f"a result must be a table, found {described(row)}"
                self._refuse("wrong-type", message, source.place(path), "write `[[results]]`")

    def _recorded_toml(self, row: Mapping[str, Any], model: str, source: Source, path: DataPath) -> None:
        raw = next((row[name] for name in ("rawOutput", "raw_output", "output") if row.get(name) is not None), None)
        if raw is None and row.get("grader_score") is not None:
            raw = json.dumps({"score": row["grader_score"], "reason": row.get("grader_reason") or row.get("reason")})
        self._add(row.get("id") or row.get("sample_id"), row.get("model") or model, raw, row, source, path)

    def _line(self, row: Any, source: Source) -> None:
        if not isinstance(row, dict):
            message = f"a recorded output must be an object, found {described(row)}"
            self._refuse("wrong-type", message, source.place(()), _HINT)
        elif "case_id" in row and "target" in row:
            self._journal(row, source)
        else:
            self._add(row.get("id"), row.get("model"), row.get("output"), row, source)

    def _journal(self, row: dict[str, Any], source: Source) -> None:
        """A line of a calibration's journal: an answer goes before an error of the same piece of work."""
        suite = row.get("suite")
        # Without a deck, what it made of unlabelled answers is of no use: these are no samples.
        if suite != self._deck if self._deck is not None else is_of_answers(suite):
            return
        sample, model = row["case_id"], row["target"]
        if self._is_known(sample, source) and isinstance(model, str):
            output = record_output(row)
            key = (model, str(sample), output.repeat)
            before = self._journalled.get(key)
            if output.failure is None or before is None or before.failure is not None:
                self._journalled[key] = output

    def _add(
        self, sample: Any, model: Any, output: Any, row: Mapping[str, Any], source: Source, path: DataPath = ()
    ) -> None:
        if not self._is_known(sample, source, path):
            return
        if not isinstance(model, str) or not model:
            self._refuse("missing-key", "a recorded output needs `model`", source.place(path), _HINT)
            return
        text = output if isinstance(output, str) or output is None else json.dumps(output, ensure_ascii=False)
        failure: StatusKind | None = "api_error" if text is None and row.get("error") else None
        entries = self.found.setdefault(model, {}).setdefault(sample, [])
        usage = row["usage"] if isinstance(row.get("usage"), Mapping) else {}
        entries.append(
            Output(
                text,
                len(entries) + 1,
                row.get("finish_reason") if isinstance(row.get("finish_reason"), str) else None,
                failure,
                str(row.get("error") or ""),
                _whole(usage.get("input_tokens")),
                _whole(usage.get("output_tokens")),
                _number(row.get("cost_usd")),
                _number(row.get("latency_ms")),
            )
        )

    def _is_known(self, sample: Any, source: Source, path: DataPath = ()) -> bool:
        if isinstance(sample, str) and sample in self._known:
            return True
        if not isinstance(sample, str) or not sample:
            message = f"a recorded output needs the `id` of its sample, found {described(sample)}"
            self._refuse("missing-key", message, source.place(path), _HINT)
            return False
        near = near_miss(sample, self._some)
        hint = f"did you mean `{near}`?" if near else f"the samples are {', '.join(self._some[:3])} …"
        self._refuse("unknown-sample", f"no sample has the id {sample!r}", source.place((*path, "id")), hint)
        return False

    def _refuse(self, code: str, message: str, place: Place, hint: str | None) -> None:
        self.problems.append(Diagnostic("error", code, message, self.file, place, hint))


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
