"""Validating files of every kind, and what only shows when they are seen together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..conversation.guidelines import GuidelinePatterns
from ..diagnostics import Diagnostic
from ..errors import InputError
from ..suite.check import check_case
from ..suite.explain import did_you_mean
from ..suite.find import FileKind, Found, file_kind, find_files
from ..suite.project import Project, Projects, read_config
from ..suite.sources import DataPath, Source, shown_path
from ..suite.suite import Suite, read_suite

__all__ = ["Validation"]


class Validation:
    """One validation of any number of files: `checked` and `skipped` count them, `diagnostics` says the rest."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.checked = 0
        self.skipped = 0
        self._projects = Projects()
        self._done: set[Path] = set()
        self._suites: list[Suite] = []
        self._targets: dict[Path, list[str] | None] = {}

    def check_paths(self, arguments: Sequence[str]) -> None:
        """Check files, folders and globs. Raises `UsageError` for one that does not exist."""
        datasets: list[Found] = []
        for found in find_files(arguments):
            kind = file_kind(found.path)
            if kind == "dataset" and not found.named:
                datasets.append(found)
            else:
                self._check(found, kind)
        for found in datasets:
            self._check(found, "dataset")

    def check_stream(self, path: Path, file: str) -> None:
        """Check a suite that came from elsewhere; its files are looked up from the current folder."""
        self.checked += 1
        self._check_suite(path, file, Path.cwd())

    def finish(self) -> None:
        """Say what only shows at the end: problems of the projects around the files, and patterns never used."""
        for project, _, patterns in list(self._projects):
            self._check_project(project)
            if project.config.guideline_patterns is not None and project.config_source is not None:
                self._unused(patterns, project.config_source)
        for suite in self._suites:
            if suite.spec.guideline_patterns is not None:
                self._unused(suite.guidelines, suite.source)
            self._check_target_names(suite)
        self.diagnostics = _in_order(self.diagnostics)

    def _check(self, found: Found, kind: FileKind) -> None:
        real = found.path.resolve() if found.path.exists() else found.path
        if real in self._done:
            return
        self._done.add(real)
        if kind == "other" and not found.named:
            self.skipped += 1
            if found.path.suffix in (".yaml", ".yml"):
                message = "skipped: no `cases`, `samples`, `targets` or config key at its top level"
                self._say(
                    "warning",
                    "not-ours",
                    message,
                    found.file,
                    "name the file itself to have it read as a suite",
                )
            return
        self.checked += 1
        match kind:
            case "config":
                self._check_config(found)
            case "targets":
                self._check_targets(found.path)
            case "env":
                self._check_env(found.path)
            case "deck":
                from ..decks.deck import read_deck

                self.diagnostics += read_deck(found.path)[1]
            case "samples":
                from ..decks.samples import read_samples

                self.diagnostics += read_samples(found.path)[1]
            case _:
                self._check_suite(found.path, found.file, None)

    def _check_suite(self, path: Path, file: str, folder: Path | None) -> None:
        try:
            suite, diagnostics = read_suite(path, self._projects, file=file, folder=folder)
        except InputError as error:  # the project's config: said once, by whichever suite met it first
            self.diagnostics += error.diagnostics
            return
        self._add_suite(suite, diagnostics)

    def _add_suite(self, suite: Suite | None, diagnostics: list[Diagnostic]) -> None:
        self.diagnostics += diagnostics
        if suite is None:
            return
        self._suites.append(suite)
        if suite.dataset is not None:
            self._done.add(suite.dataset.resolve())
        for case in suite.cases:
            self.diagnostics += check_case(case)

    def _check_config(self, found: Found) -> None:
        try:
            read_config(found.path)
        except InputError as error:
            self.diagnostics += error.diagnostics

    def _check_project(self, project: Project) -> None:
        targets = project.targets_file
        if targets.is_file():
            if targets.resolve() not in self._done:
                self._done.add(targets.resolve())
                self.checked += 1
                self._check_targets(targets)
        elif project.config.targets is not None and project.config_source is not None:
            place = project.config_source.place(("targets",))
            message = f"the targets file {project.config.targets} does not exist"
            self.diagnostics.append(
                Diagnostic(
                    "error",
                    "file-missing",
                    message,
                    project.config_source.file,
                    place,
                    "create it, or mend the path",
                )
            )

    def _check_targets(self, path: Path) -> None:
        from ..targets.load import read_targets

        spec, diagnostics = read_targets(path)
        self.diagnostics += diagnostics
        self._targets[path.resolve()] = [target.name for target in spec.targets] if spec is not None else None

    def _check_env(self, path: Path) -> None:
        from ..targets.dotenv import read_dotenv

        self.diagnostics += read_dotenv(path)[1]

    def _check_target_names(self, suite: Suite) -> None:
        """A target that the project does not define can still be a `provider/model`, so this is no error."""
        known = self._targets.get(suite.project.targets_file.resolve())
        if known is None:
            return
        single: list[tuple[DataPath, str]] = [(("target",), suite.spec.target)] if suite.spec.target else []
        several: list[tuple[DataPath, str]] = [
            (("targets", i), name) for i, name in enumerate(suite.spec.targets or ())
        ]
        for path, name in single + several:
            if name not in known and "/" not in name:
                self.diagnostics.append(
                    Diagnostic(
                        "warning", "unknown-target", f"no target is named {name!r}", suite.source.file,
                        suite.source.place(path), did_you_mean(name, known, "the project has"),
                    )
                )  # fmt: skip

    def _unused(self, patterns: GuidelinePatterns, source: Source) -> None:
        for index, pattern in enumerate(patterns.patterns):
            if index not in patterns.used:
                path: DataPath = ("guideline_patterns", index)
                message = f"the guideline pattern {pattern!r} matches no file that a case refers to"
                hint = "patterns are matched on paths from the project root"
                place = source.place(path)
                self.diagnostics.append(
                    Diagnostic("warning", "unused-pattern", message, source.file, place, hint, shown_path(path))
                )

    def _say(self, severity: str, code: str, message: str, file: str, hint: str) -> None:
        self.diagnostics.append(Diagnostic(severity, code, message, file, hint=hint))  # type: ignore[arg-type]


def _in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """By file (in the order they came up) and line; nothing twice."""
    unique = list(dict.fromkeys(diagnostics))
    order: dict[str, int] = {}
    for diagnostic in unique:
        order.setdefault(diagnostic.file, len(order))
    return sorted(unique, key=lambda each: (order[each.file], each.place.line or 0, each.place.column or 0))
