"""Beginning a run, and going on with one: everything is found, checked and locked before anything is asked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ..errors import RunError, UsageError
from ..suite.project import find_project_root, load_project
from .budget import Budget, require_prices
from .description import DESCRIPTION_VERSION, describe_run
from .events import Ended, Event, ResultDone
from .journal import read_journal
from .options import Execution, PlanOptions
from .plan import Plan, make_plan
from .planned_targets import resolve_planned
from .resume import Done, is_done, key_of
from .run_folder import RESULTS, RunFolder, find_run
from .runner import Runner, Taker, count_record
from .summary import Tally
from .verdict import Verdict, judge

if TYPE_CHECKING:
    from .events import Observer
    from .summary_format import Summary

__all__ = ["Session", "begin", "failed_in", "find_project_run", "go_on"]


@dataclass
class Session:
    """A run that this process has locked. A context manager, which frees it."""

    plan: Plan
    folder: RunFolder
    execution: Execution
    done: Done = field(default_factory=Done)
    tally: Tally = field(default_factory=Tally)
    budget: Budget | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.folder.close()

    def runner(self, observe: Observer, take: Taker | None = None) -> Runner:
        """What carries the run out; its results are counted here before they are told."""

        def counted(event: Event) -> None:
            if isinstance(event, ResultDone):
                self.tally.add(event.record)
            observe(event)

        return Runner(
            self.plan,
            self.folder,
            self.execution,
            observe=counted,
            done=self.done,
            budget=self.budget,
            take=take,
        )

    def verdict(self, summary: Summary, ended: Ended) -> Verdict:
        """Whether the run did well enough."""
        options = self.plan.options
        bars = {each.name: each.suite.spec.min_pass_rate for each in self.plan.suites}
        return judge(
            summary,
            threshold=options.threshold,
            min_pass_rates={name: bar for name, bar in bars.items() if bar is not None},
            left=ended.left,
            stopped=ended.stopped,
            graded=options.graded,
        )


def begin(options: PlanOptions, execution: Execution, *, runs_dir: Path | None = None) -> Session:
    """Plan and lock a new run. Raises `InputError`, `UsageError` or `MissingVariablesError` if it cannot start."""
    plan = make_plan(options)
    resolve_planned(plan.targets)
    if execution.cache is None:
        execution = replace(execution, cache=plan.project.config.cache)
    budget = _budget(plan, execution)
    folder = RunFolder.create(
        runs_dir or plan.project.runs_dir, lambda path: describe_run(plan, execution, path, seed=options.selection.seed)
    )
    return Session(plan, folder, execution, budget=budget)


def go_on(
    written: str,
    given: Mapping[str, Any],
    *,
    suites: tuple[str, ...] = (),
    targets: tuple[str, ...] = (),
    runs_dir: Path | None = None,
) -> Session:
    """Lock a run that was begun before, with what is left of it. `given` are settings of `Execution` to change.

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


def failed_in(written: str, runs_dir: Path | None = None) -> tuple[frozenset[tuple[str, str]], tuple[str, ...], Any]:
    """What did not pass in a run, as pairs of suite and case; its suites, as paths; and its saved options."""
    path = find_project_run(written, runs_dir)
    description = _checked(RunFolder(path))
    latest: dict[tuple[Any, ...], str] = {}
    for record in _journal(RunFolder(path)):
        latest[key_of(record)] = str(record.get("status"))
    only = frozenset((key[0], key[1]) for key, status in latest.items() if status != "passed")
    if not only:
        left = description["results"] - len(latest)
        hint = f"{left:,} results are missing: --resume {path.name} does them" if left else "there is nothing to redo"
        raise UsageError(f"no result of the run {path.name} has failed", hint)
    return only, _suite_paths(description, path), description["options"]


def _opened(folder: RunFolder, given: Mapping[str, Any], suites: tuple[str, ...], targets: tuple[str, ...]) -> Session:
    from .changes import refuse_changed_inputs, refuse_changed_plan

    description = _checked(folder)
    root = _root(description, folder.path)
    refuse_changed_inputs(description, folder.path, root)
    options, saved = _saved_options(folder, description)
    _require_same(options, suites, targets)
    plan = make_plan(options)
    resolve_planned(plan.targets)
    refuse_changed_plan(description, plan)
    execution = replace(saved, **given)
    session = Session(plan, folder, execution, budget=_budget(plan, execution))
    targets_by_name = {each.name: each.resolved[None] for each in plan.targets}
    for record in _journal(folder):
        if is_done(record):
            key = key_of(record)
            session.done.add(key)
            session.tally.add(record)
            if session.budget is not None and key.target in targets_by_name:
                count_record(session.budget, record, targets_by_name[key.target])
    return session


def _journal(folder: RunFolder) -> Any:
    """The results so far; a run that was stopped before its first one has no file."""
    path = folder.path / RESULTS
    return read_journal(path) if path.exists() else iter(())


def _checked(folder: RunFolder) -> dict[str, Any]:
    description = folder.description()
    version = description.get("schema_version")
    needed = {"inputs", "files", "targets", "options", "execution", "suites", "results", "root", "config", "run_id"}
    if version != DESCRIPTION_VERSION or not needed <= description.keys():
        raise _damaged(folder)
    return description


def _saved_options(folder: RunFolder, description: Mapping[str, Any]) -> tuple[PlanOptions, Execution]:
    known = {each.name for each in fields(Execution)}
    try:
        options = PlanOptions.of(_suite_paths(description, folder.path), description["options"])
        return options, Execution(**{key: each for key, each in description["execution"].items() if key in known})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _damaged(folder) from error


def _damaged(folder: RunFolder) -> RunError:
    return RunError(f"the run {folder.id} is of another version of Turnwise, or damaged", "start a new run")


def _root(description: Mapping[str, Any], folder: Path) -> Path:
    return Path(os.path.normpath(folder / description["root"]))


def _suite_paths(description: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    root = _root(description, folder)
    return tuple(os.path.relpath(root / each["file"]) for each in description["suites"])


def _require_same(options: PlanOptions, suites: tuple[str, ...], targets: tuple[str, ...]) -> None:
    """What is repeated must be what the run has."""
    if targets and list(targets) != options.saved()["targets"]:
        ran = ", ".join(options.saved()["targets"]) or "those that its suites name"
        raise UsageError(f"--target {', '.join(targets)} is not that of the run, which asks {ran}", "leave it out")
    if suites:
        from ..suite.collect import collect_suites

        named = {os.path.realpath(each.file) for each in collect_suites(suites) if each.suite or each.diagnostics}
        saved = {os.path.realpath(each) for each in options.suites}
        if named != saved:
            differ = ", ".join(sorted(os.path.relpath(each) for each in named ^ saved))
            raise UsageError(f"the suites are not those of the run; they differ in {differ}", "leave them out")


def _budget(plan: Plan, execution: Execution) -> Budget | None:
    if execution.budget_usd is None and execution.max_tokens_total is None:
        return None
    if execution.budget_usd is not None:
        require_prices([resolved.target for each in plan.targets for resolved in each.resolved.values()])
    return Budget(execution.budget_usd, execution.max_tokens_total)
