"""The suites behind what was named on the command line: files, folders and globs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..diagnostics import Diagnostic, has_errors
from ..errors import ConfigError
from .find import Found, find_files
from .kinds import LINE_ENDINGS, FileKind, file_kind
from .project import Projects
from .streaming import Visit
from .suite import Suite, survey_suite

__all__ = ["Loaded", "collect_suites", "load_one", "passed_over"]


class Loaded(NamedTuple):
    """One file that should be a suite: the suite, or None, and what there is to say about it."""

    file: str
    suite: Suite | None
    diagnostics: list[Diagnostic]
    dataset: Path | None = None


def collect_suites(arguments: Sequence[str], visit: Visit | None = None) -> Iterator[Loaded]:
    """Load suites one after the other. In a folder, other files are passed over with a warning, and a dataset
    that belongs to a suite is not a suite of its own. Raises `UsageError` for a path that does not exist.

    `visit` is called with each case of a dataset as it is validated."""
    projects = Projects()
    datasets: list[Found] = []
    used: set[Path] = set()
    for found in find_files(arguments):
        kind = "suite" if found.named else file_kind(found.path)
        if kind == "dataset":
            datasets.append(found)
        elif kind == "suite":
            loaded = load_one(found.path, found.file, projects, visit=visit)
            if loaded.dataset is not None:
                used.add(loaded.dataset.resolve())
            yield loaded
        elif warning := passed_over(found, kind):
            yield Loaded(found.file, None, [warning])
    for found in datasets:
        if found.path.resolve() not in used:
            yield load_one(found.path, found.file, projects, visit=visit)


def load_one(
    path: Path, file: str, projects: Projects, folder: Path | None = None, visit: Visit | None = None
) -> Loaded:
    """Load one suite; a config that is not well formed is said as if it were the suite's own problem."""
    try:
        suite, diagnostics = survey_suite(path, projects, file=file, folder=folder, visit=visit)
    except ConfigError as error:
        return Loaded(file, None, list(error.diagnostics))
    dataset = suite.dataset if suite is not None else None
    return Loaded(file, None if has_errors(diagnostics) else suite, diagnostics, dataset)


def passed_over(found: Found, kind: FileKind) -> Diagnostic | None:
    """What to say of a file in a folder that is not read; None where nobody would expect it to be."""
    if kind == "special":
        message, hint = "skipped: it is not a regular file", "name it itself to have it read as a suite"
        return Diagnostic("warning", "not-ours", message, found.file, hint=hint)
    if kind == "other" and found.path.suffix in (".yaml", ".yml", *LINE_ENDINGS):
        message = "skipped: its top level is not that of a suite, of samples, of targets or of a config"
        hint = "name the file itself to have it read as a suite"
        return Diagnostic("warning", "not-ours", message, found.file, hint=hint)
    return None
