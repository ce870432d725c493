"""`run.json`: everything that a run was started with, so that it can be understood later, and resumed exactly."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import VERSION

from ..version import __version__
from .file_hash import file_hash
from .git_commit import git_commit

if TYPE_CHECKING:
    from .askers import PlannedAsker
    from .options import Execution
    from .plan import Plan, PlannedSuite
    from .planned_judges import PlannedJudge
    from .planned_targets import PlannedTarget

__all__ = ["COPIES", "DESCRIPTION_VERSION", "configs_of", "describe_run", "inputs_of", "target_settings"]

DESCRIPTION_VERSION = 1
COPIES = "suites"
"""The folder, in that of the run, with copies of the suites: to show what has changed since."""

_LARGEST_COPY = 1024 * 1024


def describe_run(plan: Plan, execution: Execution, folder: Path, *, seed: int) -> dict[str, Any]:
    """What goes into `run.json`; the copies of suites go beside it. Secrets are in none of it."""
    described = _described(plan, execution, folder, seed)
    for planned in plan.suites:
        planned.suite.refuse_changes()  # what is described must be what was read
    return described


def _described(plan: Plan, execution: Execution, folder: Path, seed: int) -> dict[str, Any]:
    root = plan.project.root
    return {
        "schema_version": DESCRIPTION_VERSION,
        "run_id": folder.name,
        "created_at": datetime.now(UTC).isoformat(),
        "turnwise": __version__,
        "python": ".".join(map(str, sys.version_info[:3])),
        "platform": sys.platform,
        "packages": {"pydantic": VERSION},
        "git_commit": git_commit(root),
        "root": os.path.relpath(root, folder),
        "seed": seed,
        "cases": plan.cases,
        "results": plan.results,
        "groups": [[*group, results] for group, results in plan.groups.items()],
        "options": plan.options.saved(),
        "execution": asdict(execution),
        "configs": configs_of(plan),
        "suites": [_suite(planned) for planned in plan.suites],
        "inputs": [_input(kind, path, root, folder, number) for number, (kind, path) in enumerate(inputs_of(plan))],
        "files": plan.files,
        "targets": [_target(target) for target in plan.targets],
        "judges": [
            *(_judge(judge, root) for judge in plan.judges.judges),
            *(_asker(asker) for asker in plan.judges.by_prompt.askers),
        ],
        "embedders": [_target(target) for target in plan.judges.embedders.values()],
        **({"users": [_target(user) for user in plan.judges.users]} if plan.judges.users else {}),
        **({} if plan.regrades is None else {"regrades": plan.regrades}),
    }


def inputs_of(plan: Plan) -> Iterator[tuple[str, Path]]:
    """The files that say what the run does, each with its kind: suites, their datasets, system prompts."""
    for planned in plan.suites:
        yield "suite", planned.path
        if planned.suite.dataset is not None and planned.suite.dataset.resolve() != planned.path.resolve():
            yield "dataset", planned.suite.dataset
    for written in plan.options.system_prompts:
        yield "system_prompt", Path(written)
    yield from plan.more_inputs


def configs_of(plan: Plan) -> dict[str, Any]:
    """The settings of every project that a suite of the plan belongs to, by its path from the run's root."""
    projects = {planned.suite.project.root: planned.suite.project for planned in plan.suites}
    return {
        Path(os.path.relpath(root, plan.project.root)).as_posix(): project.config.model_dump(mode="json", by_alias=True)
        for root, project in projects.items()
    }


def target_settings(target: PlannedTarget) -> dict[str, dict[str, Any]]:
    """The settings of a target without secrets, also those that variants give it, by `suite: variant`."""
    return {
        "" if key is None else ": ".join(key): resolved.shown.model_dump(mode="json", exclude_defaults=True)
        for key, resolved in target.resolved.items()
    }


def _suite(planned: PlannedSuite) -> dict[str, Any]:
    spec = planned.suite.spec
    return {
        "file": planned.name,
        "name": planned.suite.name,
        "cases": len(planned.suite.cases),
        "threshold": spec.threshold,
        "min_pass_rate": spec.min_pass_rate,
        "variants": [None if each is None else each.name for each in planned.variants],
    }


def _input(kind: str, path: Path, root: Path, folder: Path, number: int) -> dict[str, Any]:
    size = path.stat().st_size
    copy = None
    if size <= _LARGEST_COPY:
        copy = f"{COPIES}/{number + 1:03}-{path.name}"
        (folder / COPIES).mkdir(exist_ok=True)
        (folder / copy).write_bytes(path.read_bytes())
    name = Path(os.path.relpath(os.path.realpath(path), root)).as_posix()
    return {"kind": kind, "file": name, "sha256": file_hash(path), "bytes": size, "copy": copy}


def _judge(judge: PlannedJudge, root: Path) -> dict[str, Any]:
    """A judge: the deck with its files, whom it is asked of, and how far it could be trusted when the run began."""
    target, deck, trust = judge.target, judge.found.deck, judge.trust
    files = {
        Path(os.path.relpath(os.path.realpath(path), root)).as_posix(): path for path in (deck.path, *deck.included)
    }
    return {
        "deck": judge.name,
        "deck_hash": judge.deck_hash,
        "files": {name: file_hash(path) for name, path in files.items()},
        "scale": judge.found.scale.as_record(),
        "target": target.name,
        "provider": target.spec.provider,
        "asked_with": judge.asked_with,
        "settings": target_settings(target),
        "variables": dict(target.resolved[None].variables),
        "state": trust.state,
        "calibration": judge.calibration,
        "calibration_id": None if trust.artefact is None else trust.artefact.calibration,
    }


def _asker(asker: PlannedAsker) -> dict[str, Any]:
    """A judge without a deck: which graders ask it, and by which prompt."""
    target = asker.target
    return {
        "kind": asker.kind,
        "prompt": asker.prompt,
        "prompt_hash": asker.prompt_hash,
        "target": target.name,
        "model": asker.model,
        "provider": target.spec.provider,
        "settings": target_settings(target),
        "variables": dict(target.resolved[None].variables),
    }


def _target(target: PlannedTarget) -> dict[str, Any]:
    variables: Mapping[str, str] = target.resolved[None].variables
    return {
        "name": target.name,
        "provider": target.spec.provider,
        "settings": target_settings(target),
        "variables": dict(variables),
    }
