"""The cases of a dataset: one pass that validates every row, then as many passes over them as are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from pydantic import ValidationError

from ..diagnostics import Diagnostic, has_errors
from .case import Case
from .datasets import read_rows
from .format import CaseSpec
from .ids import IdSet
from .intake import MOST_DIAGNOSTICS, Intake, raw_id
from .sources import Source
from .stamps import Stamp, file_stamp, refuse_changed_file

__all__ = ["DatasetCases", "Visit"]

Visit = Callable[[Case], None]

# A small dataset is kept from the validating pass; a larger one is read again, so that memory stays flat.
_KEPT_CASES = 8_000
_KEPT_BYTES = 8 * 1024 * 1024


class DatasetCases:
    """A dataset whose rows are all looked at before the first one is used."""

    def __init__(self, path: Path, file: str, intake: Intake) -> None:
        self.path = path
        self.file = file
        self.count = 0
        self._intake = intake
        self.stamp: Stamp = None
        self._kept: list[tuple[CaseSpec, Source]] | None = []

    def check(self, visit: Visit | None = None) -> None:
        """Validate every row and find ids that are used twice; what is wrong goes to the intake's diagnostics.

        `visit` is called with each good case."""
        ids = IdSet()
        twice: list[tuple[str, Source]] = []
        diagnostics = self._intake.diagnostics
        errors = 0
        self.stamp = file_stamp(self.path)
        if self.stamp is None or self.stamp[1] > _KEPT_BYTES:
            self._kept = None
        for row in read_rows(self.path, self.file):
            known = len(diagnostics)
            if row.problem is not None:
                diagnostics.append(row.problem)
                spec = None
            else:
                spec = self._intake.take(row.value, row.source)
            if spec is not None:
                self._keep(spec, row.source)
                if visit is not None and (case := self._intake.made(spec, row.source)) is not None:
                    visit(case)
            case_id = raw_id(row.value)
            if case_id is not None and not ids.add(case_id):
                twice.append((case_id, row.source))
            if len(diagnostics) > known:
                if has_errors(diagnostics[known:]):
                    errors += 1
                elif known >= MOST_DIAGNOSTICS:
                    del diagnostics[known:]  # more warnings than anybody reads
            if errors + len(twice) >= MOST_DIAGNOSTICS:
                self._report_twice(twice)
                self._say("too-many", f"stopped after {MOST_DIAGNOSTICS:,} rows with errors", "mend these first")
                return
        self._report_twice(twice)
        if self.count == 0 and not errors:
            rows = "a header, and a row for every case" if self.path.suffix.lower() == ".csv" else "one case a line"
            self._say("empty", "the dataset holds no case", f"write {rows}")

    def __iter__(self) -> Iterator[Case]:
        for spec, source in self._kept if self._kept is not None else self._again():
            case = self._intake.made(spec, source)
            if case is not None:
                yield case

    def _keep(self, spec: CaseSpec, source: Source) -> None:
        self.count += 1
        if self._kept is not None:
            self._kept.append((spec, source))
            if self.count > _KEPT_CASES:
                self._kept = None

    def _again(self) -> Iterator[tuple[CaseSpec, Source]]:
        """The good rows, read anew. A file that has changed meanwhile is not what was checked, and is refused."""
        self._refuse_changes()
        for row in read_rows(self.path, self.file):
            try:
                spec = CaseSpec.model_validate(row.value) if row.problem is None else None
            except ValidationError:
                spec = None
            self._refuse_changes()  # so that the row is one that was checked, and what is wrong with it was said
            if spec is not None:
                yield spec, row.source
        self._refuse_changes()

    def _refuse_changes(self) -> None:
        refuse_changed_file(self.path, self.stamp, self.file)

    def _report_twice(self, twice: list[tuple[str, Source]]) -> None:
        """Duplicates are rare: only now is it worth finding out where each id stood first."""
        wanted = {case_id for case_id, _ in twice}
        first: dict[str, int | None] = {}
        for row in read_rows(self.path, self.file) if wanted else ():
            case_id = row.value.get("id") if isinstance(row.value, dict) else None
            if isinstance(case_id, str) and case_id in wanted:
                first.setdefault(case_id, row.source.place(()).line)
                if len(first) == len(wanted):
                    break
        for case_id, source in twice:
            self._intake.duplicate(case_id, first.get(case_id), source, ("id",))

    def _say(self, code: str, message: str, hint: str) -> None:
        self._intake.diagnostics.append(Diagnostic("error", code, message, self.file, hint=hint))
