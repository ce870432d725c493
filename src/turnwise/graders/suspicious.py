"""Graders that are well formed, but probably say something else than was meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import Problem
from ..suite.format import GraderSpec, LongGrader
from ..suite.template import Filler
from .registry import KINDS

__all__ = ["names_twice", "unfilled", "unused_threshold"]


def names_twice(specs: Sequence[GraderSpec]) -> Iterator[tuple[int, Problem]]:
    """Graders with a name that one before them has: their results cannot be told apart. Kinds are no names.

    >>> [index for index, _ in names_twice([{"contains": {"value": "a", "name": "n"}}, {"regex": {"name": "n"}}])]
    [1]
    """
    seen: set[str] = set()
    for index, spec in enumerate(specs):
        name = _given_name(spec)
        if name is not None and name in seen:
            message = f"two graders are named {name!r}: their results cannot be told apart"
            yield index, Problem((), "same-name", message, "rename one of them")
        seen |= {name} if name is not None else set()


def _given_name(spec: GraderSpec) -> str | None:
    if isinstance(spec, LongGrader):
        return spec.name
    settings: Any = next(iter(spec.values()), None) if isinstance(spec, dict) else None
    name = settings.get("name") if isinstance(settings, dict) else None
    return name if isinstance(name, str) else None


def unfilled(specs: Sequence[GraderSpec]) -> Iterator[tuple[int, Problem]]:
    """Placeholders of graders of a case that has no variables at all: they are taken as they stand.

    >>> [(index, problem.path) for index, problem in unfilled([{"contains": "{{ city }}"}])]
    [(0, ('contains',))]
    """
    for index, spec in enumerate(specs):
        if "{{" in _text_of(spec) and not _is_prompt(spec):
            filler = Filler({})
            filler.graders([spec])
            for each in filler.problems:
                message = "`{{ }}` is not filled in: the case has no `vars`"
                yield index, Problem(each.path[2:], "unfilled", message, "add `vars`, or remove the braces")


def _is_prompt(spec: GraderSpec) -> bool:
    """Whether it is the short form of a kind whose value is a prompt, which has placeholders of its own."""
    kind, value = next(iter(spec.items())) if isinstance(spec, dict) else ("", None)
    return isinstance(value, str) and kind in KINDS and KINDS[kind].main == "prompt"


def _text_of(spec: GraderSpec) -> str:
    if isinstance(spec, str):
        return spec
    if isinstance(spec, dict) and all(isinstance(value, str) for value in spec.values()):
        return next(iter(spec.values()), "")
    return str(spec.model_extra if isinstance(spec, LongGrader) else spec)


def unused_threshold(deck: str) -> Problem:
    """The grader of a deck has a threshold, and the deck's scale says itself what passes."""
    message = f"`threshold` has no effect: the [scale] of the deck {deck} has `pass`, which decides"
    return Problem((), "unused-threshold", message, "remove one of them")
