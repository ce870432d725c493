"""What the verbs that take `--target` share: finding the project, its targets and its variables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..suite.project import Project
    from ..targets.format import Target
    from ..targets.resolve import ResolvedTarget

__all__ = ["Chosen", "choose_target"]


@dataclass(frozen=True)
class Chosen:
    """A target that a command was given, resolved, with the project whose target it is."""

    resolved: ResolvedTarget
    project: Project
    environment: dict[str, str]


def choose_target(name: str, folder: Path, *, allow_missing_secrets: bool = False, stream: bool = False) -> Chosen:
    """The target of that name in the project around `folder`, or `provider/model`; warnings go to standard error."""
    from ..suite.project import find_project_root, load_project
    from ..targets.choose import find_target, load_project_targets
    from ..targets.dotenv import environment
    from ..targets.resolve import resolve_target
    from .output import echo_warning

    project = load_project(find_project_root(folder))
    variables = dict(environment(project.root))
    spec = find_target(name, load_project_targets(project), file=str(project.targets_file))
    if stream:
        spec = _streaming(spec)
    resolved = resolve_target(spec, variables, allow_missing_secrets=allow_missing_secrets)
    for warning in resolved.warnings:
        echo_warning(warning)
    return Chosen(resolved, project, variables)


def _streaming(spec: Target) -> Target:
    from ..errors import UsageError

    if "stream" not in type(spec).model_fields:
        raise UsageError(f"the provider {spec.provider!r} does not stream", "leave out --stream")
    return spec.model_copy(update={"stream": True})
