"""The judges of a run that need no deck: targets that graders ask by prompts of their own, found when it is planned."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..diagnostics import Diagnostic
from ..errors import FileReferenceError, UsageError
from ..graders.diagnose import grader_place
from ..graders.judges import TEMPERATURE, Asker
from ..providers.base import Settings
from ..suite.paths import shown_path
from ..targets.override import with_settings
from ..targets.resolve import resolve_target
from .file_hash import text_hash
from .refused_judges import RefusedModelError, refused_judge
from .self_judged import judges_itself, self_judged

if TYPE_CHECKING:
    from ..graders.judge_files import JudgeUse
    from ..graders.judges import JudgeAnswer
    from ..graders.numbered import GraderIndex
    from ..providers.base import ProviderRequest
    from ..suite.case import Case, CaseContext
    from ..suite.project import Project
    from ..targets.format import Target
    from .plan import PlannedSuite
    from .planned_targets import PlannedTarget

    Ask = Callable[[ProviderRequest], Awaitable[JudgeAnswer]]

__all__ = ["AskerBook", "PlannedAsker"]

SettingsKey = tuple[str, str] | None
_JUDGE = "judge"


@dataclass(eq=False)
class PlannedAsker:
    """A target that graders of a kind ask, with the file of their prompt, if there is one."""

    kind: str
    target: PlannedTarget
    model: str | None
    prompt: str | None
    prompt_hash: str | None

    @property
    def settings_key(self) -> SettingsKey:
        """Which of the target's settings it wants; None for the target's own."""
        return None if self.model is None else (_JUDGE, self.model)

    @property
    def spec(self) -> Target:
        """The target with these settings."""
        key = self.settings_key
        return self.target.spec if key is None else self.target.overrides[key]

    @property
    def name(self) -> str:
        """What it is called where judges are listed: the prompt's file, or else the kind."""
        return self.prompt or self.kind

    @property
    def identity(self) -> tuple[str, str | None, str, str | None]:
        """What makes it another one."""
        return self.kind, self.prompt, self.target.name, self.model


@dataclass
class AskerBook:
    """All of them, and the texts of their prompts as they were when the run was planned."""

    askers: list[PlannedAsker] = field(default_factory=list)
    _usual: dict[tuple[str, str | None, str], str | None] = field(default_factory=dict, repr=False)
    _prompts: dict[tuple[str, Path, str], str] = field(default_factory=dict, repr=False)
    _planned: dict[tuple[Path, str, str | None], PlannedAsker] = field(default_factory=dict, repr=False)
    _warned: set[tuple[str, str, str]] = field(default_factory=set, repr=False)
    _live: dict[int, Asker] = field(default_factory=dict, repr=False)

    def want(
        self,
        planned: PlannedSuite,
        case: Case,
        asked: Sequence[PlannedTarget],
        find: Callable[[str, Project], PlannedTarget],
    ) -> list[Diagnostic]:
        """Find whom the graders of a case ask: errors for nobody or somebody unknown, and warnings for those that judge
        themselves."""
        from ..graders.judge_files import judge_uses  # late, as all about judges: most runs have none

        found: list[Diagnostic] = []
        for index, use in judge_uses(case):
            for target in asked:
                for named in use.wanted.targets:
                    name = named or self._usual_judge(case.context, target)
                    if name is None:
                        found.append(_no_judge(case, index, use, target))
                        continue
                    try:
                        asker = self._add(name, use, planned, case.context, find)
                    except UsageError as error:
                        found.append(refused_judge(grader_place(case, index, use.inside), use.kind, error))
                        continue
                    found += self._itself(case, index, use, asker, target)
        return found

    def asker(self, target: str | None, model: str | None, context: CaseContext, asked: str) -> Asker | None:
        """Whom a grader of a suite asks about an answer of the target `asked`; None if there is none, or the run is
        over."""
        name = target or self._usual.get((context.source.file, context.suite.judge, asked))
        planned = None if name is None else self._planned.get((context.files.root, name, model))
        return None if planned is None else self._live.get(id(planned))

    def prompt(self, written: str, context: CaseContext) -> str:
        """The text of a prompt."""
        return self._prompts.get((context.source.file, context.folder, written), written)

    def start(self, ask_of: Callable[[PlannedTarget, SettingsKey], Ask]) -> None:
        """Ask in this way from now on."""
        for each in self._planned.values():
            own = getattr(each.spec, "temperature", None)
            settings = Settings(temperature=TEMPERATURE if own is None else None)
            self._live[id(each)] = Asker(each.target.name, settings, ask_of(each.target, each.settings_key))

    def stop(self) -> None:
        """Ask nobody any more."""
        self._live.clear()

    def _usual_judge(self, context: CaseContext, target: PlannedTarget) -> str | None:
        """The suite's judge, or else the one of the target that is judged."""
        key = context.source.file, context.suite.judge, target.name
        if key not in self._usual:
            self._usual[key] = context.suite.judge or _judge_of(target)
        return self._usual[key]

    def _add(
        self,
        name: str,
        use: JudgeUse,
        planned: PlannedSuite,
        context: CaseContext,
        find: Callable[[str, Project], PlannedTarget],
    ) -> PlannedAsker:
        target, model = find(name, planned.suite.project), use.wanted.model
        if model is not None and (_JUDGE, model) not in target.overrides:
            target.overrides[_JUDGE, model] = _with_model(target.spec, model)
        file, text = self._prompt_file(use, context)
        prompt = None if file is None else planned.prefix + file
        new = PlannedAsker(use.kind, target, model, prompt, None if prompt is None else text_hash(text))
        known = next((each for each in self.askers if each.identity == new.identity and each.target is target), None)
        if known is None:
            self.askers.append(new)
        self._planned.setdefault((context.files.root, name, model), known or new)
        return known or new

    def _prompt_file(self, use: JudgeUse, context: CaseContext) -> tuple[str | None, str]:
        """The file of a prompt, whose text is kept. One that cannot be read is said by the check of the graders."""
        if (prompt := use.wanted.prompt) is None:
            return None, ""
        from ..graders.judge_files import find_prompt

        try:
            found = find_prompt(prompt, context)
        except FileReferenceError:
            return None, ""
        self._prompts[context.source.file, context.folder, prompt.written] = found.text
        return found.file, found.text

    def _itself(
        self, case: Case, index: GraderIndex, use: JudgeUse, asker: PlannedAsker, target: PlannedTarget
    ) -> Iterator[Diagnostic]:
        place = grader_place(case, index, use.inside)
        once = f"{place[0].file}:{shown_path(place[1])}", asker.target.name, target.name
        if once not in self._warned and judges_itself(target, asker.target, asker.settings_key):
            self._warned.add(once)
            yield self_judged(place, asker.name, target.name)


def _with_model(spec: Target, model: str) -> Target:
    try:
        return with_settings(spec, {"model": model}, where=f"its `model: {model}`")
    except UsageError as error:
        raise RefusedModelError(str(error), error.hint) from error


def _judge_of(target: PlannedTarget) -> str | None:
    named = target.spec.judge_target
    if named is not None and "${{" in named:
        return resolve_target(target.spec, target.environment, allow_missing_secrets=True).target.judge_target
    return named


def _no_judge(case: Case, index: GraderIndex, use: JudgeUse, target: PlannedTarget) -> Diagnostic:
    source, path, case_id = grader_place(case, index, use.inside)
    message = f"no judge is named for `{use.kind}`, which asks a model about the answers of {target.name}"
    file = case.context.source.file  # of the suite, or of the graders that stand in for its own
    hint = f"add `target: NAME` to the grader, `judge: NAME` to {file}, or `judge_target` to the target {target.name}"
    return Diagnostic("error", "no-judge", message, source.file, source.place(path), hint, shown_path(path), case_id)
