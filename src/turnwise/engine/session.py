"""A run that this process has locked: planned, and ready to be carried out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from .bars import unrecorded_text
from .budget import Budget, require_prices
from .description import describe_run
from .events import Ended, Event, ResultDone
from .judge_costs import count_judging
from .options import Execution, PlanOptions
from .plan import Plan, make_plan
from .planned_targets import check_planned, resolve_planned
from .result_keys import Done
from .run_folder import RunFolder
from .runner import Runner, Taker
from .summary import Tally, summarise
from .verdict import Verdict, judge

if TYPE_CHECKING:
    from .events import Observer
    from .summary_format import Summary

__all__ = ["Session", "begin", "budget_of", "expecting"]

_TOGETHER = 64
Records = Callable[[], Iterator[Mapping[str, Any]]]


@dataclass
class Session:
    """A run that this process has locked. A context manager, which frees it.

    `done` are the results that an earlier part of the run has, and `journal` reads them, and all that follow; None for
    a run that begins here.
    """

    plan: Plan
    folder: RunFolder
    execution: Execution
    done: Done = field(default_factory=Done)
    tally: Tally = field(default_factory=Tally)
    budget: Budget | None = None
    journal: Records | None = None
    _uncounted: list[Mapping[str, Any]] = field(default_factory=list, repr=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.folder.close()

    def runner(self, observe: Observer, take: Taker | None = None) -> Runner:
        """What carries the run out; its results are counted here before they are told."""

        def counted(event: Event) -> None:
            if isinstance(event, ResultDone):
                self._uncounted.append(event.record)
                if len(self._uncounted) >= _TOGETHER:
                    self._count()
            observe(event)

        if self.plan.judges:
            self._remember_judges()
        return Runner(
            self.plan,
            self.folder,
            self.execution,
            observe=counted,
            done=self.done,
            budget=self.budget,
            take=take,
            judges=self.plan.judges,
        )

    def _remember_judges(self) -> None:
        """What a run that goes on knew of its judges when it was started, and what they have taken of its budget."""
        self.plan.judges.recall(self.folder.description().get("judges") or ())
        if self.budget is not None and self.journal is not None:
            for record in self.journal():
                count_judging(self.budget, record)

    def summary(self, ended: Ended) -> Summary:
        """What came of the run. Errors of an earlier part that were not done again still stand in the journal."""
        self._count()
        if self.journal is None or not ended.left or not self.folder.path.is_dir():
            return self.tally.summary()
        return replace(summarise(self.journal, tally=expecting(self.plan)), run_id=self.folder.id)

    def _count(self) -> None:
        """Count what has come: several results together take half the time, since nothing else is done in between."""
        for record in self._uncounted:
            self.tally.add(record)
        self._uncounted.clear()

    def verdict(self, summary: Summary, ended: Ended) -> Verdict:
        """Whether the run did well enough."""
        options = self.plan.options
        bars = {each.name: each.suite.spec.min_pass_rate for each in self.plan.suites}
        return judge(
            summary,
            threshold=options.threshold,
            min_pass_rates={name: bar for name, bar in bars.items() if bar is not None},
            left=max(0, self.plan.results - summary.results),
            stopped=ended.stopped,
            graded=options.graded,
            unrecorded=unrecorded_text(self.plan.regrades),
        )


def begin(options: PlanOptions, execution: Execution, *, runs_dir: Path | None = None) -> Session:
    """Plan and lock a new run. Raises `InputError`, `UsageError` or `MissingVariablesError` if it cannot start."""
    plan = make_plan(options)
    resolve_planned([*plan.targets, *plan.judges.targets])
    check_planned(plan.targets)
    if execution.cache is None:
        execution = replace(execution, cache=plan.project.config.cache)
    budget = budget_of(plan, execution)
    folder = RunFolder.create(
        runs_dir or plan.project.runs_dir, lambda path: describe_run(plan, execution, path, seed=options.selection.seed)
    )
    return Session(plan, folder, execution, tally=expecting(plan), budget=budget)


def expecting(plan: Plan) -> Tally:
    """A tally that knows what the plan holds, also of what never comes."""
    tally = Tally()
    for (target, variant, suite), results in plan.groups.items():
        tally.expect(target, variant, suite, results)
    return tally


def budget_of(plan: Plan, execution: Execution) -> Budget | None:
    """The budget of a run, if it has one. Raises `UsageError` if it is in dollars, and a price is not known."""
    if execution.budget_usd is None and execution.max_tokens_total is None:
        return None
    if execution.budget_usd is not None:
        asked = (*plan.targets, *plan.judges.targets)
        require_prices([resolved.target for each in asked for resolved in each.resolved.values()])
    return Budget(execution.budget_usd, execution.max_tokens_total)
