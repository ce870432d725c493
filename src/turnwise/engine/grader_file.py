"""A file of graders that stand in for those of every case: a YAML list under `graders`, and whom they ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from ..conversation.authored import FormatModel, Word
from ..conversation.files import shown_file
from ..conversation.guidelines import GuidelinePatterns
from ..conversation.resolve import resolve_messages
from ..diagnostics import Diagnostic
from ..errors import SuiteError
from ..suite.case import Case, CaseContext, make_case
from ..suite.explain import described, explain
from ..suite.format import CaseSpec, GraderSpec, SuiteHeader
from ..suite.project import Projects
from ..suite.reading import read_document, read_source_text
from ..suite.suite import Cases, Suite
from ..suite.template import Filler

__all__ = ["GraderFile", "read_grader_file"]


class _Graders(FormatModel):
    """What the file holds."""

    graders: list[GraderSpec] = Field(min_length=1, description="The graders.")
    judge: Word | None = Field(None, description="The target that judges where a grader names none.")


@dataclass(eq=False)
class _RegradedCase(Case):
    """A case under other graders. Its files are found from where it is written, the graders' from their own file."""

    written: CaseContext = field(repr=False, kw_only=True)

    @property
    def is_gone(self) -> bool:
        """Whether it was made of a record: then it is written nowhere but in the file of graders."""
        return self.written.source is self.context.source

    def _resolved(self, messages: Sequence[Any], field: str) -> Any:
        own = self.written
        return resolve_messages(messages, field, files=own.files, guidelines=own.guidelines, folder=own.folder)


@dataclass(frozen=True)
class GraderFile:
    """Graders for every case, and the context that they are found in."""

    path: Path
    context: CaseContext
    suite: Suite
    _contexts: dict[str | None, CaseContext] = field(default_factory=dict, repr=False, compare=False)

    def applied(self, case: Case) -> Case:
        """The case with these graders instead of its own. Raises `SuiteError` for a variable that it does not have."""
        specs: Sequence[GraderSpec] = self.context.suite.graders or ()
        inherited = len(specs)
        if case.has_vars:
            filler = Filler(case.vars)
            specs = filler.graders(specs)
            if filler.problems:
                raise SuiteError([self._said(case, problem) for problem in filler.problems])
        values = {name: getattr(case, name) for name in Case.__dataclass_fields__}
        turns = [turn.model_copy(update={"graders": None}) for turn in case.turns]
        changed = {"graders": specs, "inherited_graders": inherited, "context": self._found_in(case), "turns": turns}
        return _RegradedCase(**{**values, **changed}, written=case.context)

    def orphan(self, case_id: str, asked: Any) -> Case:
        """A case of which only the record is left: what was asked, and nothing that was expected."""
        spec = CaseSpec.model_validate({"id": case_id, "input_messages": _messages(asked)})
        return make_case(spec, self.context, self.context.source)

    def _found_in(self, case: Case) -> CaseContext:
        """Where the graders of a case are found. If the file names no judge, that of the case's suite is the usual."""
        header = self.context.suite
        judge = header.judge or case.context.suite.judge
        if judge not in self._contexts:
            self._contexts[judge] = replace(self.context, suite=header.model_copy(update={"judge": judge}))
        return self._contexts[judge]

    def _said(self, case: Case, problem: Any) -> Diagnostic:
        source, hint = self.context.source, f"{problem.hint} (case {case.id!r})"
        place = source.place(problem.path)
        return Diagnostic("error", problem.code, problem.message, source.file, place, hint, case_id=case.id)


def read_grader_file(path: Path) -> GraderFile:
    """Read and check the file. Raises `InputError` with every problem."""
    file = shown_file(path)
    raw, source = read_document(read_source_text(path, file), file)
    if not isinstance(raw, dict):
        message = f"a file of graders must be a mapping with `graders`, found {described(raw)}"
        hint = "write `graders:`, and the list below it"
        raise SuiteError([Diagnostic("error", "wrong-type", message, file, source.place(()), hint)])
    try:
        written = _Graders.model_validate(raw)
    except ValidationError as error:
        raise SuiteError(explain(error, data=raw, model=_Graders, source=source)) from error
    header = SuiteHeader.model_validate({"cases": []}).model_copy(
        update={"graders": written.graders, "judge": written.judge}
    )
    project, files, _ = Projects().of(path.parent)
    nothing = GuidelinePatterns(())
    context = CaseContext(header, path.parent, files, nothing, None, source)
    suite = Suite(path.stem, file, header, project, nothing, source, Cases(0, lambda: iter(())))
    return GraderFile(path, context, suite)


def _messages(asked: Any) -> list[dict[str, Any]]:
    """The conversation of a record, as far as it is plain text; else the transcript as one message."""
    found: Mapping[str, Any] = asked if isinstance(asked, Mapping) else {}
    prompt = found.get("chat_prompt")
    plain = [
        {"role": each["role"], "content": each["content"]}
        for each in (prompt if isinstance(prompt, list) else ())
        if isinstance(each, Mapping) and isinstance(each.get("role"), str) and _says(each.get("content"))
    ]
    turns = [each for each in plain if each["role"] != "system"]
    if isinstance(prompt, list) and turns and len(plain) == len(prompt):
        return turns
    question = found.get("question")
    return [{"role": "user", "content": question if _says(question) else "(not recorded)"}]


def _says(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip())
