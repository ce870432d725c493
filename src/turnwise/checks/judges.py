"""What is certain to keep a run of a suite from starting: judges that cannot judge, and agents that cannot talk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..diagnostics import Diagnostic
from ..errors import InputError, UsageError
from ..graders.inside import names_judge
from ..graders.numbered import numbered_graders

if TYPE_CHECKING:
    from ..engine.judges import JudgeBook
    from ..engine.planned_targets import PlannedTarget
    from ..suite.case import Case
    from ..suite.suite import Suite
    from ..targets.targets_file import Targets

__all__ = ["JudgeCheck"]

_CERTAIN = ("no-judge", "no-embeddings", "grader-options")
"""What is said here. A name that nothing defines is said where it is written."""


class JudgeCheck:
    """Holds the cases of one suite against the targets of its project, by the functions that plan a run.

    `targets` is None if there is no targets file. A suite may leave its targets to the command line: then it is held
    against the one of the file that is most likely to do.
    """

    def __init__(self, suite: Suite, targets: Targets | None) -> None:
        self._suite = suite
        self._targets = targets
        self._book: JudgeBook | None = None
        self._known: dict[str, PlannedTarget | None] = {}

    def problems(self, case: Case) -> list[Diagnostic]:
        """The errors of one case."""
        if not case.is_live and not any(names_judge(spec) for _, spec in numbered_graders(case)):
            return []
        try:
            named = [found for name in self._named(case) if (found := self._target(name)) is not None]
            return [*self._of_judges(case, named), *_of_agents(case, named)]
        except InputError:
            return []  # a file of the project that cannot be read has errors of its own

    def _named(self, case: Case) -> Sequence[str]:
        return (case.target,) if case.target is not None else self._suite.spec.targets or ()

    def _of_judges(self, case: Case, named: Sequence[PlannedTarget]) -> list[Diagnostic]:
        from ..engine.judges import JudgeBook
        from ..engine.plan import PlannedSuite

        if self._book is None:
            self._book = JudgeBook()
        suite = self._suite
        planned = PlannedSuite(suite.file, Path(suite.file), suite, (None,))
        asked = named if self._named(case) else self._likely()
        return [each for each in self._book.want(planned, case, asked) if each.code in _CERTAIN]

    def _likely(self) -> list[PlannedTarget]:
        """The target of the file that a run objects to the least: one that names a judge, if any does."""
        listed = self._targets.targets if self._targets is not None else ()
        best = sorted(listed, key=lambda each: each.judge_target is None)[:1]
        return [found for each in best if (found := self._target(each.name)) is not None]

    def _target(self, name: str) -> PlannedTarget | None:
        from ..engine.planned_targets import PlannedTarget
        from ..targets.choose import find_target
        from ..targets.dotenv import environment

        if name not in self._known:
            project = self._suite.project
            try:
                spec = find_target(name, self._targets, file=str(project.targets_file))
                self._known[name] = PlannedTarget(name, spec, project, dict(environment(project.root)))
            except UsageError:
                self._known[name] = None  # said where the name is written
        return self._known[name]


def _of_agents(case: Case, named: Sequence[PlannedTarget]) -> list[Diagnostic]:
    """Live conversations with targets that cannot have them."""
    from ..engine.conversing import refused_talk

    return [said for each in named for said in refused_talk(case, each.name, each.spec.provider)]
