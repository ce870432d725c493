"""A calibration that this process has locked: planned, carried out by the engine, and compared when all is there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ..engine.budget import Budget, require_prices
from ..engine.description import target_settings
from ..engine.journal import read_journal
from ..engine.options import Execution
from ..engine.planned_targets import resolve_planned
from ..engine.result_keys import Done, is_done, key_of
from ..engine.run_folder import RESULTS, RunFolder, find_run
from ..engine.runner import Runner
from ..engine.spending import count_record
from ..errors import RunError
from ..suite.project import find_project_root, load_project
from .analysis import samples_hash
from .answer_files import answer_decks
from .loading import load_decks
from .options import CalibrationOptions
from .plan import CalibrationPlan, make_calibration_plan

if TYPE_CHECKING:
    from ..engine.events import Observer
    from ..suite.project import Project
    from ..targets.format import Target

__all__ = ["CalibrationSession", "begin_calibration", "calibrations_dir", "go_on_calibrating", "plan_calibration"]

_VERSION = 1


@dataclass
class CalibrationSession:
    """A calibration under way. A context manager, which frees its folder. `done` are the answers of an earlier part."""

    options: CalibrationOptions
    plan: CalibrationPlan
    folder: RunFolder
    execution: Execution
    done: Done = field(default_factory=Done)
    budget: Budget | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.folder.close()

    def runner(self, observe: Observer) -> Runner:
        """What asks the judges."""
        return Runner(self.plan, self.folder, self.execution, observe=observe, done=self.done, budget=self.budget)

    def records(self) -> Iterator[dict[str, Any]]:
        """The answers so far."""
        path = self.folder.path / RESULTS
        return read_journal(path) if path.exists() else iter(())


def calibrations_dir(project: Project) -> Path:
    """Where calibrations are kept."""
    return project.root / ".turnwise" / "calibrations"


def plan_calibration(options: CalibrationOptions, models: Sequence[Target] = ()) -> CalibrationPlan:
    """Read decks and samples and find the models. `models` are targets that no file has. Raises `DeckError` or
    `UsageError`."""
    project, decks = load_decks(
        options.decks, options.samples, strict=options.strict, allow_label_leak=options.allow_label_leak
    )
    if options.estimate is not None:
        decks = [*decks, *answer_decks(decks, options.estimate, drawn=options.drawn, strict=options.strict)]
    objects = {each.name: each for each in models}
    wanted = [objects.get(name, name) for name in options.models]
    return make_calibration_plan(project, decks, wanted, options.judges)


def begin_calibration(
    options: CalibrationOptions, execution: Execution, *, models: Sequence[Target] = (), folder: Path | None = None
) -> CalibrationSession:
    """Plan and lock a new calibration. Raises `InputError`, `UsageError` or `MissingVariablesError`."""
    plan = plan_calibration(options, models)
    resolve_planned(plan.targets)
    if execution.cache is None:
        execution = replace(execution, cache=plan.project.config.cache)
    budget = _budget(plan, execution)
    where = folder or calibrations_dir(plan.project)
    made = RunFolder.create(where, lambda path: _description(plan, options, execution, path))
    return CalibrationSession(options, plan, made, execution, budget=budget)


def go_on_calibrating(
    written: str, given: Mapping[str, Any], *, gates: Sequence[str] = (), models: Sequence[Target] = ()
) -> CalibrationSession:
    """Lock a calibration that was begun before, with what is left of it; `gates` are bars beside its own. Raises
    `RunError` if something has changed."""
    path = find_run(written, calibrations_dir(load_project(find_project_root(Path.cwd()))))
    folder = RunFolder.open(path)
    try:
        session = _opened(folder, given, models)
        session.options = replace(session.options, gates=tuple(dict.fromkeys((*session.options.gates, *gates))))
        return session
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        folder.close()
        message = f"the calibration {folder.id} is of another version of Turnwise, or damaged"
        raise RunError(message, "start a new one") from error
    except BaseException:
        folder.close()
        raise


def _opened(folder: RunFolder, given: Mapping[str, Any], models: Sequence[Target]) -> CalibrationSession:
    saved = folder.description()
    if saved.get("calibration") != _VERSION:
        raise RunError(f"{folder.id} is no calibration of this version of Turnwise", "start a new one")
    root = Path(os.path.normpath(folder.path / saved["root"]))
    options = CalibrationOptions.of(saved["options"], root)
    known = {each.name for each in fields(Execution)}
    before = Execution(**{name: value for name, value in saved["execution"].items() if name in known})
    execution = replace(before, **given)
    plan = plan_calibration(options, models)
    resolve_planned(plan.targets)
    _refuse_changes(folder.id, saved["asked"], _asked(plan))
    session = CalibrationSession(options, plan, folder, execution, budget=_budget(plan, execution))
    by_name = {target.name: target for target in plan.targets}
    for record in session.records():
        if is_done(record):
            key = key_of(record)
            session.done.add(key)
            if session.budget is not None and key.target in by_name:
                count_record(session.budget, record, by_name[key.target].resolved[None])
    if execution != before:
        folder.describe({**saved, "execution": asdict(execution)})
    return session


def _description(
    plan: CalibrationPlan, options: CalibrationOptions, execution: Execution, folder: Path
) -> dict[str, Any]:
    from datetime import UTC, datetime

    from ..version import __version__

    return {
        "calibration": _VERSION,
        "run_id": folder.name,
        "created_at": datetime.now(UTC).isoformat(),
        "turnwise": __version__,
        "root": os.path.relpath(plan.project.root, folder),
        "results": plan.results,
        "options": options.saved(plan.project.root),
        "execution": asdict(execution),
        "asked": _asked(plan),
    }


def _asked(plan: CalibrationPlan) -> dict[str, Any]:
    """What makes it this calibration: all decks, samples and models, by their hashes and settings."""
    return {
        "decks": {deck.name: deck.identity.hash for deck in plan.decks},
        "samples": {deck.name: samples_hash(deck.samples) for deck in plan.decks},
        "models": {target.name: target_settings(target) for target in plan.targets},
    }


def _refuse_changes(run_id: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    words = {"decks": "the deck", "samples": "the samples of", "models": "the target"}
    changes = [
        f"{words[kind]} {name} {'has changed' if kind != 'samples' else 'have changed'}"
        for kind in words
        for name in sorted({*before[kind], *now[kind]})
        if before[kind].get(name) != now[kind].get(name)
    ]
    if changes:
        message = f"the calibration {run_id} cannot be resumed: something has changed"
        raise RunError(message, "undo the change, or start a new calibration", changes)


def _budget(plan: CalibrationPlan, execution: Execution) -> Budget | None:
    if execution.budget_usd is None and execution.max_tokens_total is None:
        return None
    if execution.budget_usd is not None:
        require_prices([resolved.target for each in plan.targets for resolved in each.resolved.values()])
    return Budget(execution.budget_usd, execution.max_tokens_total)
