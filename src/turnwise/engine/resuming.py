"""Going on with a run that was begun before, and doing again what failed in one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import RunError, UsageError
from ..suite.project import find_project_root, load_project
from .changes import refuse_changed_inputs, refuse_changed_plan
from .description import DESCRIPTION_VERSION
from .journal import read_journal
from .options import Execution, PlanOptions
from .plan import Plan, make_plan
from .planned_targets import check_planned, resolve_planned
from .result_keys import Done, ResultKey, is_done, key_of
from .run_folder import RESULTS, RunFolder, find_run
from .session import Session, budget_of, expecting
from .spending import count_record

if TYPE_CHECKING:
    from ..targets.format import Target
    from ..targets.resolve import ResolvedTarget

__all__ = ["Failures", "failed_in", "find_project_run", "go_on"]

_NEEDED = {"inputs", "files", "targets", "options", "execution", "suites", "results", "root", "configs", "run_id"}


def go_on(
    written: str,
    given: Mapping[str, Any],
    *,
    suites: tuple[str, ...] = (),
    targets: Sequence[str | Target] = (),
    runs_dir: Path | None = None,
) -> Session:
    """Lock a run that was begun before, with what is left of it. `given` are settings of `Execution` to change; they
    stay changed.

    `suites` and `targets` may be repeated, and must then be those of the run. Raises `RunError`, with a diff, if
    something has changed since.
    """
    folder = RunFolder.open(find_project_run(written, runs_dir))
    try:
        return _opened(folder, given, suites, targets)
    except BaseException:
        folder.close()
        raise


def find_project_run(written: str, runs_dir: Path | None = None) -> Path:
    """The folder of a run, by its id in the project around the current folder, or by its path."""
    return find_run(written, runs_dir or load_project(find_project_root(Path.cwd())).runs_dir)


@dataclass(frozen=True)
class Failures:
    """What did not pass in a run, and how it was asked."""

    results: frozenset[tuple[str, str, str, str | None]]
    options: PlanOptions

    @property
    def cases(self) -> frozenset[tuple[str, str]]:
        """The suites and ids of the cases."""
        return frozenset((suite, case_id) for suite, case_id, _, _ in self.results)


def failed_in(written: str, runs_dir: Path | None = None) -> Failures:
    """What did not pass in a run: failed, ungraded, or an error in any trial. Raises `UsageError` if all has passed."""
    folder = RunFolder(find_project_run(written, runs_dir))
    description = _checked(folder)
    latest = {key_of(record): str(record.get("status")) for record in _journal(folder)}
    results = frozenset(key[:4] for key, status in latest.items() if status != "passed")
    if not results:
        left = description["results"] - len(latest)
        hint = f"{left:,} results are missing: --resume {folder.id} does them" if left else "there is nothing to redo"
        raise UsageError(f"no result of the run {folder.id} has failed", hint)
    return Failures(results, _saved_options(folder, description)[0])


def _opened(
    folder: RunFolder, given: Mapping[str, Any], suites: tuple[str, ...], targets: Sequence[str | Target]
) -> Session:
    description = _checked(folder)
    refuse_changed_inputs(description, folder.path, _root(description, folder.path))
    options, saved = _saved_options(folder, description)
    _require_same_suites(options, suites)
    plan = _planned(description, _with_objects(options, targets), _root(description, folder.path))
    _require_same_targets(plan, targets)
    resolve_planned(plan.targets)
    refuse_changed_plan(description, plan)
    check_planned(plan.targets)
    execution = replace(saved, **given)
    if execution != saved:
        folder.describe({**description, "execution": asdict(execution)})
    planned = _keys(plan)
    session = Session(plan, folder, execution, tally=expecting(plan), budget=budget_of(plan, execution))
    session.journal = lambda: (record for record, key in _of_plan(folder, planned) if key is not None)
    _count_done(session, _of_plan(folder, planned))
    return session


def _planned(description: Mapping[str, Any], options: PlanOptions, root: Path) -> Plan:
    """The plan of the run, be it one that asks or one that grades another run again."""
    if description.get("regrades") is None:
        return make_plan(options)
    from .regrading import plan_again

    return plan_again(description["regrades"], options, root)


def _count_done(session: Session, records: Iterator[tuple[dict[str, Any], ResultKey | None]]) -> None:
    """What is done already counts, in the summary and in the budget; what is not of the plan is refused."""
    resolved = {target.name: target.resolved for target in session.plan.targets}
    for number, (record, key) in enumerate(records, start=1):
        if key is None:
            message = f"the case {record.get('case_id')!r} is not of the plan of the run"
            raise _at(session.folder, number, RunError(message, "remove the line, if it was added by hand"))
        if is_done(record):
            try:
                session.tally.add(record)
            except RunError as error:
                raise _at(session.folder, number, error) from error
            session.done.add(key)
            if session.budget is not None and session.plan.regrades is None:
                count_record(session.budget, record, _asked(resolved[key.target], key))


def _at(folder: RunFolder, number: int, error: RunError) -> RunError:
    """The same, with the place of the result of that number."""
    return RunError(f"{folder.id}/{RESULTS}, result {number}: {error}", error.hint)


def _asked(resolved: Mapping[tuple[str, str] | None, ResolvedTarget], key: ResultKey) -> ResolvedTarget:
    return resolved.get((key.suite, key.variant)) or resolved[None] if key.variant is not None else resolved[None]


def _keys(plan: Plan) -> Done:
    keys = Done()
    for target in plan.targets:
        for work in plan.work(target):
            keys.add(work.key)
    return keys


def _of_plan(folder: RunFolder, planned: Done) -> Iterator[tuple[dict[str, Any], ResultKey | None]]:
    """The results so far, each with its key, or without one if it is not of the plan."""
    for number, record in enumerate(_journal(folder), start=1):
        try:
            key = key_of(record)
        except RunError as error:
            raise _at(folder, number, error) from error
        yield record, key if key in planned else None


def _journal(folder: RunFolder) -> Iterator[dict[str, Any]]:
    """The results so far; a run that was stopped before its first one has no file."""
    path = folder.path / RESULTS
    return read_journal(path) if path.exists() else iter(())


def _checked(folder: RunFolder) -> dict[str, Any]:
    description = folder.description()
    if description.get("schema_version") != DESCRIPTION_VERSION or not description.keys() >= _NEEDED:
        raise _damaged(folder)
    return description


def _saved_options(folder: RunFolder, description: Mapping[str, Any]) -> tuple[PlanOptions, Execution]:
    known = {each.name for each in fields(Execution)}
    try:
        root = _root(description, folder.path)
        suites = tuple(os.path.relpath(root / each["file"]) for each in description["suites"])
        prompts = [each["file"] for each in description["inputs"] if each["kind"] == "system_prompt"]
        saved = PlanOptions.of(suites, description["options"])
        options = replace(saved, system_prompts=tuple(os.path.relpath(root / each) for each in prompts))
        return options, Execution(**{key: each for key, each in description["execution"].items() if key in known})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _damaged(folder) from error


def _damaged(folder: RunFolder) -> RunError:
    return RunError(f"the run {folder.id} is of another version of Turnwise, or damaged", "start a new run")


def _root(description: Mapping[str, Any], folder: Path) -> Path:
    return Path(os.path.normpath(folder / description["root"]))


def _with_objects(options: PlanOptions, targets: Sequence[str | Target]) -> PlanOptions:
    """The targets that were given as objects, in the places of their names: no file has them."""
    objects = {each.name: each for each in targets if not isinstance(each, str)}
    found = [objects.get(each, each) if isinstance(each, str) else each for each in options.targets]
    return replace(options, targets=tuple(found))


def _require_same_targets(plan: Plan, targets: Sequence[str | Target]) -> None:
    """What is repeated must be what the run has."""
    named = {each if isinstance(each, str) else each.name for each in targets}
    asked = {target.name for target in plan.targets}
    if named and named != asked:
        ran, repeated = (", ".join(sorted(each)) for each in (asked, named))
        raise UsageError(f"--target {repeated} is not what the run asks, which is {ran}", "leave it out")


def _require_same_suites(options: PlanOptions, suites: tuple[str, ...]) -> None:
    if not suites:
        return
    from ..suite.collect import collect_suites

    named = {os.path.realpath(each.file) for each in collect_suites(suites) if each.suite or each.diagnostics}
    saved = {os.path.realpath(each) for each in options.suites}
    if named != saved:
        differ = ", ".join(sorted(os.path.relpath(each) for each in named ^ saved))
        raise UsageError(f"the suites are not those of the run; they differ in {differ}", "leave them out")
