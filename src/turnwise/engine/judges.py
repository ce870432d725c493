"""The judges of a run: found when it is planned, and asked through its own connections, cache and budget.

A result holds its place among the run's workers while it is judged. Requests to a judge have a bound of their own, so
that a run whose every place is held by a result that waits for its judge still goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..decks.deck_hash import deck_hash
from ..diagnostics import Diagnostic
from ..graders.calibrated import Trust, model_hash
from ..graders.deck_files import DeckUse, FoundDeck, deck_uses, find_deck
from ..graders.deck_request import Judging, asked_with, judging_by, with_deck_options
from ..graders.diagnose import grader_place
from ..graders.judges import Judge, call_for_calibration
from ..graders.registry import DECK
from ..suite.paths import DataPath, shown_path
from ..targets.choose import find_target, load_project_targets
from ..targets.dotenv import environment
from .first_look import FirstLook
from .judge_asking import ask_judge
from .judge_trust import known_trust
from .planned_targets import PlannedTarget

if TYPE_CHECKING:
    from ..suite.case import Case, CaseContext
    from ..suite.project import Project
    from ..suite.sources import Source
    from ..targets.format import Target
    from .asking import Asking
    from .plan import PlannedSuite

__all__ = ["JudgeBook", "JudgedLook", "PlannedJudge"]

Key = tuple[str, Path, str, str | None]
GraderPlace = tuple["Source", DataPath, str | None]


class JudgedLook(FirstLook):
    """A first look that leaves suites with deck graders to the second one, which finds their judges."""

    def __call__(self, case: Case) -> None:
        """Take a case into account."""
        super().__call__(case)
        look = self.of(case.context.suite)
        if look is not None and look.whole and next(deck_uses(case), None) is not None:
            look.whole = False


@dataclass(eq=False)
class PlannedJudge:
    """A deck with the target that it is asked of. `name` is the deck's path from the run's root."""

    name: str
    found: FoundDeck
    target: PlannedTarget
    settings_key: tuple[str, str] | None
    how: Judging
    deck_hash: str
    asked_with: Mapping[str, Any]
    trust: Trust
    calibration: str


@dataclass
class JudgeBook:
    """All judges of a run, by what graders call them. `chosen` are the run's targets: those that are objects are in no
    file. It is true if there are any."""

    chosen: Sequence[str | Target] = ()
    targets: list[PlannedTarget] = field(default_factory=list)
    judges: list[PlannedJudge] = field(default_factory=list)
    _by_use: dict[Key, PlannedJudge] = field(default_factory=dict, repr=False)
    _known: dict[tuple[Path, str], PlannedTarget] = field(default_factory=dict, repr=False)
    _warned: set[tuple[Key, tuple[int, ...]]] = field(default_factory=set, repr=False)
    _live: dict[int, Judge] = field(default_factory=dict, repr=False)

    def __bool__(self) -> bool:
        return bool(self.judges)

    def want(self, planned: PlannedSuite, case: Case, asked: Sequence[PlannedTarget]) -> list[Diagnostic]:
        """Find the judges of a case; warnings for those that judge themselves. Decks that cannot be used are left
        out: the check of the graders says what is wrong. Raises `UsageError` for a target that there is not."""
        warnings: list[Diagnostic] = []
        for index, use in deck_uses(case):
            key = _key(use.path, use.target, case.context)
            judge = self._by_use.get(key) or self._add(key, use, planned, case.context)
            once = key, tuple(map(id, asked))
            if judge is not None and once not in self._warned:
                self._warned.add(once)
                place = grader_place(case, index, use.inside)
                warnings += [_self_judged(place, judge, each) for each in asked if _same(each, judge.target)]
        return warnings

    def of(self, context: CaseContext) -> _CaseJudges:
        """The judges of the cases of a suite."""
        return _CaseJudges(self, context)

    def judge(self, path: str, target: str | None, context: CaseContext) -> Judge | None:
        """The judge that a grader of a suite names; None if there is none, or the run is over."""
        planned = self._by_use.get(_key(path, target, context))
        return None if planned is None else self._live.get(id(planned))

    def recall(self, described: Sequence[Mapping[str, Any]]) -> None:
        """Say of judges what was known of them when the run began, as its description has it."""
        known = {(each.get("deck"), each.get("target")): each.get("calibration") for each in described}
        for judge in self.judges:
            said = known.get((judge.name, judge.target.name))
            judge.calibration = said if isinstance(said, str) else judge.calibration

    @contextmanager
    def asked_through(self, asking: Asking, workers: int) -> Iterator[None]:
        """Ask judges in this way from now on; at most `workers` requests at once where the target does not say."""
        rooms: dict[int, asyncio.Semaphore] = {}
        for target in self.targets:
            own: Any = target.resolved[None].target.workers
            rooms[id(target)] = asyncio.Semaphore(own or workers)
        for each in self.judges:
            asked = asking.of_target(each.target, each.settings_key)
            ask = partial(ask_judge, asked, rooms[id(each.target)], getattr(each.target.spec, "model", None))
            self._live[id(each)] = Judge(
                each.name, each.target.name, each.found.scale, each.how, each.calibration, ask
            )  # fmt: skip
        try:
            yield
        finally:
            self._live.clear()

    def _add(self, key: Key, use: DeckUse, planned: PlannedSuite, context: CaseContext) -> PlannedJudge | None:
        found, _, _ = find_deck(use, context)
        if found is None:
            return None
        target = self._target(use.target or found.model or "", planned.suite.project)
        own_name = context.files.relative(found.path)
        name = planned.prefix + own_name
        judge = next((each for each in self.judges if each.name == name and each.target is target), None)
        if judge is None:
            judge = _planned(name, own_name, found, target)
            self.judges.append(judge)
        self._by_use[key] = judge
        return judge

    def _target(self, name: str, project: Project) -> PlannedTarget:
        known = self._known.get((project.root, name))
        if known is None:
            objects = {each.name: each for each in self.chosen if not isinstance(each, str)}
            spec = objects.get(name)
            if spec is None:
                spec = find_target(name, load_project_targets(project), file=str(project.targets_file))
            known = PlannedTarget(name, spec, project, dict(environment(project.root)))
            self._known[project.root, name] = known
            self.targets.append(known)
        return known


@dataclass(frozen=True, slots=True)
class _CaseJudges:
    book: JudgeBook
    context: CaseContext

    def judge(self, path: str, target: str | None) -> Judge | None:
        """The judge of a deck as the suite names it."""
        return self.book.judge(path, target, self.context)


def _key(path: str, target: str | None, context: CaseContext) -> Key:
    return context.source.file, context.folder, path, target


def _planned(name: str, own_name: str, found: FoundDeck, target: PlannedTarget) -> PlannedJudge:
    how = judging_by(found.deck, found.scale, target.spec)
    changed = with_deck_options(target.spec, found.deck)
    settings_key = None if changed is None else (name, DECK)
    if settings_key is not None and changed is not None:
        target.overrides[settings_key] = changed
    whole, settings = deck_hash(found.deck), asked_with(how, target.spec)
    trust = known_trust(
        target.project.root, own_name, target.name, found.deck, deck_hash=whole, model_hash=model_hash(settings)
    )
    calibration = call_for_calibration(own_name, target.name) if trust.artefact is None else trust.text
    return PlannedJudge(name, found, target, settings_key, how, whole, settings, trust, calibration)


def _same(target: PlannedTarget, judge: PlannedTarget) -> bool:
    """Whether it is one and the same model, under whatever name."""
    models = {(each.spec.provider, getattr(each.spec, "model", None)) for each in (target, judge)}
    has_model = getattr(judge.spec, "model", None) is not None
    return target.name == judge.name or (has_model and len(models) == 1)


def _self_judged(place: GraderPlace, judge: PlannedJudge, target: PlannedTarget) -> Diagnostic:
    source, path, case_id = place
    message = f"{target.name} judges its own answers by {judge.name}: models tend to like what they wrote"
    return Diagnostic(
        "warning",
        "self-judged",
        message,
        source.file,
        source.place(path),
        "name another target to judge",
        shown_path(path),
        case_id,
    )
