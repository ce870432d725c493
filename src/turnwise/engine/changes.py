"""What has changed since a run was started: a run that is resumed must mean the same as before."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..conversation.files import shown_file
from ..errors import RunError
from ..targets.same_answers import CHANGES_NO_ANSWER
from .description import configs_of, target_settings
from .file_hash import file_hash
from .planned_targets import resolve_planned

if TYPE_CHECKING:
    from .plan import Plan
    from .planned_targets import PlannedTarget

__all__ = ["refuse_changed_inputs", "refuse_changed_plan"]

_DIFF_LINES = 40
_LONGEST_LINE = 160
_CONFIG = ("default_system_prompt", "guideline_patterns", "allow_paths")
_HINT = "undo the change, or start a new run"


def refuse_changed_inputs(description: Mapping[str, Any], folder: Path, root: Path) -> None:
    """Raise `RunError`, with a diff, if a suite, a dataset or a system prompt is not what it was."""
    changes = [line for each in description["inputs"] for line in _changed_input(each, folder, root)]
    if changes:
        raise _refusal(folder.name, changes)


def refuse_changed_plan(description: Mapping[str, Any], plan: Plan) -> None:
    """Raise `RunError` if a file that messages refer to, the config, a target, a deck or a judge is not what it was.

    Fills in the variables of judges: raises `MissingVariablesError` for those that are not set."""
    resolve_planned(plan.judges.targets)
    changes = [*_changed_files(description["files"], plan.files), *_changed_configs(description["configs"], plan)]
    saved: dict[str, list[Mapping[str, Any]]] = {}
    for each in description["targets"]:
        saved.setdefault(each["name"], []).append(each["settings"])
    for target in plan.targets:
        # Two projects may each have a target of that name; both are met in the same order as before.
        same_name = saved.get(target.name)
        before, now = same_name.pop(0) if same_name else {}, target_settings(target)
        for key in sorted({*before, *now}):
            name = f"target {target.name}" + (f" ({key})" if key else "")
            changes += _changed_values(name, before.get(key, {}), now.get(key, {}), CHANGES_NO_ANSWER)
    changes += dict.fromkeys(_changed_judges(description.get("judges") or (), plan))
    changes += _changed_embedders(description.get("embedders") or (), plan)
    changes += _changed_users(description.get("users") or (), plan)
    if not changes and description["results"] != plan.results:
        changes = [f"the plan held {description['results']:,} results, and would hold {plan.results:,}"]
    if changes:
        raise _refusal(str(description["run_id"]), changes)


def _refusal(run_id: str, changes: list[str]) -> RunError:
    return RunError(f"the run {run_id} cannot be resumed: something has changed", _HINT, changes)


def _changed_input(saved: Mapping[str, Any], folder: Path, root: Path) -> Iterator[str]:
    path = root / saved["file"]
    try:
        if file_hash(path) == saved["sha256"]:
            return
    except OSError as error:
        yield f"{shown_file(path)}: {error.strerror or error}"
        return
    yield f"{shown_file(path)} has changed"
    if saved["copy"] is not None and (folder / saved["copy"]).is_file():
        before, now = (_lines(each) for each in (folder / saved["copy"], path))
        diff = difflib.unified_diff(before, now, "as it was", "as it is", lineterm="", n=1)
        yield from ("  " + line[:_LONGEST_LINE] for line in islice(diff, _DIFF_LINES))
        if next(diff, None) is not None:
            yield "  …"


def _lines(path: Path) -> list[str]:
    return path.read_bytes().decode("utf-8", "replace").splitlines()


def _changed_files(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    # A file that could not be read before is no change: the results that needed it are errors, and are done again.
    for path in sorted(before):
        if before[path] != now.get(path):
            yield f"{path}: {'has changed' if path in now else 'cannot be read'}"


def _changed_configs(saved: Mapping[str, Any], plan: Plan) -> Iterator[str]:
    for root, now in configs_of(plan).items():
        before = saved.get(root, {})
        name = "config" if root == "." else f"config of {root}"
        yield from _changed_values(name, {key: before.get(key) for key in _CONFIG}, {key: now[key] for key in _CONFIG})


def _changed_judges(saved: Sequence[Mapping[str, Any]], plan: Plan) -> Iterator[str]:
    known = {(each.get("deck"), each.get("target")): each for each in saved}
    yield from _changed_askers(saved, plan)
    for judge in plan.judges.judges:
        before = known.get((judge.name, judge.target.name))
        if before is None:
            yield f"the deck {judge.name} was not judged by {judge.target.name}"
            continue
        if before.get("deck_hash") != judge.deck_hash:
            yield f"the deck {judge.name} has changed"
        yield from _changed_judge_target(before, judge.target)


def _changed_askers(saved: Sequence[Mapping[str, Any]], plan: Plan) -> Iterator[str]:
    known = {tuple(map(each.get, ("kind", "prompt", "target", "model"))): each for each in saved if "kind" in each}
    for asker in plan.judges.by_prompt.askers:
        before = known.get(asker.identity)
        if before is None:
            yield f"`{asker.kind}` was not judged by {asker.target.name}" + (
                f" with {asker.prompt}" if asker.prompt else ""
            )
            continue
        if before.get("prompt_hash") != asker.prompt_hash:
            yield f"the prompt {asker.prompt} has changed"
        yield from _changed_judge_target(before, asker.target)


def _changed_judge_target(before: Mapping[str, Any], target: PlannedTarget) -> Iterator[str]:
    now, settings = target_settings(target), before.get("settings") or {}
    for key in sorted({*settings, *now}):
        name = f"judge {target.name}" + (f" ({key})" if key else "")
        yield from _changed_values(name, settings.get(key, {}), now.get(key, {}), CHANGES_NO_ANSWER)


def _changed_embedders(saved: Sequence[Mapping[str, Any]], plan: Plan) -> Iterator[str]:
    known = {each.get("name"): each.get("settings") or {} for each in saved}
    for target in plan.judges.embedders.values():
        before, now = known.get(target.name, {}), target_settings(target)
        for key in sorted({*before, *now}):
            name = f"target {target.name}" + (f" ({key})" if key else "")
            yield from _changed_values(name, before.get(key, {}), now.get(key, {}), CHANGES_NO_ANSWER)


def _changed_users(saved: Sequence[Mapping[str, Any]], plan: Plan) -> Iterator[str]:
    known = {each.get("name"): each.get("settings") or {} for each in saved}
    for user in plan.judges.users:
        now, before = target_settings(user), known.get(user.name, {})
        for key in sorted({*before, *now}):
            name = f"simulated user {user.name}" + (f" ({key})" if key else "")
            yield from _changed_values(name, before.get(key, {}), now.get(key, {}), CHANGES_NO_ANSWER)


def _changed_values(
    name: str, before: Mapping[str, Any], now: Mapping[str, Any], ignored: frozenset[str] = frozenset()
) -> Iterator[str]:
    for key in sorted({*before, *now} - ignored):
        if before.get(key) != now.get(key):
            yield f"{name}: `{key}` was {_shown(before.get(key))}, and is {_shown(now.get(key))}"


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:_LONGEST_LINE] if value is not None else "not set"
