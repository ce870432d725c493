"""The suites behind what was named on the command line: files, folders and globs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..diagnostics import Diagnostic
from ..errors import ConfigError
from .find import Found, file_kind, find_files
from .project import Projects
from .suite import Suite, read_suite

__all__ = ["Loaded", "collect_suites"]


class Loaded(NamedTuple):
    """One file that should be a suite: the suite, or None, and what there is to say about it."""

    file: str
    suite: Suite | None
    diagnostics: list[Diagnostic]


def collect_suites(arguments: Sequence[str]) -> Iterator[Loaded]:
    """Load suites one after the other. In a folder, other files are passed over with a warning, and a dataset
    that belongs to a suite is not a suite of its own. Raises `UsageError` for a path that does not exist."""
    projects = Projects()
    datasets: list[Found] = []
    used: set[Path] = set()
    for found in find_files(arguments):
        kind = "suite" if found.named else file_kind(found.path)
        if kind == "dataset":
            datasets.append(found)
        elif kind == "suite":
            loaded = load_one(found.path, found.file, projects)
            if loaded.suite is not None and loaded.suite.dataset is not None:
                used.add(loaded.suite.dataset.resolve())
            yield loaded
        elif kind == "other" and found.path.suffix in (".yaml", ".yml"):
            message = "skipped: no `cases` at its top level"
            hint = "name the file itself to have it read as a suite"
            yield Loaded(found.file, None, [Diagnostic("warning", "not-ours", message, found.file, hint=hint)])
    for found in datasets:
        if found.path.resolve() not in used:
            yield load_one(found.path, found.file, projects)


def load_one(path: Path, file: str, projects: Projects, folder: Path | None = None) -> Loaded:
    """Load one suite; a config that is not well formed is said as if it were the suite's own problem."""
    try:
        return Loaded(file, *read_suite(path, projects, file=file, folder=folder))
    except ConfigError as error:
        return Loaded(file, None, list(error.diagnostics))
