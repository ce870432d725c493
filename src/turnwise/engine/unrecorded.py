"""Planned results of a recorded run that have no record: who grades the others again has not graded the whole run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..errors import RunError, UsageError
from .bars import Bars
from .options import PlanOptions
from .result_keys import ResultKey

if TYPE_CHECKING:
    from ..suite.case import Case
    from .plan import PlannedSuite
    from .recorded_run import RecordedRun
    from .regrade_plan import RegradePlan

__all__ = ["unrecorded_results"]

_Group = tuple[str, str | None, str]


def unrecorded_results(
    plan: RegradePlan, *, suites: Collection[str] | None, targets: Collection[str] | None
) -> dict[str, Any] | None:
    """How many of the `planned` results have no record, and how to `resume` the run; None if none is known to be
    missing. Only these `suites` and `targets` count, and the cases that are selected; all if they are None."""
    recorded = plan.recorded
    planned = Counter(
        {
            group: results
            for group, results in _groups(recorded.description).items()
            if (targets is None or group[0] in targets) and (suites is None or group[2] in suites)
        }
    )
    have = Counter((key.target, key.variant, key.suite) for key in recorded.results)
    there, lacking = (planned & have).total(), planned - have
    if lacking and not plan.options.selection.is_everything:
        there, lacking = _of_selected(plan, lacking, planned)
    return _told(recorded, there, lacking.total())


def _told(recorded: RecordedRun, there: int, missing: int) -> dict[str, Any] | None:
    regrades = recorded.description.get("regrades")
    if not missing:
        # What a grading lacks from its start, a grading of its results lacks as well.
        return regrades.get("unrecorded") if isinstance(regrades, Mapping) else None
    command = "run" if regrades is None else "grade"
    return {
        "results": missing,
        "planned": there + missing,
        "resume": f"turnwise {command} --resume {recorded.run_id}",
    }


def _groups(description: Mapping[str, Any]) -> Counter[_Group]:
    groups: Counter[_Group] = Counter()
    with suppress(RunError):  # a damaged description says nothing of a plan
        for target, variant, suite, results in Bars.of(description).groups:
            groups[target, variant, suite] += results
    return groups


def _of_selected(
    plan: RegradePlan, lacking: Counter[_Group], groups: Collection[_Group]
) -> tuple[int, Counter[_Group]]:
    """The results of selected cases that are there, and those that are not. Cases are those of now: no group can lack
    more than it does by the plan of then."""
    there, missing = 0, Counter[_Group]()
    for key in _planned_keys(plan, groups):
        if key in plan.recorded.results:
            there += 1
        else:
            missing[key.target, key.variant, key.suite] += 1
    return there, missing & lacking


def _planned_keys(plan: RegradePlan, groups: Collection[_Group]) -> Iterator[ResultKey]:
    source = _options(plan.recorded)
    taken = None if source is None else {(suite, case.id) for suite, case in source.selection.of(plan._all_cases)}
    for planned, case in plan.selected():
        if taken is not None and (planned.name, case.id) not in taken:
            continue
        asked = _asked(source, planned, case)
        for target, variant, suite in groups:
            if suite != planned.name or (asked and target not in asked):
                continue
            if source is None or source.only is None or (suite, case.id, target, variant) in source.only:
                for trial in range(1, ((source and source.trials) or case.trials or 1) + 1):
                    yield ResultKey(suite, case.id, target, variant, trial)


def _options(recorded: RecordedRun) -> PlanOptions | None:
    """What the run was started with; None if nobody knows."""
    try:
        return PlanOptions.of((), recorded.description["options"])
    except (KeyError, TypeError, ValueError, UsageError):
        return None


def _asked(source: PlanOptions | None, planned: PlannedSuite, case: Case) -> Collection[Any]:
    """The names of the targets that a case was for; empty if nobody knows."""
    if source is not None and source.targets:
        return source.targets
    return (case.target,) if case.target else planned.suite.spec.targets or ()
