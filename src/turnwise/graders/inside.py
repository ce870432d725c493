"""Decks inside of other graders: a composite holds graders, and one with a condition stands around another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..suite.format import GraderSpec, LongGrader
from ..suite.paths import DataPath
from .base import Grader
from .composite import CompositeGrader
from .deck import DeckGrader
from .registry import DECK, KINDS
from .when import Conditional

__all__ = ["decks_inside", "holds_deck", "names_deck"]


def holds_deck(grader: Grader) -> bool:
    """Whether the grader is a deck, or has one inside."""
    if isinstance(grader, Conditional):
        return holds_deck(grader.grader)
    if isinstance(grader, CompositeGrader):
        return any(map(holds_deck, grader.graders))
    return isinstance(grader, DeckGrader)


def decks_inside(grader: Grader, spec: GraderSpec, path: DataPath = ()) -> Iterator[tuple[DataPath, DeckGrader]]:
    """The decks of the grader that was made of a spec, each with its path below that spec."""
    if isinstance(grader, Conditional):
        yield from decks_inside(grader.grader, spec, path)
    elif isinstance(grader, DeckGrader):
        yield path, grader
    elif isinstance(grader, CompositeGrader):
        settings = path if isinstance(spec, LongGrader) else (*path, grader.settings.kind)
        for index, (each, written) in enumerate(zip(grader.graders, grader.options.graders, strict=True)):
            yield from decks_inside(each, written, (*settings, "graders", index))


def names_deck(spec: Any) -> bool:
    """Whether a spec, as it is written, names a deck somewhere. Cheap: most graders are not made to find out.

    >>> names_deck({"composite": {"graders": [{"deck": "tone.deck.md"}]}}), names_deck({"contains": "deck"})
    (True, False)
    """
    kind, settings = _kind_and_settings(spec)
    if kind == DECK:
        return True
    holds = isinstance(kind, str) and kind in KINDS and KINDS[kind].holds_graders
    inner = settings.get("graders") if holds and isinstance(settings, dict) else None
    return isinstance(inner, list) and any(map(names_deck, inner))


def _kind_and_settings(spec: Any) -> tuple[Any, Any]:
    if isinstance(spec, LongGrader):
        return spec.type, spec.model_extra
    if not isinstance(spec, dict) or not spec:
        return None, None
    return (spec["type"], spec) if "type" in spec else next(iter(spec.items()))
