"""The judges of a run: found when it is planned, and asked through its own connections, cache and budget.

A result holds its place among the run's workers while it is judged. Requests to a judge have a bound of their own, so
that a run whose every place is held by a result that waits for its judge still goes on.

What is about decks and vectors is imported where there is one: most runs have no judge.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..diagnostics import Diagnostic
from ..errors import UsageError
from ..graders.diagnose import grader_place
from ..graders.inside import names_judge
from ..graders.judges import Asker, Judge
from ..graders.numbered import numbered_graders
from ..graders.registry import DECK, SIMILAR
from ..targets.choose import find_target, load_project_targets
from ..targets.dotenv import environment
from .askers import AskerBook, SettingsKey
from .first_look import FirstLook
from .judge_asking import ask_judge
from .planned_targets import PlannedTarget
from .refused_judges import refused_judge
from .self_judged import judges_itself, self_judged

if TYPE_CHECKING:
    from ..graders.deck_files import DeckUse
    from ..graders.embedding import Embed
    from ..suite.case import Case, CaseContext
    from ..suite.project import Project
    from ..targets.format import Target
    from .asking import Asking
    from .conversing import AskUser
    from .plan import PlannedSuite
    from .planned_judges import PlannedJudge

__all__ = ["JudgeBook", "JudgedLook"]

Key = tuple[str, Path, str, str | None, str | None]


class JudgedLook(FirstLook):
    """A first look that leaves suites whose graders ask models, and those of live conversations, to the second one,
    which finds who judges and who is asked."""

    def __call__(self, case: Case) -> None:
        """Take a case into account."""
        super().__call__(case)
        look = self.of(case.context.suite)
        if look is not None and look.whole and (case.is_live or _asks_judges(case)):
            look.whole = False


@dataclass
class JudgeBook:
    """All judges of a run, by what graders call them. `chosen` are the run's targets: those that are objects are in no
    file; `by_prompt` are those that need no deck. `users` are targets that play users: they are asked in the same way.
    It is true if there are any."""

    chosen: Sequence[str | Target] = ()
    targets: list[PlannedTarget] = field(default_factory=list)
    users: list[PlannedTarget] = field(default_factory=list)
    judges: list[PlannedJudge] = field(default_factory=list)
    by_prompt: AskerBook = field(default_factory=AskerBook)
    _by_use: dict[Key, PlannedJudge] = field(default_factory=dict, repr=False)
    _known: dict[tuple[Path, str], PlannedTarget] = field(default_factory=dict, repr=False)
    _warned: set[tuple[Key, tuple[int, ...]]] = field(default_factory=set, repr=False)
    _live: dict[int, Judge] = field(default_factory=dict, repr=False)
    embedders: dict[tuple[Path, str], PlannedTarget] = field(default_factory=dict)
    _embedding: dict[int, Embed] = field(default_factory=dict, repr=False)
    _live_users: dict[tuple[Path, str], AskUser] = field(default_factory=dict, repr=False)

    def __bool__(self) -> bool:
        return bool(self.judges or self.embedders or self.by_prompt.askers or self.users)

    def want_user(self, case: Case, project: Project) -> list[Diagnostic]:
        """Find the target that plays the user of a case, if one does: an error if there is none of that name."""
        if case.user is None:
            return []
        try:
            target = self._target(case.user.target, project)
        except UsageError as error:
            return [refused_judge(case.where(("user", "target")), "user", error)]
        if target not in self.users:
            self.users.append(target)
        return []

    def ask_user(self, name: str, context: CaseContext) -> AskUser | None:
        """How the one who plays the user is asked; None if it was not found, or the run is over."""
        return self._live_users.get((context.files.root, name))

    def want(self, planned: PlannedSuite, case: Case, asked: Sequence[PlannedTarget]) -> list[Diagnostic]:
        """Find the judges of a case: errors for those that cannot be asked, and warnings for those that judge
        themselves. Decks that cannot be used are left out: the check of the graders says what is wrong."""
        if not _asks_judges(case):
            return []
        from ..graders.deck_files import deck_uses

        found = [*self._want_embedders(planned, case), *self.by_prompt.want(planned, case, asked, self._target)]
        for index, use in deck_uses(case):
            key = _key(use.path, use.target, case.context)
            try:
                judge = self._by_use.get(key) or self._add(key, use, planned, case.context)
            except UsageError as error:
                found.append(refused_judge(grader_place(case, index, use.inside), DECK, error))
                continue
            once = key, tuple(map(id, asked))
            if judge is not None and once not in self._warned:
                self._warned.add(once)
                place = grader_place(case, index, use.inside)
                own = [each for each in asked if judges_itself(each, judge.target)]
                found += [self_judged(place, judge.name, each.name) for each in own]
        return found

    def of(self, context: CaseContext, asked: str | None = None) -> _CaseJudges:
        """The judges of the cases of a suite, for answers of the target of that name."""
        return _CaseJudges(self, context, asked or "")

    def judge(self, path: str, target: str | None, context: CaseContext) -> Judge | None:
        """The judge that a grader of a suite names; None if there is none, or the run is over."""
        planned = self._by_use.get(_key(path, target, context))
        return None if planned is None else self._live.get(id(planned))

    def embedder(self, target: str, context: CaseContext) -> Embed | None:
        """How a target is asked for vectors; None if no grader asks it, or the run is over."""
        planned = self.embedders.get((context.files.root, target))
        return None if planned is None else self._embedding.get(id(planned))

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

        def ask_of(target: PlannedTarget, key: SettingsKey) -> Any:
            spec: Any = target.spec if key is None else target.overrides[key]
            return partial(ask_judge, asking.of_target(target, key), rooms[id(target)], getattr(spec, "model", None))

        self.by_prompt.start(ask_of)
        for each in self.judges:
            ask = ask_of(each.target, each.settings_key)
            self._live[id(each)] = Judge(
                each.name, each.target.name, each.found.scale, each.how, each.calibration, ask
            )  # fmt: skip
        self._start_embedders(asking, rooms)
        for user in self.users:
            self._live_users[user.project.root, user.name] = ask_of(user, None)
        try:
            yield
        finally:
            self._live.clear()
            self.by_prompt.stop()
            self._embedding.clear()
            self._live_users.clear()

    def _start_embedders(self, asking: Asking, rooms: Mapping[int, asyncio.Semaphore]) -> None:
        if not self.embedders:
            return
        from .embedding_asking import ask_embedder

        for target in self.embedders.values():
            prices = asking.of_target(target, None).prices
            self._embedding[id(target)] = partial(ask_embedder, asking.embedder_of(target), prices, rooms[id(target)])

    def _want_embedders(self, planned: PlannedSuite, case: Case) -> Iterator[Diagnostic]:
        from ..graders.embedding import embedding_targets
        from .embedding_asking import without_embeddings

        for index, use in embedding_targets(case):
            key = case.context.files.root, use.target
            if key in self.embedders:
                continue
            place = grader_place(case, index, use.inside)
            try:
                target = self._target(use.target, planned.suite.project)
            except UsageError as error:
                yield refused_judge(place, SIMILAR, error)
                continue
            refused = without_embeddings(target.spec, place)
            if refused is None:
                self.embedders[key] = target
            else:
                yield refused

    def _add(self, key: Key, use: DeckUse, planned: PlannedSuite, context: CaseContext) -> PlannedJudge | None:
        from ..graders.deck_files import find_deck
        from .planned_judges import planned_judge

        found, _, _ = find_deck(use, context)
        if found is None:
            return None
        target = self._target(use.target or found.model or context.suite.judge or "", planned.suite.project)
        own_name = context.files.relative(found.path)
        name = planned.prefix + own_name
        judge = next((each for each in self.judges if each.name == name and each.target is target), None)
        if judge is None:
            judge = planned_judge(name, own_name, found, target)
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
    asked: str

    def judge(self, path: str, target: str | None) -> Judge | None:
        """The judge of a deck as the suite names it."""
        return self.book.judge(path, target, self.context)

    def asker(self, target: str | None, model: str | None = None) -> Asker | None:
        """The target of that name, or the usual one."""
        return self.book.by_prompt.asker(target, model, self.context, self.asked)

    def prompt(self, written: str) -> str:
        """The text of a prompt as the suite names it."""
        return self.book.by_prompt.prompt(written, self.context)

    def embedder(self, target: str) -> Embed | None:
        """How a target is asked for vectors."""
        return self.book.embedder(target, self.context)


def _asks_judges(case: Case) -> bool:
    return any(names_judge(spec) for _, spec in numbered_graders(case))


def _key(path: str, target: str | None, context: CaseContext) -> Key:
    return context.source.file, context.folder, path, target, context.suite.judge
