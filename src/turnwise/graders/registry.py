"""Which kinds of graders there are, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..conversation.authored import FormatModel
from .base import Grade, GradeError, Grader, GraderSettings, Submission
from .check import CheckGrader
from .deck import DeckGrader, DeckOptions
from .is_json import IsJson
from .plugins import find_plugin, plugin_names
from .regex import Regex
from .text import Contains, ContainsAll, ContainsAny, Equals, IContains, StartsWith

__all__ = ["DECK", "KINDS", "LATER", "GraderKind", "NotYet", "find_kind", "is_later", "kind_names"]

DECK = "deck"
NOT = "not-"
LATER = frozenset(
    {
        "bleu",
        "code",
        "cost",
        "latency",
        "length",
        "levenshtein",
        "llm_judge",
        "python",
        "rouge-n",
        "rubric",
        "similar",
        "tool_calls",
    }
)
"""Kinds that a suite may name, but that this version cannot use."""


@dataclass(frozen=True, slots=True)
class GraderKind:
    """A kind: the model of its options, and how to make a grader of them. `main` is the option that `kind: value`
    sets."""

    options_model: type[FormatModel]
    make: Callable[[Any, GraderSettings], Grader]
    asks_model: bool = False
    main: str = "value"


@dataclass(frozen=True, slots=True)
class NotYet:
    """Stands in for a grader that this version cannot use: it grades nothing, so that its case stays ungraded."""

    settings: GraderSettings
    why: str

    async def grade(self, submission: Submission) -> Grade:  # noqa: ARG002
        """Say why there is no score."""
        return self.settings.ungraded(GradeError("not-available", self.why))


_CHECKS: Mapping[str, type[FormatModel]] = {
    "contains": Contains,
    "contains-all": ContainsAll,
    "contains-any": ContainsAny,
    "equals": Equals,
    "icontains": IContains,
    "is-json": IsJson,
    "regex": Regex,
    "starts-with": StartsWith,
}
KINDS: Mapping[str, GraderKind] = {
    **{name: GraderKind(model, CheckGrader) for name, model in _CHECKS.items()},
    **{NOT + name: GraderKind(model, partial(CheckGrader, negated=True)) for name, model in _CHECKS.items()},
    DECK: GraderKind(DeckOptions, DeckGrader, asks_model=True, main="path"),
}
"""The kinds of this package, each check also in its `not-` form."""


def find_kind(name: str) -> GraderKind | None:
    """The kind of that name, ours or another package's. Raises `UsageError` for a package that cannot be used."""
    if name in KINDS:
        return KINDS[name]
    plugin = find_plugin(name)
    if plugin is None:
        return None
    return GraderKind(plugin.options_model, plugin.make, bool(getattr(plugin, "asks_model", False)))


def is_later(name: str) -> bool:
    """Whether it is a kind that this version cannot use.

    >>> is_later("llm_judge"), is_later("not-similar"), is_later("contains")
    (True, True, False)
    """
    return name.removeprefix(NOT) in LATER


def kind_names() -> list[str]:
    """Every kind that can be used."""
    return sorted({*KINDS, *plugin_names()})
