"""The plan of grading a run again: its recorded answers, under the graders that cases have now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..diagnostics import Diagnostic, has_errors
from ..errors import ResolutionError, RunError, SuiteError, UsageError
from ..graders.diagnose import grader_diagnostics
from ..suite.intake import MOST_DIAGNOSTICS
from ..suite.paths import shown_path
from ..suite.variants import Variant, with_variant
from .grading import Grading
from .plan import Plan, PlannedSuite
from .recorded_question import asked_first
from .recorded_run import question_digest
from .recorded_work import RecordedWork

if TYPE_CHECKING:
    from ..suite.case import Case
    from .grader_file import GraderFile
    from .planned_targets import PlannedTarget
    from .recorded_run import RecordedResult, RecordedRun

__all__ = ["RegradePlan"]

_NAMED = 5


@dataclass(frozen=True, slots=True)
class _Unknown:
    """A case of which only the id is known."""

    id: str
    tags: tuple[str, ...] = ()


@dataclass(kw_only=True)
class RegradePlan(Plan):
    """What is graded again. `recorded` is the run, `graders` stand in for those of the cases, if they are given.
    Orphans are the cases of results that no suite has any more, by suite and id."""

    recorded: RecordedRun
    graders: GraderFile | None = None
    _by_case: dict[tuple[str, str], list[RecordedResult]] = field(default_factory=dict, repr=False)
    _orphans: Sequence[tuple[str, str]] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        wanted = {target.name for target in self.targets}
        names = {planned.name for planned in self.suites}
        for key, result in self.recorded.results.items():
            if key.target in wanted and key.suite in names:
                self._by_case.setdefault((key.suite, key.case_id), []).append(result)
        known = {(name, case.id) for name, case in super()._all_cases()}
        self._orphans = [each for each in self._by_case if each not in known]

    def work(self, target: PlannedTarget) -> Iterator[RecordedWork]:
        """The recorded answers of one target, in the order of cases, variants and trials."""
        grading = Grading(judges=self.judges)
        for planned, case in self.selected():
            for result in self._by_case.get((planned.name, case.id), ()):
                if result.key.target == target.name:
                    variant = _variant(planned, result)
                    varied = self._as_graded(case, variant)
                    trial = result.key.trial
                    yield RecordedWork(
                        planned, varied, variant, target, trial, grading, run=self.recorded, result=result
                    )  # fmt: skip

    def check(self) -> None:
        """Look at everything that is graded: find graders, judges and files. Raises `SuiteError` for what keeps it
        from starting, and `RunError` for results whose cases are gone."""
        if self.graders is None:
            self._refuse_orphans()
        self.options.selection.require_matches(case for _, case in self._all_cases())
        found: dict[Diagnostic, None] = {}
        for planned, case in self.selected():
            results = self._by_case.get((planned.name, case.id), ())
            self.cases += bool(results)
            for result in results:
                key = result.key
                self.groups[key.target, key.variant, key.suite] += 1
                self.results += 1
            variants = {result.key.variant: _variant(planned, result) for result in results}
            for variant in variants.values():
                self._look_at_variant(planned, case, variant, found)
        if has_errors(list(found)):
            raise SuiteError([each for each in found if each.severity == "error"])
        self.warnings += found
        if not self.results:
            raise UsageError(f"no result of the run {self.recorded.run_id} is selected", "leave out some conditions")

    def _look_at_variant(
        self, planned: PlannedSuite, case: Case, variant: Variant | None, found: dict[Diagnostic, None]
    ) -> None:
        varied = self._as_graded(case, variant)
        found |= dict.fromkeys(self.judges.want(planned, varied, self.targets))
        if len(found) < MOST_DIAGNOSTICS:
            found |= dict.fromkeys(grader_diagnostics(varied))
            found |= dict.fromkeys(self._read_files(planned, varied))
            found |= dict.fromkeys(self._changed(planned, varied, variant))

    def _as_graded(self, case: Case, variant: Variant | None) -> Case:
        varied = case if variant is None else with_variant(case, variant)
        return varied if self.graders is None else self.graders.applied(varied)

    def _all_cases(self) -> Iterator[tuple[str, Case]]:
        yield from super()._all_cases()
        if self.graders is not None:
            for suite, case_id in self._orphans:
                record = self.recorded.record(self._by_case[suite, case_id][0])
                yield suite, self.graders.orphan(case_id, asked_first(record))

    def _refuse_orphans(self) -> None:
        takes = self.options.selection.takes
        gone = [case_id for suite, case_id in self._orphans if takes(suite, _Unknown(case_id))]
        if gone:
            names = ", ".join(repr(each) for each in gone[:_NAMED]) + (", …" if len(gone) > _NAMED else "")
            what = "1 case of the run is" if len(gone) == 1 else f"{len(gone):,} cases of the run are"
            hint = "leave them out with --exclude, or grade all answers by one file: --graders FILE"
            raise RunError(f"{what} not in the suites any more: {names}", hint)

    def _changed(self, planned: PlannedSuite, case: Case, variant: Variant | None) -> Iterator[Diagnostic]:
        """A warning for a case that asks something else than what was answered."""
        try:
            now = question_digest(case.conversation.transcript())
        except ResolutionError:
            return
        name = None if variant is None else variant.name
        results = self._by_case.get((planned.name, case.id), ())
        if any(each.key.variant == name and each.question not in (None, now) for each in results):
            message = "the conversation of the case has changed since it was answered: its answers are to the old one"
            hint = "run the case again, or leave it out with --exclude"
            place, path = case.place, shown_path(case.path)
            yield Diagnostic("warning", "changed-conversation", message, case.source.file, place, hint, path, case.id)


def _variant(planned: PlannedSuite, result: RecordedResult) -> Variant | None:
    name = result.key.variant
    return next((each for each in planned.variants if each is not None and each.name == name), None)
