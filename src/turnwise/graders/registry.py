"""Which kinds of graders there are, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from ..conversation.authored import FormatModel
from .base import Grade, GradeError, Grader, GraderSettings, Submission
from .bleu import Bleu, BleuGrader
from .check import CheckGrader
from .code import CodeGrader, CodeOptions
from .composite import Composite, CompositeGrader
from .contains_json import ContainsJson
from .deck import DeckGrader, DeckOptions
from .fields import Fields, FieldsGrader
from .is_json import IsJson
from .length import Length
from .levenshtein import Levenshtein, LevenshteinGrader
from .llm_judge import LlmJudge, LlmJudgeGrader
from .measures import Cost, Latency
from .negated import negated
from .pairwise import Pairwise, PairwiseGrader
from .plugins import find_plugin, plugin_names
from .python import PythonGrader, PythonOptions
from .regex import Regex
from .rouge import RougeN, RougeNGrader
from .rubric import Rubric, RubricGrader
from .similar import Similar, SimilarGrader
from .text import (
    Contains,
    ContainsAll,
    ContainsAny,
    EndsWith,
    Equals,
    IContains,
    IContainsAll,
    IContainsAny,
    StartsWith,
)
from .tool_call_options import ToolCalls
from .tool_calls import ToolCallsGrader

__all__ = ["DECK", "KINDS", "SIMILAR", "GraderKind", "Unusable", "find_kind", "kind_names"]

DECK = "deck"
SIMILAR = "similar"
NOT = "not-"


@dataclass(frozen=True, slots=True)
class GraderKind:
    """A kind: the model of its options, and how to make a grader of them. `kind: x` is short for its option `main`.

    One that `holds_graders` has specs in `options.graders`, and is made with a third argument: the graders of these.
    One that `needs_target` must be told whom to ask.
    """

    options_model: type[FormatModel]
    make: Callable[..., Grader]
    asks_model: bool = False
    main: str = "value"
    holds_graders: bool = False
    needs_target: bool = False


@dataclass(frozen=True, slots=True)
class Unusable:
    """Stands in for a grader that cannot be made: it grades nothing, so that its case stays ungraded."""

    settings: GraderSettings
    why: str

    async def grade(self, submission: Submission) -> Grade:  # noqa: ARG002
        """Say why there is no score."""
        return self.settings.ungraded(GradeError("not-available", self.why))


_CHECKS: Mapping[str, type[FormatModel]] = {
    "contains": Contains,
    "contains-all": ContainsAll,
    "contains-any": ContainsAny,
    "contains-json": ContainsJson,
    "ends-with": EndsWith,
    "equals": Equals,
    "icontains": IContains,
    "icontains-all": IContainsAll,
    "icontains-any": IContainsAny,
    "is-json": IsJson,
    "length": Length,
    "regex": Regex,
    "starts-with": StartsWith,
}
_MEASURES: Mapping[str, GraderKind] = {
    "bleu": GraderKind(Bleu, BleuGrader),
    "levenshtein": GraderKind(Levenshtein, LevenshteinGrader),
    "rouge-n": GraderKind(RougeN, RougeNGrader),
    SIMILAR: GraderKind(Similar, SimilarGrader, asks_model=True, needs_target=True),
}
# The opposite of these says nothing that anybody wants: an answer that is slow, or wrong by half. Programs, functions
# and decks can be written the other way round.
_WITHOUT_OPPOSITE: Mapping[str, GraderKind] = {
    "code": GraderKind(CodeOptions, CodeGrader, main="command"),
    "composite": GraderKind(Composite, CompositeGrader, holds_graders=True),
    "cost": GraderKind(Cost, CheckGrader),
    DECK: GraderKind(DeckOptions, DeckGrader, asks_model=True, main="path"),
    "fields": GraderKind(Fields, FieldsGrader),
    "latency": GraderKind(Latency, CheckGrader),
    "llm_judge": GraderKind(LlmJudge, LlmJudgeGrader, asks_model=True, main="prompt"),
    "pairwise": GraderKind(Pairwise, PairwiseGrader, asks_model=True, main="baseline"),
    "python": GraderKind(PythonOptions, PythonGrader, main="function"),
    "rubric": GraderKind(Rubric, RubricGrader, asks_model=True, main="lines"),
    "tool_calls": GraderKind(ToolCalls, ToolCallsGrader),
}
KINDS: Mapping[str, GraderKind] = {
    **{name: GraderKind(model, CheckGrader) for name, model in _CHECKS.items()},
    **{NOT + name: GraderKind(model, partial(CheckGrader, negated=True)) for name, model in _CHECKS.items()},
    **_MEASURES,
    **{NOT + name: replace(kind, make=negated(kind.make)) for name, kind in _MEASURES.items()},
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
    return GraderKind(plugin.options_model, plugin.make, bool(getattr(plugin, "asks_model", False)))


def kind_names() -> list[str]:
    """Every kind that can be used."""
    return sorted({*KINDS, *plugin_names()})
