"""Validating files of every kind, each by the room that knows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..conversation.files import shown_file
from ..conversation.guidelines import GuidelinePatterns
from ..diagnostics import Diagnostic, Severity, has_errors
from ..errors import InputError
from ..suite.collect import passed_over
from ..suite.find import Found, find_files
from ..suite.intake import MOST_DIAGNOSTICS
from ..suite.kinds import DATASET_ENDINGS, FileKind, file_kind
from ..suite.project import Project, Projects, read_config
from ..suite.sources import Source
from ..suite.suite import Suite, survey_suite
from ..suite.variants import variant_problems
from .cases import problems_of_case
from .disk import missing_on_disk
from .judges import JudgeCheck
from .together import NamedTarget, case_target_names, suite_target_names, unknown_target, unused_patterns
from .tool_rounds import unused_rounds
from .variants import settings_problems

if TYPE_CHECKING:
    from ..targets.targets_file import Targets

__all__ = ["Validation"]

_SUITE_ENDINGS = (".yaml", ".yml", ".json", *DATASET_ENDINGS, "")


class Validation:
    """One validation of any number of files: `checked` and `skipped` count them, `diagnostics` says the rest."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.checked = 0
        self.skipped = 0
        self._projects = Projects(self.diagnostics.extend)
        self._done: set[Path] = set()
        self._whole: list[Path] = []  # folders of which everything was looked at
        self._own_patterns: list[tuple[GuidelinePatterns, Source]] = []  # of suites that have some
        self._targets: dict[Path, Targets | None] = {}
        self._used: dict[Path, set[str]] = {}  # names of targets that suites ask, by the targets file

    def check_paths(self, arguments: Sequence[str]) -> None:
        """Check files, folders and globs. Raises `UsageError` for one that does not exist."""
        self._whole += [Path(argument).resolve() for argument in arguments if Path(argument).is_dir()]
        rows: list[Found] = []
        for found in find_files(arguments):
            if found.path.suffix.lower() in DATASET_ENDINGS and not found.named:
                rows.append(found)
            else:
                self._check(found, file_kind(found.path))
        for found in rows:  # only now is it known which of them belong to suites
            self._check(found, file_kind(found.path))

    def check_stream(self, path: Path, file: str) -> None:
        """Check a suite that came from elsewhere; its files are looked up from the current folder."""
        self.checked += 1
        self._check_suite(path, file, Path.cwd())

    def finish(self) -> None:
        """Say what only shows at the end: problems of the projects around the files, and what nothing uses."""
        for project, _, patterns in list(self._projects):
            self._check_project(project)
            if project.config.guideline_patterns is not None and project.config_source is not None:
                seen_whole = any(project.root.is_relative_to(folder) for folder in self._whole)
                elsewhere = None if seen_whole else project
                self.diagnostics += unused_patterns(patterns, project.config_source, elsewhere)
        for own_patterns, source in self._own_patterns:
            self.diagnostics += unused_patterns(own_patterns, source, None)
        for path, spec in self._targets.items():
            if spec is not None:  # only now is it known which targets are used
                self.diagnostics += missing_on_disk(path, spec, self._used.get(path, frozenset()))
        self.diagnostics = _in_order(self.diagnostics)

    def _check(self, found: Found, kind: FileKind) -> None:
        if not self._first_time(found.path):
            return
        if kind in ("other", "special") and not self._is_worth_reading(found, kind):
            return
        self.checked += 1
        match kind:
            case "config":
                self._check_config(found.path)
            case "targets":
                self._check_targets(found.path)
            case "env":
                self._check_env(found.path)
            case "deck":
                from ..decks.deck import read_deck
                from ..graders.human_labels import off_scale_labels

                deck, said = read_deck(found.path)
                self.diagnostics += said
                if deck is not None:
                    self.diagnostics += off_scale_labels(deck)
            case "samples":
                from ..decks.samples import read_samples

                self.diagnostics += read_samples(found.path)[1]
            case _:
                self._check_suite(found.path, found.file, None)

    def _first_time(self, path: Path) -> bool:
        real = path.resolve() if path.exists() else path
        if real in self._done:
            return False
        self._done.add(real)
        return True

    def _is_worth_reading(self, found: Found, kind: FileKind) -> bool:
        """A file of no known kind: one that the user named is read as a suite, if it can be one."""
        if found.named and (kind == "special" or found.path.suffix.lower() in _SUITE_ENDINGS):
            return True
        if found.named:
            message = "not a kind of file that is understood"
            hint = "suites end in .yaml, .json, .jsonl or .csv, decks in .deck.md; samples in .toml hold [[samples]]"
            self.checked += 1
            self.diagnostics.append(Diagnostic("error", "unknown-kind", message, found.file, hint=hint))
            return False
        self.skipped += 1
        if warning := passed_over(found, kind):
            self.diagnostics.append(warning)
        return False

    def _check_suite(self, path: Path, file: str, folder: Path | None) -> None:
        suite, diagnostics = survey_suite(path, self._projects, file=file, folder=folder)
        self.diagnostics += diagnostics
        if suite is None:
            return
        if suite.spec.guideline_patterns is not None:
            self._own_patterns.append((suite.guidelines, suite.source))
        if suite.dataset is not None:
            self._done.add(suite.dataset.resolve())
        self._check_project(suite.project)
        targets_file = suite.project.targets_file.resolve()
        targets = self._targets.get(targets_file)
        used = self._used.setdefault(targets_file, set())
        names = _UnknownNames(targets, str(suite.project.targets_file), used)
        self.diagnostics += names.among(suite_target_names(suite), suite.source, None)
        self.diagnostics += variant_problems(suite)
        self.diagnostics += unused_rounds(suite)
        self.diagnostics += settings_problems(suite, targets)
        found, judges = _Bounded(), self._judge_check(suite, targets)
        for case in suite.cases:
            found.add(problems_of_case(case))
            found.add(names.among(case_target_names(case, suite), case.source, case.id))
            found.add(judges.problems(case) if judges is not None else ())
        self.diagnostics += found.diagnostics
        if found.hidden:
            message, hint = f"{found.hidden:,} more problems of its cases are not shown", "mend these first"
            severity: Severity = "error" if has_errors(found.diagnostics) else "warning"
            self.diagnostics.append(Diagnostic(severity, "too-many", message, file, hint=hint))

    def _check_config(self, path: Path) -> None:
        try:
            read_config(path)
        except InputError as error:
            self.diagnostics += error.diagnostics

    def _check_project(self, project: Project) -> None:
        """The files that every suite of the project depends on."""
        for env in (project.root / ".turnwise" / ".env", project.root / ".env"):
            if env.is_file() and self._first_time(env):
                self.checked += 1
                self._check_env(env)
        targets = project.targets_file
        if targets.is_file():
            if self._first_time(targets):
                self.checked += 1
                self._check_targets(targets)
        elif project.config.targets is not None and project.config_source is not None:
            place = project.config_source.place(("targets",))
            message = f"the targets file {project.config.targets} does not exist"
            hint = f"create {shown_file(targets)}, or mend the path"
            file = project.config_source.file
            self.diagnostics.append(Diagnostic("error", "file-missing", message, file, place, hint, "targets"))

    def _check_targets(self, path: Path) -> None:
        from ..targets.load import read_targets

        spec, diagnostics = read_targets(path)
        self.diagnostics += diagnostics
        self._targets[path.resolve()] = spec

    def _check_env(self, path: Path) -> None:
        from ..targets.dotenv import read_dotenv

        self.diagnostics += read_dotenv(path)[1]

    def _judge_check(self, suite: Suite, targets: Targets | None) -> JudgeCheck | None:
        """None if the targets file is there, but cannot be read: nothing is known then."""
        unread = targets is None and suite.project.targets_file.is_file()
        return None if unread else JudgeCheck(suite, targets)


class _UnknownNames:
    """Finds names of targets that mean nothing; without a targets file, nobody knows. Adds all that it sees to
    `used`."""

    def __init__(self, targets: Targets | None, file: str, used: set[str]) -> None:
        self._targets = targets
        self._file = file
        self._used = used

    def among(self, names: Iterable[NamedTarget], source: Source, case_id: str | None) -> list[Diagnostic]:
        targets = self._targets
        if targets is None:
            return []
        named = list(names)
        self._used |= {each.name for each in named}
        found = (unknown_target(each, targets, self._file, source, case_id) for each in named)
        return [each for each in found if each is not None]


class _Bounded:
    """What there is to say about the cases of a suite, up to a bound: memory must not grow with a dataset."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.hidden = 0
        self._counts = {"error": 0, "warning": 0}
        self._shared: set[Diagnostic] = set()  # of what stands in the suite, and not in a case

    def add(self, diagnostics: Iterable[Diagnostic]) -> None:
        for diagnostic in diagnostics:
            if diagnostic.case_id is None:
                if diagnostic in self._shared:
                    continue
                self._shared.add(diagnostic)
            self._counts[diagnostic.severity] += 1
            if self._counts[diagnostic.severity] <= MOST_DIAGNOSTICS:
                self.diagnostics.append(diagnostic)
            else:
                self.hidden += 1


def _in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """By file (in the order they came up) and line; nothing twice."""
    unique = list(dict.fromkeys(diagnostics))
    order: dict[str, int] = {}
    for diagnostic in unique:
        order.setdefault(diagnostic.file, len(order))
    return sorted(unique, key=lambda each: (order[each.file], each.place.line or 0, each.place.column or 0))
