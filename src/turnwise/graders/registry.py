"""Which kinds of graders there are, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from typing import Any

from ..conversation.authored import FormatModel
from .base import Grade, GradeError, Grader, GraderSettings, Submission
from .negated import negated
from .plugins import find_plugin, plugin_names

__all__ = ["DECK", "KINDS", "MOST_LEVELS", "SIMILAR", "GraderKind", "Unusable", "find_kind", "kind_names"]

DECK = "deck"
SIMILAR = "similar"
NOT = "not-"
MOST_LEVELS = 10
"""How deep graders may stand inside of graders."""


@dataclass(frozen=True)
class GraderKind:
    """A kind: the model of its options, and how to make a grader of them. `kind: x` is short for its option `main`.

    `options` and `grader` are those themselves, or the places of ours, as `module:name`: what no suite asks for is not
    imported. What must be known without that is said here.

    One that `holds_graders` has specs in `options.graders`, and is made with a third argument: the graders of these.
    One that `needs_target` must be told whom to ask. Of one that `asks_model`, the evidence is about `one_call`, or has
    a vote for each. The option `expected` may be absent: the text that the case expects takes its place.
    """

    options: str | type[FormatModel]
    grader: str | Callable[..., Grader]
    asks_model: bool = False
    one_call: bool = False
    main: str = "value"
    expected: str | None = None
    holds_graders: bool = False
    needs_target: bool = False
    is_negated: bool = False

    @cached_property
    def options_model(self) -> type[FormatModel]:
        """The model of its options."""
        return _imported(self.options) if isinstance(self.options, str) else self.options

    @cached_property
    def make(self) -> Callable[..., Grader]:
        """Makes a grader of options and settings."""
        make = _imported(self.grader) if isinstance(self.grader, str) else self.grader
        if not self.is_negated:
            return make
        return partial(make, negated=True) if self.grader == _CHECK else negated(make)


def _imported(place: str) -> Any:
    module, name = place.split(":")
    return getattr(import_module(f".{module}", __package__), name)


@dataclass(frozen=True, slots=True)
class Unusable:
    """Stands in for a grader that cannot be made: it grades nothing, so that its case stays ungraded."""

    settings: GraderSettings
    why: str

    async def grade(self, submission: Submission) -> Grade:  # noqa: ARG002
        """Say why there is no score."""
        return self.settings.ungraded(GradeError("not-available", self.why))


_CHECK = "check:CheckGrader"
_CHECKS: Mapping[str, GraderKind] = {
    "contains": GraderKind("text:Contains", _CHECK, expected="value"),
    "contains-all": GraderKind("text:ContainsAll", _CHECK),
    "contains-any": GraderKind("text:ContainsAny", _CHECK),
    "contains-json": GraderKind("contains_json:ContainsJson", _CHECK),
    "ends-with": GraderKind("text:EndsWith", _CHECK),
    "equals": GraderKind("text:Equals", _CHECK, expected="value"),
    "icontains": GraderKind("text:IContains", _CHECK, expected="value"),
    "icontains-all": GraderKind("text:IContainsAll", _CHECK),
    "icontains-any": GraderKind("text:IContainsAny", _CHECK),
    "is-json": GraderKind("is_json:IsJson", _CHECK),
    "length": GraderKind("length:Length", _CHECK),
    "regex": GraderKind("regex:Regex", _CHECK),
    "starts-with": GraderKind("text:StartsWith", _CHECK),
}
_MEASURES: Mapping[str, GraderKind] = {
    "bleu": GraderKind("bleu:Bleu", "bleu:BleuGrader", expected="value"),
    "levenshtein": GraderKind("levenshtein:Levenshtein", "levenshtein:LevenshteinGrader", expected="value"),
    "rouge-n": GraderKind("rouge:RougeN", "rouge:RougeNGrader", expected="value"),
    SIMILAR: GraderKind(
        "similar:Similar", "similar:SimilarGrader", asks_model=True, one_call=True, expected="value", needs_target=True
    ),
}
# The opposite of these says nothing that anybody wants: an answer that is slow, or wrong by half. Programs, functions
# and decks can be written the other way round.
_WITHOUT_OPPOSITE: Mapping[str, GraderKind] = {
    "code": GraderKind("code:CodeOptions", "code:CodeGrader", main="command"),
    "composite": GraderKind("composite:Composite", "composite:CompositeGrader", holds_graders=True),
    "cost": GraderKind("measures:Cost", _CHECK),
    DECK: GraderKind("deck:DeckOptions", "deck:DeckGrader", asks_model=True, one_call=True, main="path"),
    "fields": GraderKind("fields:Fields", "fields:FieldsGrader", expected="value"),
    "latency": GraderKind("measures:Latency", _CHECK),
    "llm_judge": GraderKind("llm_judge:LlmJudge", "llm_judge:LlmJudgeGrader", asks_model=True, main="prompt"),
    "pairwise": GraderKind(
        "pairwise:Pairwise", "pairwise:PairwiseGrader", asks_model=True, main="baseline", expected="baseline"
    ),
    "python": GraderKind("python:PythonOptions", "python:PythonGrader", main="function"),
    "rubric": GraderKind("rubric:Rubric", "rubric:RubricGrader", asks_model=True, main="lines"),
    "tool_calls": GraderKind("tool_call_options:ToolCalls", "tool_calls:ToolCallsGrader"),
}


def _opposites(kinds: Mapping[str, GraderKind]) -> dict[str, GraderKind]:
    return {NOT + name: replace(kind, is_negated=True) for name, kind in kinds.items()}


KINDS: Mapping[str, GraderKind] = {
    **_CHECKS,
    **_opposites(_CHECKS),
    **_MEASURES,
    **_opposites(_MEASURES),
    **_WITHOUT_OPPOSITE,
}
"""The kinds of this package, those that look at a text alone also in their `not-` form."""


def find_kind(name: str) -> GraderKind | None:
    """The kind of that name, ours or another package's. Raises `UsageError` for a package that cannot be used."""
    if name in KINDS:
        return KINDS[name]
    plugin = find_plugin(name)
    if plugin is None:
        return None
    return GraderKind(plugin.options_model, plugin.make, asks_model=bool(getattr(plugin, "asks_model", False)))


def kind_names() -> list[str]:
    """Every kind that can be used."""
    return sorted({*KINDS, *plugin_names()})
