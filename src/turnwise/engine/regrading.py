"""Grading a recorded run again, as a run of its own: the model under test is not asked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ..diagnostics import Diagnostic, has_errors
from ..errors import InputError, RunError, SuiteError, UsageError
from ..suite.collect import collect_suites
from ..suite.project import Project
from ..suite.suite import Suite
from ..suite.variants import Variant, variants_of
from ..targets.choose import find_target, load_project_targets
from ..targets.dotenv import environment
from ..targets.stand_ins import ReplayTarget
from .description import describe_run
from .file_hash import file_hash
from .grader_file import GraderFile, read_grader_file
from .judges import JudgeBook
from .options import Execution, PlanOptions
from .plan import PlannedSuite, suite_name, suite_prefix
from .planned_targets import PlannedTarget, resolve_planned
from .recorded_run import RecordedRun, find_recorded, read_recorded
from .regrade_plan import RegradePlan
from .run_folder import RunFolder
from .selection import Selection
from .session import Session, budget_of, expecting
from .unrecorded import unrecorded_results

if TYPE_CHECKING:
    from ..targets.format import Target

__all__ = ["RegradeOptions", "begin_grading", "plan_again", "plan_regrading"]


@dataclass(frozen=True, kw_only=True)
class RegradeOptions:
    """What to grade again. `run` is an id, a folder or a file of results; without `suites`, they are the run's.
    `graders` is a file whose graders stand in for those of all cases. `targets` bounds whose answers are graded."""

    run: str
    suites: tuple[str, ...] = ()
    graders: str | None = None
    targets: tuple[str, ...] = ()
    selection: Selection = field(default_factory=Selection)
    threshold: float | None = None


def begin_grading(options: RegradeOptions, execution: Execution, *, runs_dir: Path | None = None) -> Session:
    """Plan and lock a new run that grades another one again. Raises `InputError`, `UsageError` or
    `MissingVariablesError` if it cannot start. The other run is only read."""
    plan = plan_regrading(options, runs_dir)
    resolve_planned([*plan.targets, *plan.judges.targets])
    if execution.cache is None:
        execution = replace(execution, cache=plan.project.config.cache)
    budget = budget_of(plan, execution)
    folder = RunFolder.create(
        runs_dir or plan.project.runs_dir, lambda path: describe_run(plan, execution, path, seed=0)
    )
    return Session(plan, folder, execution, tally=expecting(plan), budget=budget)


def plan_regrading(options: RegradeOptions, runs_dir: Path | None = None) -> RegradePlan:
    """Load and check everything that is needed; nothing is asked."""
    recorded = find_recorded(options.run, runs_dir)
    written = options.suites or tuple(os.path.relpath(recorded.root / each) for each in recorded.suites)
    threshold = options.threshold
    if threshold is None:
        threshold = (recorded.description.get("options") or {}).get("threshold")
    plan_options = PlanOptions(
        suites=written,
        targets=_known_targets(options.targets, recorded),
        selection=options.selection,
        threshold=threshold,
    )
    graders = None if options.graders is None else read_grader_file(Path(options.graders))
    plan = _plan(plan_options, recorded, graders, named=bool(options.suites))
    suites = plan.names if options.suites else None
    return _lacking(plan, unrecorded_results(plan, suites=suites, targets=options.targets or None))


def plan_again(saved: Mapping[str, Any], options: PlanOptions, root: Path) -> RegradePlan:
    """The plan of a run that is resumed. Raises `RunError` if the results that it grades have changed."""
    try:
        file, digest, graders = root / saved["results"], saved["sha256"], saved["graders"]
        path = None if graders is None else root / graders
    except (KeyError, TypeError) as error:
        raise RunError("the description of the run is damaged", "grade the run again") from error
    if not file.is_file() or file_hash(file) != digest:
        raise RunError(f"the results in {file} have changed since they were graded", "grade the run again")
    plan = _plan(options, read_recorded(file), None if path is None else read_grader_file(path))
    return _lacking(plan, saved.get("unrecorded"))


def _lacking(plan: RegradePlan, unrecorded: Any) -> RegradePlan:
    """The plan, which remembers what has no record in the run that it grades."""
    if plan.regrades is not None and unrecorded is not None:
        plan.regrades["unrecorded"] = unrecorded
    return plan


def _plan(options: PlanOptions, recorded: RecordedRun, graders: GraderFile | None, named: bool = False) -> RegradePlan:
    loaded, warnings = _loaded(options.suites, lenient=graders is not None and not named)
    project = loaded[0][1].project if loaded else None
    if project is None:
        assert graders is not None
        project = graders.suite.project
    root = project.root
    planned = [_planned(path, suite, root, recorded) for path, suite in loaded]
    if graders is not None and not named:
        planned += _without_file({each.name for each in planned}, recorded, graders)
    plan = RegradePlan(
        options=options,
        project=project,
        suites=planned,
        targets=[_target(name, project) for name in map(_name, options.targets)],
        warnings=warnings,
        judges=JudgeBook(options.targets),
        regrades=_regrades(recorded, graders, root),
        more_inputs=() if graders is None else (("graders", graders.path),),
        recorded=recorded,
        graders=graders,
    )
    _require_suites(plan)
    plan.check()
    return plan


def _regrades(recorded: RecordedRun, graders: GraderFile | None, root: Path) -> dict[str, Any]:
    """What `run.json` says of the run that is graded again."""
    return {
        "run_id": recorded.run_id,
        "results": os.path.relpath(os.path.realpath(recorded.file), root),
        "sha256": file_hash(recorded.file),
        "graders": None if graders is None else os.path.relpath(os.path.realpath(graders.path), root),
    }


def _loaded(written: Sequence[str], *, lenient: bool) -> tuple[list[tuple[Path, Suite]], list[Diagnostic]]:
    """The suites. If `lenient`, those that are gone are passed over: the graders are not theirs."""
    there = [each for each in written if not lenient or os.path.isfile(each)]
    gone = [] if lenient else [each for each in written if not os.path.exists(each) and "*" not in each]
    if gone:
        hint = "name them with --suite, or grade all answers by one file: --graders FILE"
        raise UsageError(f"the run's suite {gone[0]} is not there", hint)
    suites: list[tuple[Path, Suite]] = []
    said: list[Diagnostic] = []
    for each in collect_suites(there):
        said += each.diagnostics
        if each.suite is not None:
            suites.append((Path(each.file), each.suite))
    if has_errors(said):
        raise SuiteError([each for each in said if each.severity == "error"])
    if not suites and not lenient:
        raise UsageError(f"there is no suite in {', '.join(written)}", "name a suite, or a folder that holds some")
    return suites, said


def _planned(path: Path, suite: Suite, root: Path, recorded: RecordedRun) -> PlannedSuite:
    """A suite with those of its variants that were asked; one that it does not have leaves cases as they are."""
    name = suite_name(path, root)
    known = {each.name: each for each in variants_of(suite.spec)}
    return PlannedSuite(name, path, suite, _variants(name, recorded, known), suite_prefix(suite, root))


def _without_file(known: Iterable[str], recorded: RecordedRun, graders: GraderFile) -> list[PlannedSuite]:
    """The suites that are gone, with the file of graders in their place."""
    gone = [name for name in recorded.suites if name not in set(known)]
    return [PlannedSuite(name, graders.path, graders.suite, _variants(name, recorded, {})) for name in gone]


def _variants(name: str, recorded: RecordedRun, known: Mapping[str, Variant]) -> tuple[Variant | None, ...]:
    asked = dict.fromkeys(key.variant for key in recorded.results if key.suite == name)
    return tuple(None if each is None else known.get(each) or Variant(each) for each in asked)


def _require_suites(plan: RegradePlan) -> None:
    if not set(plan.recorded.suites) & {each.name for each in plan.suites}:
        names = ", ".join(plan.recorded.suites[:3])
        message = f"none of the suites is of the run {plan.recorded.run_id}, whose suites are: {names}"
        raise UsageError(message, "name one of these with --suite")


def _known_targets(wanted: Sequence[str], recorded: RecordedRun) -> tuple[str, ...]:
    from ..suite.explain import did_you_mean

    for name in wanted:
        if name not in recorded.targets:
            hint = did_you_mean(name, recorded.targets, "there are")
            raise UsageError(f"--target: the run {recorded.run_id} has no answers of {name!r}", hint)
    return tuple(dict.fromkeys(wanted)) or tuple(recorded.targets)


def _target(name: str, project: Project) -> PlannedTarget:
    """A stand-in: the target itself is not needed, and may be gone. If it is there, its judge is the usual one."""
    itself = _itself(name, project)
    judge = None if itself is None else itself.judge_target
    try:
        spec = ReplayTarget(name=name, provider="replay", path=".", judge_target=judge)
    except ValidationError as error:
        raise RunError(f"the results name a target {name[:60]!r}, which cannot be one", "correct the lines") from error
    return PlannedTarget(name, spec, project, dict(environment(project.root)), answered_by=itself)


def _itself(name: str, project: Project) -> Target | None:
    try:
        return find_target(name, load_project_targets(project), file=str(project.targets_file))
    except (InputError, UsageError):
        return None  # whoever needs the targets says what is wrong with them


def _name(target: str | Target) -> str:
    return target if isinstance(target, str) else target.name
