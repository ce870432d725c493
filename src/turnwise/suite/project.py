"""The project around an eval file: its root and its configuration."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationError
from pydantic_core import PydanticCustomError

from ..conversation.authored import FormatModel, Word
from ..conversation.chat import DEFAULT_SYSTEM_PROMPT
from ..conversation.files import ProjectFiles, shown_file
from ..conversation.guidelines import DEFAULT_GUIDELINE_PATTERNS, GuidelinePatterns
from ..diagnostics import Diagnostic
from ..errors import ConfigError, InputError
from .format import GuidelinePattern
from .reading import read_document, read_source_text
from .sources import Source, YamlSource

__all__ = ["ConfigSpec", "Project", "Projects", "find_project_root", "read_config"]

PROJECT_MARKERS = (".turnwise", ".agentv", ".git")


def _usable_path(path: str) -> str:
    try:
        os.path.realpath(Path(path).expanduser())
    except (RuntimeError, ValueError) as error:
        reason = f"{path!r} cannot be a path: {str(error).rstrip('.').lower()}"
        raise PydanticCustomError("bad_path", "{reason}", {"reason": reason}) from error
    return path


UsablePath = Annotated[Word, AfterValidator(_usable_path)]


class ConfigSpec(FormatModel):
    """The project's settings, in `.turnwise/config.yaml`."""

    schema_: str | None = Field(
        None, alias="$schema", description="Where editors find this schema; not used otherwise."
    )
    guideline_patterns: list[GuidelinePattern] | None = Field(
        None,
        description="Which files are guidelines, as globs on paths from the project root; `!pattern` excludes. "
        'Default: `["**/*.instructions.md"]`; `[]`: none.',
    )
    default_system_prompt: str | None = Field(
        DEFAULT_SYSTEM_PROMPT, description="Sent where nothing else gives a system text; `null` sends none."
    )
    allow_paths: list[UsablePath] = Field(
        [], description="Folders outside the project whose files may be read; relative to the project root."
    )
    targets: UsablePath | None = Field(None, description="Path of the targets file. Default: `.turnwise/targets.yaml`.")
    runs_dir: UsablePath | None = Field(None, description="Folder for results. Default: `.turnwise/runs`.")
    cache: bool = Field(False, description="Whether `turnwise run` uses answers that were given before; see `--cache`.")


@dataclass(frozen=True)
class Project:
    """A root folder with its settings. `config_source` is None where there is no config file."""

    root: Path
    config: ConfigSpec = field(default_factory=ConfigSpec)
    config_source: Source | None = None

    @property
    def targets_file(self) -> Path:
        """Where the targets are defined, whether or not the file exists."""
        if self.config.targets is not None:
            return self.root / Path(self.config.targets).expanduser()
        ours = _yaml_file(self.root / ".turnwise", "targets")
        theirs = _yaml_file(self.root / ".agentv", "targets")
        return theirs if theirs.is_file() and not _has_own_files(self.root) else ours

    @property
    def runs_dir(self) -> Path:
        """Where results are kept."""
        return self.root / Path(self.config.runs_dir or ".turnwise/runs").expanduser()

    @property
    def guideline_patterns(self) -> tuple[str, ...]:
        """The config's patterns, or the default."""
        configured = self.config.guideline_patterns
        return DEFAULT_GUIDELINE_PATTERNS if configured is None else tuple(configured)

    def files(self) -> ProjectFiles:
        """A reader for the files of this project."""
        return ProjectFiles(self.root, [self.root / Path(path).expanduser() for path in self.config.allow_paths])


class Projects:
    """The projects that a command meets, each with one config, one file reader and one set of patterns."""

    def __init__(self, report: Callable[[Sequence[Diagnostic]], object] | None = None) -> None:
        self._report = report
        self._projects: dict[Path, tuple[Project, ProjectFiles, GuidelinePatterns]] = {}

    def of(self, folder: Path) -> tuple[Project, ProjectFiles, GuidelinePatterns]:
        """The project around a folder, its files, and its guideline patterns.

        Raises `ConfigError`; with `report`, the problems go there, and the project has default settings.
        """
        root = find_project_root(folder)
        known = self._projects.get(root)
        if known is None:
            project = self._load(root)
            known = project, project.files(), GuidelinePatterns(project.guideline_patterns)
            self._projects[root] = known
        return known

    def _load(self, root: Path) -> Project:
        try:
            return load_project(root)
        except ConfigError as error:
            if self._report is None:
                raise
            self._report(error.diagnostics)
            return Project(root)

    def __iter__(self) -> Iterator[tuple[Project, ProjectFiles, GuidelinePatterns]]:
        return iter(self._projects.values())


def find_project_root(folder: Path) -> Path:
    """The nearest folder, from `folder` upwards, that holds `.turnwise/`, `.agentv/` or `.git`; else `folder`."""
    start = Path(os.path.realpath(folder))
    for candidate in (start, *start.parents):
        if any((candidate / marker).exists() for marker in PROJECT_MARKERS):
            return candidate
    return start


def load_project(root: Path) -> Project:
    """The project with its config. Raises `ConfigError`."""
    ours = _yaml_file(root / ".turnwise", "config")
    theirs = _yaml_file(root / ".agentv", "config")
    if ours.exists():
        return Project(root, *read_config(ours))
    if (root / ".agentv").is_dir() and not _has_own_files(root):
        # AgentV's rule: no patterns configured, no guidelines.
        project = Project(root, *read_config(theirs)) if theirs.is_file() else Project(root)
        if project.config.guideline_patterns is None:
            return Project(root, project.config.model_copy(update={"guideline_patterns": []}), project.config_source)
        return project
    return Project(root)


def _has_own_files(root: Path) -> bool:
    """Whether the project is set up for Turnwise. The folder alone does not say so: a run makes it for its results."""
    return any(_yaml_file(root / ".turnwise", stem).exists() for stem in ("config", "targets"))


def _yaml_file(folder: Path, stem: str) -> Path:
    """`stem.yaml`, or `stem.yml` where only that exists."""
    usual, short = folder / f"{stem}.yaml", folder / f"{stem}.yml"
    return short if short.is_file() and not usual.is_file() else usual


def read_config(path: Path) -> tuple[ConfigSpec, Source]:
    """Load a config file. Raises `ConfigError`."""
    file = shown_file(path)
    try:
        text = read_source_text(path, file)
        raw, source = read_document(text, file)
    except InputError as error:
        raise ConfigError(error.diagnostics) from None
    if raw is None:
        return ConfigSpec(), YamlSource(file, text)
    if not isinstance(raw, dict):
        raise ConfigError(
            [
                Diagnostic(
                    "error",
                    "wrong-type",
                    "the file must be a mapping",
                    file,
                    source.place(()),
                    "write `key: value` lines",
                )
            ]
        )
    try:
        return ConfigSpec.model_validate(raw), source
    except ValidationError as error:
        from .explain import explain

        raise ConfigError(explain(error, data=raw, model=ConfigSpec, source=source)) from None
