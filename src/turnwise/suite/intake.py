"""One case from its raw value to a validated spec, with all that there is to say about it on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from ..conversation.authored import MessageDict, authored_messages
from ..conversation.resolve import resolve_messages
from ..conversation.values import is_blank
from ..diagnostics import Diagnostic, Severity
from ..errors import Problem, ResolutionError
from .case import Case, CaseContext, make_case, shared_fields
from .format import CaseSpec
from .paths import DataPath, shown_path
from .sources import Source
from .template import Filler

__all__ = ["MOST_DIAGNOSTICS", "AuthoredPath", "Intake", "as_written", "problem_diagnostic", "raw_id"]

MOST_DIAGNOSTICS = 1_000

AuthoredPath = Callable[[DataPath], DataPath]


def as_written(path: DataPath) -> DataPath:
    """The path of a file in our own format: nothing was translated."""
    return path


class Intake:
    """Takes the cases of one suite in and collects what is wrong with them in `diagnostics`."""

    def __init__(
        self, context: CaseContext, diagnostics: list[Diagnostic], authored: AuthoredPath = as_written
    ) -> None:
        self.context = context
        self._authored = authored  # for paths of what the suite gives all its cases
        self.diagnostics = diagnostics
        self._said: set[tuple[DataPath, str]] = set()

    def take(
        self, value: Any, source: Source, path: DataPath = (), authored: AuthoredPath = as_written
    ) -> CaseSpec | None:
        """The case that stands at `path` of its file, or None if it is not well formed."""
        try:
            spec = CaseSpec.model_validate(value)
        except ValidationError as error:
            from .explain import explain

            self.diagnostics += explain(
                error,
                data=value,
                model=CaseSpec,
                source=source,
                prefix=path,
                authored=authored,
                case_id=raw_id(value),
            )
            self._salvage(value, source, path, authored)
            return None
        problems = self._problems(spec, source)
        for problem in problems:
            if problem.path and problem.path[0] in shared_fields(spec):
                self._say_once(problem, spec.id, source.place(authored(path)).line)
            else:
                place = authored((*path, *problem.path))
                self.diagnostics.append(problem_diagnostic(problem, "error", source, place, spec.id))
        if any(problem.code == "unknown-variable" for problem in problems):
            self._salvage(value, source, path, authored, variables=False)
        if spec.metadata and "systemPrompt" in spec.metadata and not is_blank(spec.system_prompt or ""):
            message = "`system_prompt` and `metadata.systemPrompt` are both given: `system_prompt` is used"
            problem = Problem(("metadata", "systemPrompt"), "two-system-prompts", message, "remove one of them")
            place = authored((*path, *problem.path))
            self.diagnostics.append(problem_diagnostic(problem, "warning", source, place, spec.id))
        return spec

    def made(self, spec: CaseSpec, source: Source, path: DataPath = ()) -> Case | None:
        """The case of a spec. None, if it lacks messages or variables: that was said when it was taken in."""
        try:
            case = make_case(spec, self.context, source, path)
        except ResolutionError:
            return None
        return case if case.input_messages else None

    def _say_once(self, problem: Problem, case_id: str, line: int | None) -> None:
        """A problem of what the cases share stands in the suite, and is not repeated for each of them."""
        key = (problem.path, problem.message)
        if key not in self._said:
            self._said.add(key)
            source = self.context.source
            path = self._authored(problem.path)
            first = f"first met in the case {case_id!r}" + (f", line {line}" if line is not None else "")
            said = replace(problem, hint=f"{problem.hint} ({first})")
            self.diagnostics.append(problem_diagnostic(said, "error", source, path, None))

    def duplicate(self, case_id: str, first_line: int | None, source: Source, path: DataPath) -> None:
        """Say that an id is used twice."""
        message = f"the id {case_id!r} is used twice, first in line {first_line}"
        problem = Problem(path, "duplicate-id", message, "rename one of them")
        self.diagnostics.append(problem_diagnostic(problem, "error", source, path, case_id))

    def _salvage(
        self, value: Any, source: Source, path: DataPath, authored: AuthoredPath, variables: bool = True
    ) -> None:
        """The variables and files of a case that is not well formed: one mistake in it must not hide another."""
        if not isinstance(value, dict):
            return
        context = self.context
        given = [values for values in (context.suite.vars, value.get("vars")) if isinstance(values, dict)]
        filler = Filler({name: item for values in given for name, item in values.items()}) if given else None
        for field in ("input_messages", "expected_messages"):
            raw = value.get(field)
            messages = [_message_or_blank(message) for message in raw] if isinstance(raw, list) else []
            problems: list[Problem] = []
            if filler is not None:
                messages = filler.messages(messages, field)
                problems = filler.problems if variables else []
                filler.problems = []
            try:
                resolve_messages(
                    messages, field, files=context.files, guidelines=context.guidelines, folder=context.folder
                )
            except ResolutionError as error:
                # A path that still holds a variable is not known, and nothing false is said about it.
                problems += [problem for problem in error.problems if filler is None or "{{" not in problem.message]
            for problem in problems:
                place = authored((*path, *problem.path))
                self.diagnostics.append(problem_diagnostic(problem, "error", source, place, raw_id(value)))

    def _problems(self, spec: CaseSpec, source: Source) -> list[Problem]:
        """What the model of one case alone cannot tell."""
        suite = self.context.suite
        problems = []
        if spec.input_messages is None and suite.input_messages is None:
            hint = "add `input_messages: […]` to the case"
            if spec.vars is not None:
                hint = "add `input_messages: […]` to the suite, as a template for the `vars`, or to the case"
            problems.append(Problem((), "missing-key", "`input_messages` is missing", hint))
        prompt = spec.metadata.get("systemPrompt") if spec.metadata else None
        if prompt is not None and not isinstance(prompt, str):
            at = ("metadata", "systemPrompt")
            problems.append(Problem(at, "wrong-type", "`metadata.systemPrompt` must be text", "quote it"))
        if not problems and (spec.vars is not None or suite.vars is not None):
            try:
                make_case(spec, self.context, source)
            except ResolutionError as error:
                return self._without_inherited(spec, error.problems, source)
        return problems

    def _without_inherited(self, spec: CaseSpec, problems: Sequence[Problem], source: Source) -> list[Problem]:
        """A problem of a grader that was added from the suite is said there; the case's own count from its first."""
        inherited = len(self.context.suite.graders or ()) if spec.graders is not None and spec.inherit_graders else 0
        own = []
        for problem in problems:
            match problem.path:
                case ("graders", int() as index, *_) if index < inherited:
                    self._say_once(problem, spec.id, source.place(()).line if spec.vars else None)
                case ("graders", int() as index, *rest):
                    own.append(replace(problem, path=("graders", index - inherited, *rest)))
                case _:
                    own.append(problem)
        return own


def raw_id(value: Any) -> str | None:
    """The id of a case that may not be well formed."""
    case_id = value.get("id") if isinstance(value, dict) else None
    return case_id if isinstance(case_id, str) else None


def _message_or_blank(value: Any) -> MessageDict:
    """A message, or one without content in the place of one that is not well formed."""
    try:
        return authored_messages([value])[0]
    except ValidationError:
        return {"role": "user", "content": ""}


def problem_diagnostic(
    problem: Problem, severity: Severity, source: Source, path: DataPath, case_id: str | None
) -> Diagnostic:
    """A problem of a case, with the place that it has in the file."""
    place = source.place(path)
    return Diagnostic(
        severity, problem.code, problem.message, source.file, place, problem.hint, shown_path(path), case_id
    )
