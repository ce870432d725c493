"""What is wrong with the graders of a case, and where it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..diagnostics import Diagnostic
from ..errors import Problem
from ..suite.case import Case
from ..suite.format import GraderSpec
from ..suite.intake import problem_diagnostic
from ..suite.paths import DataPath, shown_path
from ..suite.sources import Source
from .inside import names_judge, names_program, programs_inside
from .numbered import GraderIndex, numbered_graders
from .specs import expected_option, kind_without_value, make_graders
from .suspicious import names_twice, unfilled

__all__ = ["grader_diagnostics", "grader_place"]

_MOST_SUITES = 8


@dataclass(frozen=True, slots=True)
class _Known:
    """The graders of a suite, as they are written, and what is wrong with each of them."""

    specs: Sequence[GraderSpec]
    problems: dict[int, list[Problem]]
    diagnostics: tuple[Diagnostic, ...]
    without_value: tuple[str, ...]


# A suite's graders are checked once for all of its cases. The list is kept, so that its id is not used again.
_known: dict[int, _Known] = {}


def grader_diagnostics(case: Case) -> list[Diagnostic]:
    """Every problem of the graders of a case.

    What stands in the suite is said for each case in the same words, with the place in the suite and no `case_id`:
    whoever asks for several cases says it once. That a case lacks the text which a grader without `value` compares with
    is a problem of the case, wherever the grader stands.
    """
    inherited = case.inherited_graders
    found: list[Diagnostic] = []
    if inherited:
        known = _of_suite(case)
        found += known.diagnostics if case.graders is known.specs else _inherited(case, known)
        if known.without_value and not _has_expected_text(case):
            found += [_no_value(kind, case.source, case.path, case.id) for kind in known.without_value]
    if len(case.graders) > inherited:
        own = case.graders[inherited:]
        problems = make_graders(own)[1]
        found += [_diagnostic(problem, *case.where(problem.path)) for problem in problems]
        found += _own_without_value(case, own, {problem.path[1] for problem in problems})
    if case.turns:
        found += _of_turns(case)
    return [*found, *_of_judges(case), *_of_programs(case), *_suspicious(case)]


def grader_place(case: Case, index: GraderIndex, inside: DataPath = ()) -> tuple[Source, DataPath, str | None]:
    """Where the grader of that number, or the one `inside` of it, is written: in the case, or in the suite, and then it
    is not the case's own."""
    if isinstance(index, tuple):
        return case.where(("turns", index[0], "graders", index[1], *inside))
    own = index - case.inherited_graders
    if own >= 0:
        return case.where(("graders", own, *inside))
    of_suite = case.context.suite.graders or []
    if case.graders[index] == of_suite[index]:
        return case.context.source, case.context.authored(("graders", index, *inside)), None
    return case.source, case.path, case.id


def _of_turns(case: Case) -> list[Diagnostic]:
    """What is wrong with the graders that turns have."""
    found: list[Diagnostic] = []
    for number, turn in enumerate(case.turns):
        problems = make_graders(turn.graders or ())[1]
        found += [_diagnostic(each, *case.where(("turns", number, *each.path))) for each in problems]
        wrong = {each.path[1] for each in problems}
        for index, spec in enumerate(turn.graders or ()):
            if index not in wrong and turn.expected is None and (kind := kind_without_value(spec)) is not None:
                found.append(_no_value(kind, *case.where(("turns", number, "graders", index)), turn=True))
    return found


def _of_judges(case: Case) -> list[Diagnostic]:
    """What is wrong with what graders need that ask a model."""
    if not any(names_judge(spec) for _, spec in numbered_graders(case)):
        return []
    from .diagnose_judges import judge_diagnostics  # late: most suites ask no model

    return judge_diagnostics(case)


def _of_programs(case: Case) -> list[Diagnostic]:
    """Programs and folders of graders that are not there."""
    found: list[Diagnostic] = []
    for index, spec in numbered_graders(case):
        for grader in make_graders([spec])[0] if names_program(spec) else ():
            for inside, program in programs_inside(grader, spec):
                if (each := program.program_problem(case.context.folder)) is not None:
                    source, path, case_id = grader_place(case, index, inside)
                    found.append(problem_diagnostic(each, "error", source, path, case_id))
    return found


def _suspicious(case: Case) -> list[Diagnostic]:
    """What is legal, but probably not meant."""
    found: list[Diagnostic] = []
    for index, problem in (*names_twice(case.graders), *(() if case.has_vars else unfilled(case.graders))):
        source, path, case_id = grader_place(case, index, problem.path)
        found.append(problem_diagnostic(problem, "warning", source, path, case_id))
    return found


def _of_suite(case: Case) -> _Known:
    specs = case.context.suite.graders or []
    known = _known.get(id(specs))
    if known is None or known.specs is not specs:
        problems: dict[int, list[Problem]] = {}
        for problem in make_graders(specs)[1]:
            problems.setdefault(int(problem.path[1]), []).append(problem)
        said = [_of_its_suite(case, each) for of_one in problems.values() for each in of_one]
        kinds = (kind_without_value(spec) for index, spec in enumerate(specs) if index not in problems)
        known = _Known(specs, problems, tuple(said), tuple(dict.fromkeys(kind for kind in kinds if kind is not None)))
        while len(_known) >= _MOST_SUITES:
            del _known[next(iter(_known))]
        _known[id(specs)] = known
    return known


def _inherited(case: Case, known: _Known) -> list[Diagnostic]:
    """Problems of the suite's graders as the case has them: only what its variables brought about is its own."""
    found: list[Diagnostic] = []
    for index in range(case.inherited_graders):
        of_suite = known.problems.get(index, [])
        filled = case.graders[index]
        problems = of_suite
        if filled is not known.specs[index] and filled != known.specs[index]:
            problems = [_moved(problem, index) for problem in make_graders([filled])[1]]
        for problem in problems:
            if problem in of_suite:
                found.append(_of_its_suite(case, problem))
            else:
                found.append(_diagnostic(problem, case.source, case.path, case.id))
    return found


def _of_its_suite(case: Case, problem: Problem) -> Diagnostic:
    """A problem of what stands in the suite, at the place where its author wrote it."""
    path = case.context.authored(problem.path)
    return _diagnostic(problem, case.context.source, path, None)


def _own_without_value(case: Case, own: Sequence[GraderSpec], wrong: set[str | int]) -> list[Diagnostic]:
    """What the case's own graders lack; those that are wrong in another way are not said twice."""
    kinds = {index: kind_without_value(spec) for index, spec in enumerate(own) if index not in wrong}
    if not any(kinds.values()) or _has_expected_text(case):
        return []
    return [_no_value(kind, *case.where(("graders", index))) for index, kind in kinds.items() if kind is not None]


def _has_expected_text(case: Case) -> bool:
    """Whether the last expected message of the assistant says something; files are not opened to tell."""
    for message in reversed(case.expected_messages):
        if message["role"] == "assistant":
            return bool(message.get("content"))
    return False


def _no_value(kind: str, source: Source, path: DataPath, case_id: str | None, *, turn: bool = False) -> Diagnostic:
    option = expected_option(kind)
    other = "the turn an `expected` text" if turn else "the case `expected_messages` with a text of the assistant"
    return Diagnostic(
        "error",
        "grader-no-value",
        f"`{kind}` has no `{option}`, and the {'turn' if turn else 'case'} has no expected text to compare with",
        source.file,
        source.place(path),
        f"give the grader a `{option}`, or {other}",
        shown_path(path),
        case_id,
    )


def _moved(problem: Problem, index: int) -> Problem:
    return Problem(("graders", index, *problem.path[2:]), problem.code, problem.message, problem.hint)


def _diagnostic(problem: Problem, source: Source, path: DataPath, case_id: str | None) -> Diagnostic:
    last = problem.path[-1]
    at_key = problem.code == "unknown-key" or (problem.code == "unknown-grader" and last != "type")
    place = source.place(path, key=at_key and path[-1:] == (last,))
    return Diagnostic(
        "error", problem.code, problem.message, source.file, place, problem.hint, shown_path(path), case_id
    )
