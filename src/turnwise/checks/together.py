"""What only shows when files are seen together: patterns that nothing uses, targets that nothing defines."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..conversation.guidelines import GuidelinePatterns
from ..diagnostics import Diagnostic, Severity
from ..errors import UsageError
from ..suite.case import Case
from ..suite.format import LongGrader, TurnSpec
from ..suite.live_format import UserSpec
from ..suite.paths import DataPath, shown_path
from ..suite.project import Project
from ..suite.sources import Source
from ..suite.suite import Suite

if TYPE_CHECKING:
    from ..targets.targets_file import Targets

__all__ = ["NamedTarget", "case_target_names", "suite_target_names", "unknown_target", "unused_patterns"]

_MOST_FILES = 20_000


def unused_patterns(patterns: GuidelinePatterns, source: Source, elsewhere: Project | None) -> Iterator[Diagnostic]:
    """Patterns that matched no file of any case. With `elsewhere`, only a part of that project was looked at: a
    pattern that matches any of its files may well be used by another suite."""
    for index, pattern in enumerate(patterns.patterns):
        if index not in patterns.used and not (elsewhere and _matches_any_file(pattern, elsewhere.root)):
            path: DataPath = ("guideline_patterns", index)
            message = f"the guideline pattern {pattern!r} matches no file that a case refers to"
            hint = "patterns are matched on paths from the project root"
            yield Diagnostic(
                "warning", "unused-pattern", message, source.file, source.place(path), hint, shown_path(path)
            )


def _matches_any_file(pattern: str, root: Path) -> bool:
    """Whether a pattern could be of use in a project; a huge project gets the benefit of the doubt."""
    alone = GuidelinePatterns([pattern.removeprefix("!")])
    seen = 0
    for base, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in (".git", "node_modules", ".venv", "__pycache__")]
        for name in names:
            seen += 1
            if seen > _MOST_FILES or alone.matches(Path(os.path.relpath(os.path.join(base, name), root)).as_posix()):
                return True
    return False


class NamedTarget(NamedTuple):
    """A target that a suite names, and where. The command line can name another to ask, but none to judge or to play
    the user: if one of these is nowhere, that is an error."""

    path: DataPath
    name: str
    severity: Severity = "error"


def suite_target_names(suite: Suite) -> Iterator[NamedTarget]:
    """Every target that a suite's own settings name."""
    if suite.spec.target is not None:
        yield NamedTarget(("target",), suite.spec.target, "warning")
    for index, name in enumerate(suite.spec.targets or ()):
        yield NamedTarget(("targets", index), name, "warning")
    if suite.spec.judge is not None:
        yield NamedTarget(("judge",), suite.spec.judge)
    for index, grader in enumerate(suite.spec.graders or ()):
        yield from (NamedTarget(suite.authored(path), name) for path, name in _judges(grader, ("graders", index)))
    live = _of_live(suite.spec.user, suite.spec.turns, ())
    yield from (NamedTarget(suite.authored(path), name) for path, name in live)


def case_target_names(case: Case, suite: Suite) -> Iterator[NamedTarget]:
    """Every target that a case names beside its suite."""
    if case.target is not None and case.target != suite.spec.target:
        yield NamedTarget((*case.path, "target"), case.target, "warning")
    authored = case.context.authored if case.path else tuple
    for index, grader in enumerate(case.graders[case.inherited_graders :]):
        judges = _judges(grader, (*case.path, "graders", index))
        yield from (NamedTarget(authored(path), name) for path, name in judges)
    turns = case.turns if case.spec.turns is not None else ()
    yield from (NamedTarget(authored(path), name) for path, name in _of_live(case.spec.user, turns, case.path))


def _of_live(user: UserSpec | None, turns: Sequence[TurnSpec] | None, path: DataPath) -> Iterator[tuple[DataPath, str]]:
    """The target that plays the user, and those that the graders of turns name."""
    if user is not None:
        yield (*path, "user", "target"), user.target
    for number, turn in enumerate(turns or ()):
        for index, grader in enumerate(turn.graders or ()):
            yield from _judges(grader, (*path, "turns", number, "graders", index))


def _judges(grader: Any, path: DataPath) -> Iterator[tuple[DataPath, str]]:
    """The targets that a grader and those inside of it name, in the long form or below its kind."""
    settings = grader.model_dump(exclude_unset=True) if isinstance(grader, LongGrader) else grader
    if not isinstance(settings, dict):
        return
    if "type" in settings:
        yield from _named(settings, path)
    else:
        for kind, value in settings.items():
            yield from _named(value, (*path, kind))


def _named(settings: Any, path: DataPath) -> Iterator[tuple[DataPath, str]]:
    if not isinstance(settings, dict):
        return
    if isinstance(settings.get("target"), str):
        yield (*path, "target"), settings["target"]
    panel = settings.get("targets")
    for index, name in enumerate(panel if isinstance(panel, list) else ()):
        if isinstance(name, str):
            yield (*path, "targets", index), name
    inner = settings.get("graders")
    for index, each in enumerate(inner if isinstance(inner, list) else ()):
        yield from _judges(each, (*path, "graders", index))


def unknown_target(
    named: NamedTarget, targets: Targets, file: str, source: Source, case_id: str | None
) -> Diagnostic | None:
    """What is wrong with a name that neither the targets `file` nor a `provider/model` gives a meaning."""
    from ..targets.choose import find_target

    if "{{" in named.name:
        return None  # filled in for each case
    try:
        find_target(named.name, targets, file=file)
    except UsageError as error:
        place, shown = source.place(named.path), shown_path(named.path)
        return Diagnostic(
            named.severity, "unknown-target", str(error), source.file, place, error.hint, shown, case_id
        )  # fmt: skip
    return None
