"""A suite, and loading one: everything is validated before anything is used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from pydantic import ValidationError

from ..conversation.files import shown_file
from ..conversation.guidelines import GuidelinePatterns
from ..diagnostics import Diagnostic, has_errors
from ..errors import FileReferenceError, InputError, SuiteError
from .case import Case, CaseContext
from .format import CaseSpec, SuiteHeader
from .intake import MOST_DIAGNOSTICS, AuthoredPath, Intake, as_written, problem_diagnostic, raw_id
from .kinds import DATASET_ENDINGS
from .paths import DataPath, shown_path
from .project import Project, Projects
from .reading import garbage_collection_paused, read_document, read_source_text
from .sources import Source, WholeFile
from .stamps import Stamp, file_stamp, refuse_changed_file

if TYPE_CHECKING:
    from .streaming import Visit

__all__ = ["Cases", "Suite", "load_suite", "read_suite", "survey_suite"]


class Cases:
    """The cases of a suite, in order, as often as asked for. Those of a large dataset are read anew each time."""

    def __init__(self, count: int, start: Callable[[], Iterator[Case]]) -> None:
        self._count = count
        self._start = start

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Case]:
        return self._start()

    @overload
    def __getitem__(self, index: int) -> Case: ...

    @overload
    def __getitem__(self, index: slice) -> list[Case]: ...

    def __getitem__(self, index: int | slice) -> Case | list[Case]:
        if isinstance(index, slice):
            return list(self)[index]
        wanted = index if index >= 0 else index + self._count
        for position, case in enumerate(self):
            if position == wanted:
                return case
        raise IndexError(f"the suite has {self._count} cases")


@dataclass(frozen=True)
class Suite:
    """An eval file: defaults and cases, all of it known to be well formed.

    `file` is the name that people see; `spec` holds the file's own settings. `authored` leads from a path in our words
    to the one in the file, where that is of another format.
    """

    name: str
    file: str
    spec: SuiteHeader
    project: Project
    guidelines: GuidelinePatterns
    source: Source
    cases: Cases
    warnings: tuple[Diagnostic, ...] = ()
    dataset: Path | None = None
    stamps: tuple[tuple[Path, Stamp], ...] = ()
    authored: AuthoredPath = as_written

    def refuse_changes(self) -> None:
        """Raise `SuiteError` if its file, or its dataset, has changed since it was loaded."""
        for path, stamp in self.stamps:
            refuse_changed_file(path, stamp, shown_file(path))


def load_suite(path: str | Path) -> Suite:
    """Load and validate a suite: a YAML or JSON file, or a JSONL file with a case a line.

    Raises `SuiteError` with every problem found, or `ConfigError` for the project's config.
    Files that messages refer to are read later, by `case.conversation`.

    >>> suite = load_suite("examples/triage/suite.yaml")
    >>> suite.name, len(suite.cases), [case.id for case in suite.cases]
    ('triage', 3, ['double-charge', 'crash-then-price', 'login-loop'])
    """
    suite, diagnostics = read_suite(Path(path))
    if suite is None:
        raise SuiteError(diagnostics)
    return suite


def read_suite(
    path: Path, projects: Projects | None = None, *, file: str | None = None, folder: Path | None = None
) -> tuple[Suite | None, list[Diagnostic]]:
    """The suite, or None if it is not well formed, and all that there is to say about it. Raises `ConfigError`.

    `file` and `folder` stand in for the path's own name and place where the text came from standard input.
    """
    suite, diagnostics = survey_suite(path, projects, file=file, folder=folder)
    return (None if has_errors(diagnostics) else suite), diagnostics


def survey_suite(
    path: Path,
    projects: Projects | None = None,
    *,
    file: str | None = None,
    folder: Path | None = None,
    visit: Visit | None = None,
) -> tuple[Suite | None, list[Diagnostic]]:
    """Like `read_suite`, but a suite with errors comes back all the same, with those of its cases that are well
    formed: so that one mistake does not hide the others. It must not be run."""
    loader = _Loader(file or shown_file(path), path, folder or path.parent, projects or Projects(), visit)
    with garbage_collection_paused():
        try:
            suite = loader.load()
        except InputError as error:
            return None, [*loader.diagnostics, *error.diagnostics]
    return suite, loader.diagnostics


class _Loader:
    """One loading of one suite: what it finds out on the way, it collects in `diagnostics`."""

    def __init__(self, file: str, path: Path, folder: Path, projects: Projects, visit: Visit | None = None) -> None:
        self.visit = visit
        self.file = file
        self.path = path
        self.folder = folder
        self.stamp = file_stamp(path)
        self.diagnostics: list[Diagnostic] = []
        self.project, self.files, self.patterns = projects.of(folder)

    def load(self) -> Suite | None:
        """The suite with its good cases, or None if it has none to speak of."""
        if self.path.suffix.lower() in DATASET_ENDINGS:
            header = SuiteHeader.model_validate({"cases": self.path.name})
            return self._with_dataset(header, WholeFile(self.file), self.path, self.file, self.folder)
        raw, source = read_document(read_source_text(self.path, self.file), self.file)
        if not isinstance(raw, dict):
            self._wrong_type("a suite must be a mapping with `cases`", raw, source, ())
            return None
        authored: AuthoredPath = as_written
        if "evalcases" in raw or "$schema" in raw:
            from .agentv import authored_paths, is_agentv_suite, translate_suite, unused_evaluators

            if is_agentv_suite(raw):
                for each in unused_evaluators(raw):
                    self.diagnostics.append(problem_diagnostic(each, "warning", source, each.path, None))
                raw, authored = translate_suite(raw), authored_paths(raw)
        header = self._header(raw, source, authored)
        cases = raw.get("cases")
        if isinstance(cases, list):
            return self._with_list(header, raw["cases"], source, authored)
        if isinstance(cases, str):
            dataset = self._find_dataset(cases, source, authored(("cases",)))
            if dataset is not None:
                return self._with_dataset(header, source, dataset, shown_file(dataset), dataset.parent, authored)
        elif "cases" in raw:
            self._wrong_type("`cases` must be a list, or the path of a dataset", cases, source, authored(("cases",)))
        return None

    def _header(self, raw: dict[str, Any], source: Source, authored: AuthoredPath) -> SuiteHeader:
        """The suite's own settings; where they are wrong, a stand-in, so that its cases are checked all the same."""
        if raw.get("target") is not None and raw.get("targets") is not None:
            self._error("two-targets", "give `target` or `targets`, not both", source, ("targets",), "remove one")
        if raw.get("cases") == []:
            self._error("empty", "`cases` must not be empty", source, authored(("cases",)), "write at least one case")
        try:
            header = SuiteHeader.model_validate(raw)
        except ValidationError as error:
            from .explain import explain

            self.diagnostics += explain(error, data=raw, model=SuiteHeader, source=source, authored=authored)
            template: list[Any] | None = [] if raw.get("input_messages") else None
            values = raw["vars"] if isinstance(raw.get("vars"), dict) else None
            return SuiteHeader.model_construct(input_messages=template, vars=values, cases=[])
        return header

    def _with_list(self, header: SuiteHeader, cases: list[Any], source: Source, authored: AuthoredPath) -> Suite:
        context = self._context(header, self.folder, source, authored)
        intake = Intake(context, self.diagnostics, authored)
        specs: list[tuple[int, CaseSpec]] = []
        seen: dict[str, int] = {}
        for index, value in enumerate(cases):
            spec = intake.take(value, source, ("cases", index), authored)
            if spec is not None:
                specs.append((index, spec))
            case_id = raw_id(value)
            first = seen.setdefault(case_id, index) if case_id is not None else index
            if case_id is not None and first != index:
                line = source.place(authored(("cases", first, "id"))).line
                intake.duplicate(case_id, line, source, authored(("cases", index, "id")))
            if len(self.diagnostics) >= MOST_DIAGNOSTICS and has_errors(self.diagnostics):
                message = f"stopped after {MOST_DIAGNOSTICS:,} problems"
                self._error("too-many", message, source, authored(("cases", index)), "mend these first")
                break

        def start() -> Iterator[Case]:
            for index, spec in specs:
                case = intake.made(spec, source, authored(("cases", index)))
                if case is not None:
                    yield case

        return self._suite(header, source, context, Cases(len(specs), start), None)

    def _with_dataset(
        self,
        header: SuiteHeader,
        source: Source,
        path: Path,
        file: str,
        folder: Path,
        authored: AuthoredPath = as_written,
    ) -> Suite:
        from .streaming import DatasetCases

        context = self._context(header, folder, source, authored)
        dataset = DatasetCases(path, file, Intake(context, self.diagnostics, authored))
        dataset.check(self.visit)
        cases = Cases(dataset.count, dataset.__iter__)
        return self._suite(header, source, context, cases, path, ((path, dataset.stamp),))

    def _context(self, header: SuiteHeader, folder: Path, source: Source, authored: AuthoredPath) -> CaseContext:
        patterns = self.patterns
        if header.guideline_patterns is not None:
            patterns = GuidelinePatterns(header.guideline_patterns)
        prompt = self.project.config.default_system_prompt
        return CaseContext(header, folder, self.files, patterns, prompt, source, authored)

    def _suite(
        self,
        header: SuiteHeader,
        source: Source,
        context: CaseContext,
        cases: Cases,
        dataset: Path | None,
        stamps: tuple[tuple[Path, Stamp], ...] = (),
    ) -> Suite:
        name = header.name or self.path.stem
        warnings = tuple(self.diagnostics)
        return Suite(
            name=name,
            file=self.file,
            spec=header,
            project=self.project,
            guidelines=context.guidelines,
            source=source,
            cases=cases,
            warnings=warnings,
            dataset=dataset,
            stamps=((self.path.absolute(), self.stamp), *stamps),
            authored=context.authored,
        )

    def _find_dataset(self, written: str, source: Source, path: DataPath) -> Path | None:
        if not written.lower().endswith(DATASET_ENDINGS):
            message = f"`cases` names {written!r}: expected a .jsonl or .csv file"
            self._error("bad-dataset", message, source, path, "or write the cases here, as a list")
            return None
        try:
            return self.files.find(written, self.folder)
        except FileReferenceError as error:
            self._error(f"file-{error.kind}", str(error), source, path, error.hint)
            return None

    def _wrong_type(self, rule: str, found: Any, source: Source, path: DataPath) -> None:
        from .explain import described

        self._error("wrong-type", f"{rule}, found {described(found)}", source, path, "see `turnwise schema suite`")

    def _error(self, code: str, message: str, source: Source, path: DataPath, hint: str) -> None:
        place = source.place(path)
        self.diagnostics.append(Diagnostic("error", code, message, source.file, place, hint, shown_path(path)))
