"""From options to a plan: suites loaded and checked, targets resolved, and the stream of work for each target."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..conversation.files import shown_file
from ..conversation.values import File, Image
from ..diagnostics import Diagnostic, has_errors
from ..errors import ResolutionError, SuiteError, UsageError
from ..graders.diagnose import grader_diagnostics
from ..graders.scoring import DEFAULT_THRESHOLD
from ..providers.requests import request_for
from ..suite.check import case_errors
from ..suite.collect import collect_suites
from ..suite.intake import MOST_DIAGNOSTICS
from ..suite.variants import Variant, variant_problems, variants_of, with_variant
from .file_hash import part_hash
from .first_look import FirstLook, refers_to_files
from .grading import Grading
from .judges import JudgeBook, JudgedLook
from .planned_targets import PlannedTarget, TargetFinder
from .prompt_variants import PromptVariant, read_prompt
from .result_keys import ResultKey

if TYPE_CHECKING:
    from ..graders.base import Grade
    from ..graders.scoring import CaseScore
    from ..providers.base import ProviderRequest, ProviderResponse
    from ..suite.case import Case
    from ..suite.project import Project
    from ..suite.suite import Suite
    from ..targets.settings import Prices
    from .conversing import AskUser
    from .options import PlanOptions
    from .talk import Talk

__all__ = ["Plan", "PlannedSuite", "Work", "make_plan", "suite_name", "suite_prefix"]


@dataclass(frozen=True)
class PlannedSuite:
    """A suite of a run. `name` is its path from the run's root: what results call it, wherever the run is started.

    `prefix` leads from there to the suite's own project, and is empty if that is the run's.
    """

    name: str
    path: Path
    suite: Suite
    variants: tuple[Variant | None, ...]
    prefix: str = ""


@dataclass(slots=True, eq=False)
class Work:
    """One piece of work. `attempts` and `returns` count what was tried in vain before it was put back, `tried` the
    attempts of this time that have failed, and `trouble` says why the last of them did."""

    planned: PlannedSuite
    case: Case
    variant: Variant | None
    target: PlannedTarget
    trial: int
    grading: Grading
    attempts: int = 0
    returns: int = 0
    tried: int = 0
    is_answered: bool = False
    trouble: str | None = None
    talk: Talk | None = None

    @property
    def key(self) -> ResultKey:
        """What makes it this piece of work."""
        name = None if self.variant is None else self.variant.name
        return ResultKey(self.planned.name, self.case.id, self.target.name, name, self.trial)

    @property
    def settings_key(self) -> tuple[str, str] | None:
        """Which of the target's settings it wants; None for the target's own."""
        variant = self.variant
        return None if variant is None or not variant.settings else (self.planned.name, variant.name)

    @property
    def prefix(self) -> str:
        """What leads from the run's root to the suite's own project."""
        return self.planned.prefix

    @property
    def conversation_id(self) -> str | None:
        """What joins the cases of one conversation."""
        return self.case.conversation_id

    @property
    def threshold(self) -> float:
        """The score from which its case passes."""
        return DEFAULT_THRESHOLD if self.case.threshold is None else self.case.threshold

    @property
    def is_judged(self) -> bool:
        """Whether another model than the one that is asked has a say in it."""
        return self.case.user is not None or self.grading.is_judging(self.case)

    @property
    def is_live(self) -> bool:
        """Whether the conversation goes on after the first answer."""
        return self.case.is_live

    @property
    def ask_user(self) -> AskUser | None:
        """How the one who plays the user is asked, if there is one."""
        return None if self.case.user is None else self.grading.ask_user(self.case.user.target, self.case.context)

    def request(self, system_prompt: str | None) -> ProviderRequest:
        """What is asked. Raises `ResolutionError` if the case refers to files that cannot be read."""
        return request_for(self.case, system_prompt=system_prompt, attempt=self.trial)

    async def grade(
        self, request: ProviderRequest, response: ProviderResponse, prices: Prices | None
    ) -> tuple[list[Grade], CaseScore]:
        """What its graders say of the answer."""
        variant = None if self.variant is None else self.variant.name
        return await self.grading.grade(
            self.case,
            request,
            response,
            self.threshold,
            prices,
            target=self.target.name,
            variant=variant,
            talk=self.talk,
        )


@dataclass
class Plan:
    """What a run does. `results` counts the pieces of work, `groups` those of each target, variant and suite; `files`
    are the hashes of what the messages refer to; `judges` are whom deck graders ask. `regrades` says which run is
    graded again, if one is, and `more_inputs` are further files that decide what is done, each with its kind."""

    options: PlanOptions
    project: Project
    suites: Sequence[PlannedSuite]
    targets: Sequence[PlannedTarget] = ()
    warnings: list[Diagnostic] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    cases: int = 0
    results: int = 0
    groups: Counter[tuple[str, str | None, str]] = field(default_factory=Counter)
    judges: JudgeBook = field(default_factory=JudgeBook)
    regrades: dict[str, Any] | None = None
    more_inputs: Sequence[tuple[str, Path]] = ()
    _finder: TargetFinder = field(default_factory=lambda: TargetFinder(()), repr=False)
    _prompts: Sequence[PromptVariant] = field(default=(), repr=False)
    _first_look: FirstLook | None = field(default=None, repr=False)

    @property
    def names(self) -> Sequence[str]:
        """The suites, as results call them."""
        return [planned.name for planned in self.suites]

    def selected(self) -> Iterator[tuple[PlannedSuite, Case]]:
        """The cases that the run takes, in their order; streamed anew each time."""
        known = {planned.name: planned for planned in self.suites}
        for name, case in self.options.selection.of(self._all_cases):
            yield known[name], case

    def work(self, target: PlannedTarget) -> Iterator[Work]:
        """All pieces of work for one target, in the order of cases, variants and trials."""
        grading = Grading(graded=self.options.graded, judges=self.judges)
        for planned, case in self.selected():
            if target not in self._finder.of(planned, case):
                continue
            for variant in planned.variants:
                if not self._wants(planned, case, target, variant):
                    continue
                varied = case if variant is None else with_variant(case, variant)
                for trial in range(1, self.trials_of(case) + 1):
                    yield Work(planned, varied, variant, target, trial, grading)

    def trials_of(self, case: Case) -> int:
        """How often a case is asked."""
        return self.options.trials or case.trials or 1

    def check(self) -> None:
        """Look at every case that is taken: find its targets, graders and files. Raises `SuiteError` with everything
        that keeps the run from starting. A case that cannot be made is no reason: it becomes an error of its own."""
        found: dict[Diagnostic, None] = {}  # what cases share is said once
        self.options.selection.require_matches(case for _, case in self._all_cases())
        if self.options.takes_everything:
            for planned in self.suites:
                found |= self._look_at_all(planned)
        else:
            for planned, case in self.selected():
                self._look_at(planned, case, found)
        if has_errors(list(found)):
            raise SuiteError([each for each in found if each.severity == "error"])
        self.warnings += [*found, *(warning for each in self._prompts for warning in each.warnings())]
        self.targets = self._finder.found
        if not self.results:
            raise UsageError(*_nothing_selected(self))

    def _look_at_all(self, planned: PlannedSuite) -> dict[Diagnostic, None]:
        look = self._first_look.of(planned.suite.spec) if self._first_look is not None else None
        if look is not None and look.whole and planned.variants == (None,):
            for (own, trials), count in look.counts.items():
                self._count(planned, look.examples[own], (self.options.trials or trials or 1) * count)
            self.cases += look.counts.total()
            return look.found
        found: dict[Diagnostic, None] = {}
        for case in planned.suite.cases:
            self._look_at(planned, case, found)
        return found

    def _look_at(self, planned: PlannedSuite, case: Case, found: dict[Diagnostic, None]) -> None:
        self.cases += 1
        self._count(planned, case, self.trials_of(case))
        for prompt in self._prompts:
            prompt.look_at(case)
        found |= dict.fromkeys(self.judges.want_user(case, planned.suite.project))
        if self.options.graded:
            asked = self._finder.of(planned, case)
            for varied in _as_asked(planned, case):
                found |= dict.fromkeys(self.judges.want(planned, varied, asked))
        if len(found) < MOST_DIAGNOSTICS:
            for varied in _as_asked(planned, case):
                if self.options.graded and (said := grader_diagnostics(varied)):
                    found |= dict.fromkeys(said)
                found |= dict.fromkeys(self._read_files(planned, varied))
            if case.is_live:
                found |= dict.fromkeys(self._refused_talks(planned, case))

    def _refused_talks(self, planned: PlannedSuite, case: Case) -> list[Diagnostic]:
        """Why targets that are asked cannot have the case's live conversation."""
        from .conversing import refused_talk

        asked = [
            target
            for target in self._finder.of(planned, case)
            if any(self._wants(planned, case, target, variant) for variant in planned.variants)
        ]
        return [said for each in asked for said in refused_talk(case, each.name, each.spec.provider)]

    def _count(self, planned: PlannedSuite, case: Case, results: int) -> None:
        for target in self._finder.of(planned, case):
            for variant in planned.variants:
                if self._wants(planned, case, target, variant):
                    name = None if variant is None else variant.name
                    self.groups[target.name, name, planned.name] += results
                    self.results += results

    def _wants(self, planned: PlannedSuite, case: Case, target: PlannedTarget, variant: Variant | None) -> bool:
        only = self.options.only
        name = None if variant is None else variant.name
        return only is None or (planned.name, case.id, target.name, name) in only

    def _all_cases(self) -> Iterator[tuple[str, Case]]:
        for planned in self.suites:
            for case in planned.suite.cases:
                yield planned.name, case

    def _read_files(self, planned: PlannedSuite, case: Case) -> list[Diagnostic]:
        """Remember what the files of a case hold; a file that cannot be read is said now, and is the case's error."""
        if not refers_to_files(case):
            return []
        try:
            messages = (*case.conversation.messages, *case.expected.messages, *case.turn_messages)
        except ResolutionError:
            return [_as_warning(each) for each in case_errors(case)]
        for message in messages:
            for part in message.parts:
                if isinstance(part, File | Image) and part.path is not None:
                    name = planned.prefix + part.path
                    if name not in self.files:
                        self.files[name] = part_hash(part)
        return []


def make_plan(options: PlanOptions) -> Plan:
    """Load, check and resolve everything that a run needs. Raises `SuiteError`, `TargetsError`, `ConfigError`,
    `MissingVariablesError` or `UsageError` before anything is asked."""
    first_look = JudgedLook(graded=options.graded)
    suites, warnings = _loaded(options, first_look)
    project = suites[0][1].project
    prompts = [read_prompt(path) for path in options.system_prompts]
    planned = [
        PlannedSuite(
            suite_name(path, project.root),
            path,
            suite,
            _chosen(suite, options, prompts),
            suite_prefix(suite, project.root),
        )
        for path, suite in suites
    ]
    taken = [each for each in planned if each.variants]
    _require_variants(options, planned, prompts)
    plan = Plan(options, project, taken, warnings=warnings, judges=JudgeBook(options.targets))
    plan._finder, plan._prompts, plan._first_look = TargetFinder(options.targets), prompts, first_look
    plan.check()
    return plan


def _loaded(options: PlanOptions, visit: FirstLook) -> tuple[list[tuple[Path, Suite]], list[Diagnostic]]:
    suites: list[tuple[Path, Suite]] = []
    problems: list[Diagnostic] = []
    for loaded in collect_suites(options.suites, visit if options.takes_everything else None):
        problems += loaded.diagnostics
        if loaded.suite is not None:
            problems += variant_problems(loaded.suite)
            suites.append((Path(loaded.file), loaded.suite))
    if has_errors(problems):
        raise SuiteError([each for each in problems if each.severity == "error"])
    if not suites:
        where = ", ".join(options.suites)
        raise UsageError(f"there is no suite in {where}", "name a suite, or a folder that holds some")
    return suites, problems


def suite_name(path: Path, root: Path) -> str:
    """What results call a suite: its path from the run's root."""
    return Path(os.path.relpath(os.path.realpath(path), root)).as_posix()


def suite_prefix(suite: Suite, root: Path) -> str:
    """What leads from the run's root to the suite's own project."""
    own = suite.project.root
    return "" if own == root else f"{suite_name(own, root)}/"


def _chosen(suite: Suite, options: PlanOptions, prompts: Sequence[PromptVariant]) -> tuple[Variant | None, ...]:
    """The variants of a suite that the run takes; None stands for the cases as they are written."""
    own = variants_of(suite.spec)
    names = {each.name: f"a variant of {suite.file}" for each in own}
    for prompt in prompts:
        if prompt.variant.name in names:
            message = f"--system-prompt {prompt.file}: {names[prompt.variant.name]} has its name"
            raise UsageError(message, "rename one of them")
        names[prompt.variant.name] = f"--system-prompt {prompt.file}"
    named = [each for each in own if not options.variants or each.name in options.variants]
    as_written = options.as_written or not (own or prompts or options.variants)
    return (*((None,) if as_written else ()), *named, *(each.variant for each in prompts))


def _require_variants(options: PlanOptions, planned: Sequence[PlannedSuite], prompts: Sequence[PromptVariant]) -> None:
    """A variant that was asked for must be somewhere."""
    from ..suite.explain import did_you_mean

    known = {each.name for planned_suite in planned for each in variants_of(planned_suite.suite.spec)}
    known |= {each.variant.name for each in prompts}
    for name in options.variants:
        if name not in known:
            hint = did_you_mean(name, sorted(known), "there are") if known else "no suite has `variants`"
            raise UsageError(f"no variant is named {name!r}", hint)


def _as_asked(planned: PlannedSuite, case: Case) -> Iterator[Case]:
    """The case in every form in which its graders or files may differ."""
    if any(variant is None or not variant.vars for variant in planned.variants):
        yield case
    for variant in planned.variants:
        if variant is not None and variant.vars:
            yield with_variant(case, variant)


def _as_warning(diagnostic: Diagnostic) -> Diagnostic:
    from dataclasses import replace

    return replace(diagnostic, severity="warning", hint=f"{diagnostic.hint} (the other cases still run)")


def _nothing_selected(plan: Plan) -> tuple[str, str]:
    cases = sum(len(planned.suite.cases) for planned in plan.suites)
    files = ", ".join(shown_file(planned.path) for planned in plan.suites[:3])
    return f"nothing is selected, of {cases:,} cases in {files}", "no case fits everything that was asked for"
