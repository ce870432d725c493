"""Which targets a case is for, each resolved once, in the project of its suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MissingVariablesError, UsageError
from ..targets.choose import find_target, load_project_targets
from ..targets.dotenv import environment
from ..targets.on_disk import check_disk
from ..targets.override import with_settings
from ..targets.resolve import PLACES, ResolvedTarget, resolve_target

if TYPE_CHECKING:
    from ..suite.case import Case
    from ..suite.project import Project
    from ..suite.variants import Variant
    from ..targets.format import Target
    from ..targets.targets_file import Targets
    from .plan import PlannedSuite

__all__ = ["PlannedTarget", "TargetFinder", "check_planned", "resolve_planned"]


@dataclass(eq=False)
class PlannedTarget:
    """A target of a run, in the project whose target it is.

    `overrides` are what variants with `settings` make of it, by suite and variant. `resolved` has all of them with
    their variables filled in, and under None the target as it is; it is empty until `resolve_planned`. `answered_by` is
    the target that a stand-in stands for, if that is known.
    """

    name: str
    spec: Target
    project: Project
    environment: Mapping[str, str] = field(repr=False)
    overrides: dict[tuple[str, str], Target] = field(default_factory=dict)
    resolved: dict[tuple[str, str] | None, ResolvedTarget] = field(default_factory=dict)
    answered_by: Target | None = None

    def want(self, variant: Variant | None, suite: str) -> None:
        """Make sure that the target is there with the variant's settings. Raises `UsageError` if they do not fit."""
        if variant is None or not variant.settings:
            return
        where = f"{suite}: the variant {variant.name!r}"
        self.overrides[suite, variant.name] = with_settings(self.spec, variant.settings, where=where)


class TargetFinder:
    """Finds the targets of cases: those of the command line, else the case's or the suite's own."""

    def __init__(self, chosen: Sequence[str | Target]) -> None:
        self.found: list[PlannedTarget] = []
        self._chosen = tuple(chosen)
        self._projects: dict[Path, tuple[Targets | None, Mapping[str, str]]] = {}
        self._known: dict[tuple[Path, str], PlannedTarget] = {}
        self._of_suite: dict[tuple[str, str | None], tuple[PlannedTarget, ...]] = {}

    def of(self, planned: PlannedSuite, case: Case) -> tuple[PlannedTarget, ...]:
        """The targets that a case is for. Raises `UsageError` if it names none, or one that does not exist."""
        own = None if self._chosen else case.target
        key = planned.name, own
        known = self._of_suite.get(key)
        if known is None:
            wanted: Sequence[str | Target] = self._chosen or ((own,) if own else planned.suite.spec.targets or ())
            if not wanted:
                raise _no_target(planned, case, self._spec_of(planned.suite.project)[0])
            known = tuple(dict.fromkeys(self._named(each, planned, case) for each in wanted))
            for target in known:
                for variant in planned.variants:
                    target.want(variant, planned.name)
            self._of_suite[key] = known
        return known

    def _named(self, wanted: str | Target, planned: PlannedSuite, case: Case) -> PlannedTarget:
        """One of the targets; an error says who names it, if that is not the command line."""
        try:
            return self._planned(wanted, planned.suite.project)
        except UsageError as error:
            if self._chosen:
                raise
            raise _named_by(planned, case, str(wanted), error) from error

    def _planned(self, wanted: str | Target, project: Project) -> PlannedTarget:
        name = wanted if isinstance(wanted, str) else wanted.name
        known = self._known.get((project.root, name))
        if known is None:
            targets, variables = self._spec_of(project)
            spec = wanted
            if isinstance(spec, str):
                spec = find_target(spec, targets, file=str(project.targets_file))
            known = self._known[project.root, name] = PlannedTarget(name, spec, project, variables)
            self.found.append(known)
        return known

    def _spec_of(self, project: Project) -> tuple[Targets | None, Mapping[str, str]]:
        known = self._projects.get(project.root)
        if known is None:
            known = load_project_targets(project), dict(environment(project.root))
            self._projects[project.root] = known
        return known


def resolve_planned(targets: Sequence[PlannedTarget], *, allow_missing_secrets: bool = False) -> None:
    """Fill in the variables of all targets. Raises one `MissingVariablesError` that names all that are not set."""
    absent: dict[str, Any] = {}
    for target in targets:
        specs: list[tuple[tuple[str, str] | None, Target]] = [(None, target.spec), *target.overrides.items()]
        for key, spec in specs:
            try:
                target.resolved[key] = resolve_target(
                    spec, target.environment, allow_missing_secrets=allow_missing_secrets
                )
            except MissingVariablesError as error:
                absent |= error.missing
    if absent:
        raise MissingVariablesError(absent, PLACES)


def check_planned(targets: Sequence[PlannedTarget]) -> None:
    """Raise `UsageError` for a target that is to be asked, and whose files or folders are not there."""
    for target in targets:
        for resolved in target.resolved.values():
            check_disk(resolved.target, target.project.root, target.environment)


def _named_by(planned: PlannedSuite, case: Case, name: str, error: UsageError) -> UsageError:
    """The same error, at the key that names the target."""
    suite = planned.suite.spec
    source, path, case_id = case.where(("target",))
    if case.target is None or case.target == suite.target:
        source, case_id = planned.suite.source, None
        path = ("target",) if name == suite.target else ("targets", (suite.targets or [name]).index(name))
    place = source.place(path)
    at = ":".join(str(part) for part in (source.file, place.line, place.column) if part is not None)
    who = f"case {case_id!r}: " if case_id is not None else ""
    return UsageError(f"{at}: {who}{error}", error.hint)


def _no_target(planned: PlannedSuite, case: Case, targets: Targets | None) -> UsageError:
    known = ", ".join(target.name for target in targets.targets[:8]) if targets is not None else ""
    hint = f"add --target NAME, or `target:` to the suite; there are: {known}" if known else (
        "add --target provider/model, such as openai/MODEL, or --target local for a model on this machine"
    )  # fmt: skip
    return UsageError(f"{planned.suite.file}: no target is named for the case {case.id!r}", hint)
