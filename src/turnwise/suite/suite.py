"""Loading a suite: everything is validated before anything is used, and large datasets stay on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..conversation.files import shown_file
from ..conversation.guidelines import GuidelinePatterns
from ..diagnostics import NOWHERE, Diagnostic, Place, Severity, has_errors
from ..errors import FileReferenceError, InputError, Problem, ResolutionError, SuiteError
from .agentv import authored_path, is_agentv_suite, translate_suite
from .case import Case, CaseContext, make_case, spec_problems
from .datasets import DATASET_ENDINGS, Row, read_rows
from .explain import described, explain
from .format import CaseSpec, SuiteSpec
from .ids import IdSet
from .project import Project, Projects
from .reading import garbage_collection_paused, read_document, read_source_text
from .sources import DataPath, Source, shown_path

__all__ = ["Cases", "Suite", "load_suite", "read_suite"]

# A small dataset is kept from the validating pass; a larger one is read again, so that memory stays flat.
_KEPT_CASES = 8_000
_MOST_DIAGNOSTICS = 1_000

_Authored = Callable[[DataPath], DataPath]


def _as_written(path: DataPath) -> DataPath:
    return path


class Cases:
    """The cases of a suite, in order, as often as asked for. Those of a large dataset are read anew each time."""

    def __init__(self, count: int, start: Callable[[], Iterator[Case]]) -> None:
        self._count = count
        self._start = start

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Case]:
        return self._start()

    def __getitem__(self, index: int) -> Case:
        wanted = index if index >= 0 else index + self._count
        for position, case in enumerate(self):
            if position == wanted:
                return case
        raise IndexError(f"the suite has {self._count} cases")


@dataclass(frozen=True)
class Suite:
    """An eval file: defaults and cases, all of it known to be well formed.

    `file` is the name that people see; `spec` holds the file's own settings.
    """

    name: str
    file: str
    spec: SuiteSpec
    project: Project
    guidelines: GuidelinePatterns
    source: Source
    cases: Cases
    warnings: tuple[Diagnostic, ...] = ()
    dataset: Path | None = None


def load_suite(path: str | Path) -> Suite:
    """Load and validate a suite: a YAML or JSON file, or a JSONL file with a case a line.

    Raises `SuiteError` with every problem found, or `ConfigError` for the project's config.
    Files that messages refer to are read later, by `case.conversation`.

    >>> suite = load_suite("examples/support/suite.yaml")  # doctest: +SKIP
    """
    suite, diagnostics = read_suite(Path(path))
    if suite is None:
        raise SuiteError(diagnostics)
    return suite


def read_suite(
    path: Path, projects: Projects | None = None, *, file: str | None = None, folder: Path | None = None
) -> tuple[Suite | None, list[Diagnostic]]:
    """The suite, or None, and all that there is to say about it. `file` and `folder` stand in for the path's own
    name and place where the text came from elsewhere (standard input)."""
    file = file or shown_file(path)
    loader = _Loader(file, path, folder or path.parent, projects or Projects())
    with garbage_collection_paused():
        try:
            suite = loader.load()
        except InputError as error:
            return None, [*loader.diagnostics, *error.diagnostics]
    return suite, loader.diagnostics


class _Loader:
    """One loading of one suite: what it finds out on the way, it collects in `diagnostics`."""

    def __init__(self, file: str, path: Path, folder: Path, projects: Projects) -> None:
        self.file = file
        self.path = path
        self.folder = folder
        self.diagnostics: list[Diagnostic] = []
        self.project, self.files, self.patterns = projects.of(folder)

    def load(self) -> Suite | None:
        if self.path.suffix.lower() in DATASET_ENDINGS:
            source: Source = _WholeFile(self.file)
            return self._with_dataset(SuiteSpec.model_validate({"cases": self.path.name}), source, self.path, self.file)
        text = read_source_text(self.path, self.file)
        raw, source = read_document(text, self.file)
        authored: _Authored = _as_written
        if is_agentv_suite(raw):
            raw, authored = translate_suite(raw), authored_path
        if not isinstance(raw, dict):
            self._error("wrong-type", f"a suite must be a mapping with `cases`, found {described(raw)}", source, ())
            return None
        spec = self._header(raw, source, authored)
        cases = raw.get("cases")
        if isinstance(cases, list):
            return self._with_list(spec, raw, source, authored)
        if spec is None or not isinstance(cases, str):
            return None
        found = self._find_dataset(cases, source)
        return self._with_dataset(spec, source, found, shown_file(found)) if found is not None else None

    def _header(self, raw: dict[str, Any], source: Source, authored: _Authored) -> SuiteSpec | None:
        """The suite's own settings; its cases are validated one by one, elsewhere."""
        cases = raw.get("cases")
        shell = {**raw, "cases": []} if isinstance(cases, list) else raw
        try:
            spec = SuiteSpec.model_validate(shell)
        except ValidationError as error:
            self.diagnostics += explain(error, data=shell, model=SuiteSpec, source=source, authored=authored)
            return None
        if spec.target is not None and spec.targets is not None:
            self._error("two-targets", "give `target` or `targets`, not both", source, ("targets",))
        if isinstance(cases, list) and not cases:
            self._error("empty", "`cases` must not be empty", source, authored(("cases",)))
        return spec

    def _with_list(
        self, spec: SuiteSpec | None, suite: dict[str, Any], source: Source, authored: _Authored
    ) -> Suite | None:
        raw: list[Any] = suite["cases"]
        # A suite whose header is wrong still gets its cases checked, as far as they stand alone.
        template: list[Any] | None = [] if suite.get("input_messages") else None
        context = self._context(spec or SuiteSpec.model_construct(input_messages=template, cases=[]), self.folder)
        specs: list[CaseSpec] = []
        seen: dict[str, int] = {}
        for index, value in enumerate(raw):
            path: DataPath = ("cases", index)
            case = self._case(value, context, source, path, authored)
            if case is None:
                continue
            first = seen.setdefault(case.id, index)
            if first != index:
                line = source.place(authored(("cases", first, "id"))).line
                self._duplicate(case.id, f"line {line}", source, authored((*path, "id")))
            specs.append(case)
        if spec is None or has_errors(self.diagnostics):
            return None

        def start() -> Iterator[Case]:
            for index, case in enumerate(specs):
                yield make_case(case, context, source, authored(("cases", index)))

        return self._suite(spec, source, context, Cases(len(specs), start), None)

    def _with_dataset(self, spec: SuiteSpec, source: Source, dataset: Path, file: str) -> Suite | None:
        context = self._context(spec, self.folder if dataset == self.path else dataset.parent)
        kept: list[tuple[CaseSpec, Source]] | None = []
        ids, twice, count = IdSet(), dict[str, Source](), 0
        for row in read_rows(dataset, file):
            case = self._row(row, context)
            if len(self.diagnostics) >= _MOST_DIAGNOSTICS:
                self._error("too-many", f"stopped after {_MOST_DIAGNOSTICS:,} problems", row.source, ())
                return None
            if case is None:
                continue
            count += 1
            if not ids.add(case.id):
                twice.setdefault(case.id, row.source)
            if kept is not None:
                kept.append((case, row.source))
                if count > _KEPT_CASES:
                    kept = None
        self._report_twice(twice, dataset, file)
        if count == 0 and not self.diagnostics:
            self._error("empty", "the dataset holds no case", _WholeFile(file), ())
        if has_errors(self.diagnostics):
            return None

        def start() -> Iterator[Case]:
            pairs = kept if kept is not None else self._again(dataset, file)
            for case, row_source in pairs:
                yield make_case(case, context, row_source)

        return self._suite(spec, source, context, Cases(count, start), dataset)

    def _row(self, row: Row, context: CaseContext) -> CaseSpec | None:
        if row.problem is not None:
            self.diagnostics.append(row.problem)
            return None
        return self._case(row.value, context, row.source, (), _as_written)

    def _again(self, dataset: Path, file: str) -> Iterator[tuple[CaseSpec, Source]]:
        """The rows of a dataset that was found to be good, unless somebody has changed it meanwhile."""
        for row in read_rows(dataset, file):
            try:
                if row.problem is not None:
                    raise SuiteError([row.problem])
                yield CaseSpec.model_validate(row.value), row.source
            except ValidationError as error:
                raise SuiteError(explain(error, data=row.value, model=CaseSpec, source=row.source)) from None

    def _case(
        self, value: Any, context: CaseContext, source: Source, path: DataPath, authored: _Authored
    ) -> CaseSpec | None:
        try:
            spec = CaseSpec.model_validate(value)
        except ValidationError as error:
            case_id = value.get("id") if isinstance(value, dict) else None
            self.diagnostics += explain(
                error, data=value, model=CaseSpec, source=source, prefix=path, authored=authored,
                case_id=case_id if isinstance(case_id, str) else None,
            )  # fmt: skip
            return None
        problems = spec_problems(spec, context.suite)
        if not problems and (spec.vars is not None or context.suite.vars is not None):
            try:
                make_case(spec, context, source)
            except ResolutionError as error:
                problems = list(error.problems)
        for problem in problems:
            self.diagnostics.append(
                problem_diagnostic(problem, "error", source, authored((*path, *problem.path)), spec.id)
            )
        if spec.metadata and spec.system_prompt is not None and "systemPrompt" in spec.metadata:
            at = authored((*path, "metadata", "systemPrompt"))
            message = "`system_prompt` and `metadata.systemPrompt` are both given: `system_prompt` is used"
            problem = Problem((), "two-system-prompts", message, "remove one of them")
            self.diagnostics.append(problem_diagnostic(problem, "warning", source, at, spec.id))
        return spec

    def _context(self, spec: SuiteSpec, folder: Path) -> CaseContext:
        patterns = self.patterns
        if spec.guideline_patterns is not None:
            patterns = GuidelinePatterns(spec.guideline_patterns)
        return CaseContext(spec, folder, self.files, patterns, self.project.config.default_system_prompt)

    def _suite(
        self, spec: SuiteSpec, source: Source, context: CaseContext, cases: Cases, dataset: Path | None
    ) -> Suite:
        name = spec.name or self.path.stem
        return Suite(
            name,
            self.file,
            spec,
            self.project,
            context.guidelines,
            source,
            cases,
            tuple(self.diagnostics),
            dataset,
        )

    def _find_dataset(self, written: str, source: Source) -> Path | None:
        if not written.lower().endswith(DATASET_ENDINGS):
            self._error(
                "bad-dataset", f"`cases` names {written!r}: expected a .jsonl or .csv file", source, ("cases",),
                "or write the cases here, as a list",
            )  # fmt: skip
            return None
        try:
            return self.files.find(written, self.folder)
        except FileReferenceError as error:
            self._error(f"file-{error.kind}", str(error), source, ("cases",), error.hint)
            return None

    def _report_twice(self, twice: dict[str, Source], dataset: Path, file: str) -> None:
        """Duplicates are rare: only now is it worth finding out where each id stood first."""
        wanted = dict(twice)
        for row in read_rows(dataset, file) if wanted else ():
            case_id = row.value.get("id") if isinstance(row.value, dict) else None
            if isinstance(case_id, str) and case_id in wanted:
                source = wanted.pop(case_id)
                self._duplicate(case_id, f"line {row.source.place(()).line}", source, ("id",))
                if not wanted:
                    break

    def _duplicate(self, case_id: str, first: str, source: Source, path: DataPath) -> None:
        self._error(
            "duplicate-id",
            f"the id {case_id!r} is used twice, first in {first}",
            source,
            path,
            "rename one of them",
        )

    def _error(self, code: str, message: str, source: Source, path: DataPath, hint: str | None = None) -> None:
        place = source.place(path)
        self.diagnostics.append(Diagnostic("error", code, message, source.file, place, hint, shown_path(path)))


def problem_diagnostic(
    problem: Problem, severity: Severity, source: Source, path: DataPath, case_id: str | None
) -> Diagnostic:
    """A problem of a case, with the place that it has in the file."""
    place = source.place(path)
    return Diagnostic(
        severity, problem.code, problem.message, source.file, place, problem.hint, shown_path(path), case_id
    )


class _WholeFile:
    """A source without places: a dataset that is a suite of its own."""

    def __init__(self, file: str) -> None:
        self.file = file

    def place(self, path: DataPath, key: bool = False) -> Place:  # noqa: ARG002
        return NOWHERE
