"""The variants of a suite: other ways to ask the same cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..conversation.authored import ImageSegment, Segment, TextSegment
from ..conversation.values import is_blank
from ..diagnostics import Diagnostic, Severity
from ..errors import FileReferenceError
from .case import Case, make_case
from .paths import DataPath, shown_path
from .template import Filler

if TYPE_CHECKING:
    from .format import SuiteHeader
    from .suite import Suite

__all__ = ["Variant", "has_system_message", "variant_problems", "variants_of", "with_variant"]


@dataclass(frozen=True)
class Variant:
    """What one variant changes; what it does not have stays as the suite, the case or the target has it."""

    name: str
    system_prompt: str | None = None
    vars: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


def variants_of(header: SuiteHeader) -> tuple[Variant, ...]:
    """The variants of a suite, in the order of the file; none if it has no `variants`.

    >>> from turnwise.suite.format import SuiteHeader
    >>> header = SuiteHeader.model_validate({"variants": {"plain": None, "cold": {"settings": {"temperature": 0}}}, "cases": []})
    >>> [(variant.name, dict(variant.settings)) for variant in variants_of(header)]
    [('plain', {}), ('cold', {'temperature': 0})]
    """  # noqa: E501
    return tuple(
        Variant(name) if spec is None else Variant(name, spec.system_prompt, spec.vars or {}, spec.settings or {})
        for name, spec in (header.variants or {}).items()
    )


def with_variant(case: Case, variant: Variant) -> Case:
    """The case as the variant asks it: filled with its variables, under its system prompt.

    Variables that the case does not have are left out: `variant_problems` names them. Raises `ResolutionError` for a
    system prompt with a variable that the case does not have.
    """
    values = {name: value for name, value in variant.vars.items() if name in case.vars}
    changes: dict[str, Any] = {"vars": {**(case.spec.vars or {}), **values}} if values else {}
    if variant.system_prompt is not None:
        changes["system_prompt"] = variant.system_prompt
    if not changes:
        return case
    return make_case(case.spec.model_copy(update=changes), case.context, case.source, case.path)


def variant_problems(suite: Suite) -> list[Diagnostic]:
    """What would have no effect, or cannot be filled in, each said once with the number of cases it concerns."""
    findings = [_Findings(variant) for variant in variants_of(suite.spec) if variant.vars or variant.system_prompt]
    if not findings:
        return []
    for case in suite.cases:
        for each in findings:
            each.look_at(case)
    return [diagnostic for each in findings for diagnostic in each.diagnostics(suite)]


@dataclass
class _Tally:
    """How many cases something is true of, and the first of them."""

    count: int = 0
    first: str = ""

    def add(self, case: Case) -> None:
        self.count += 1
        self.first = self.first or case.id


class _Findings:
    """What one variant means for the cases of its suite."""

    def __init__(self, variant: Variant) -> None:
        self._variant = variant
        self._cases = 0
        self._without_effect = _Tally()
        self._lacking = {name: _Tally() for name in variant.vars}
        self._unknown: dict[str, tuple[str | None, _Tally]] = {}  # by message: its hint, and the cases
        self._known: set[str] = set()

    def look_at(self, case: Case) -> None:
        self._cases += 1
        self._known.update(case.vars)
        for name, tally in self._lacking.items():
            if name not in case.vars:
                tally.add(case)
        if self._variant.system_prompt is None:
            return
        if has_system_message(case):
            self._without_effect.add(case)
        if case.has_vars:
            filler = Filler(case.vars)
            filler.text(self._variant.system_prompt, ())
            for problem in {problem.message: problem for problem in filler.problems}.values():
                self._unknown.setdefault(problem.message, (problem.hint, _Tally()))[1].add(case)

    def diagnostics(self, suite: Suite) -> Iterator[Diagnostic]:
        """What there is to say, with its place in the suite."""
        name = self._variant.name
        for message, (hint, tally) in self._unknown.items():
            hint = f"{hint} ({self._cases_of(tally)})"
            yield _diagnostic(suite, "error", "unknown-variable", message, hint, ("variants", name, "system_prompt"))
        for variable, tally in self._lacking.items():
            if tally.count:
                yield self._unused(variable, tally, suite)
        if self._without_effect.count:
            tally = self._without_effect
            message = (
                f"the system prompt of the variant {name!r} has no effect on {self._cases_of(tally)}: "
                "explicit system messages replace it"
            )
            hint = "put the text of the system message into a variable, and give the variant another value for it"
            yield _diagnostic(suite, "warning", "variant-no-effect", message, hint, ("variants", name, "system_prompt"))

    def _unused(self, variable: str, tally: _Tally, suite: Suite) -> Diagnostic:
        """An error where no case has the variable: it is misspelt, or was never used."""
        from .explain import did_you_mean

        severity: Severity = "error" if tally.count == self._cases else "warning"
        hint = "the variant leaves those cases as they are"
        if severity == "error":
            near = did_you_mean(variable, sorted(self._known), "the cases have")
            hint = near if self._known else "give it a value in `vars` of the suite, and use it in a text"
        message = (
            f"the variable `{variable}` of the variant {self._variant.name!r} is unknown to {self._cases_of(tally)}"
        )
        path = ("variants", self._variant.name, "vars", variable)
        return _diagnostic(suite, severity, "unused-variable", message, hint, path, key=True)

    def _cases_of(self, tally: _Tally) -> str:
        if tally.count == 1:
            return f"the case {tally.first!r}"
        cases = f"all {tally.count:,} cases" if tally.count == self._cases else f"{tally.count:,} cases"
        return f"{cases}, first {tally.first!r}"


def has_system_message(case: Case) -> bool:
    """Whether a message replaces configured prompts: one of guidelines alone does not."""
    system = [message.get("content") for message in case.input_messages if message["role"] == "system"]
    return any(
        _counts(segment, case)
        for content in system
        for segment in ([content] if isinstance(content, str) else content or ())
    )


def _counts(segment: Segment, case: Case) -> bool:
    if isinstance(segment, str | TextSegment):
        text = segment if isinstance(segment, str) else segment.text or segment.value or ""
        return not is_blank(text)
    context = case.context
    try:
        path = context.files.relative(context.files.find(segment.value, context.folder))
    except FileReferenceError:
        return True  # what is wrong with the file is said elsewhere
    return isinstance(segment, ImageSegment) or not context.guidelines.matches(path)


def _diagnostic(
    suite: Suite, severity: Severity, code: str, message: str, hint: str, path: DataPath, key: bool = False
) -> Diagnostic:
    place = suite.source.place(path, key)
    return Diagnostic(severity, code, message, suite.source.file, place, hint, shown_path(path))
