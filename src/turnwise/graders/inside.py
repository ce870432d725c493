"""Judges inside of other graders: a composite holds graders, and one with a condition stands around another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..suite.format import GraderSpec, LongGrader
from ..suite.paths import DataPath
from .base import Grader
from .negated import NegatedGrader
from .registry import KINDS, find_kind
from .roles import AsksForVectors, AsksJudges, HoldsGraders, JudgesByDeck, RunsProgram
from .turn_scope import TurnScoped
from .when import Conditional

__all__ = [
    "decks_inside",
    "holds_judge",
    "judges_inside",
    "names_judge",
    "names_program",
    "programs_inside",
    "similar_inside",
]


_AROUND = Conditional | TurnScoped | NegatedGrader
"""Graders that stand around another one."""


def holds_judge(grader: Grader) -> bool:
    """Whether the grader asks a model, or has one inside that does."""
    if isinstance(grader, _AROUND):
        return holds_judge(grader.grader)
    if isinstance(grader, HoldsGraders):
        return any(holds_judge(each) for each, _ in grader.held_graders())
    return isinstance(grader, JudgesByDeck | AsksForVectors | AsksJudges)


def decks_inside(grader: Grader, spec: GraderSpec) -> Iterator[tuple[DataPath, JudgesByDeck]]:
    """The decks of the grader that was made of a spec, each with its path below that spec."""
    return ((path, each) for path, each in _inside(grader, spec) if isinstance(each, JudgesByDeck))


def judges_inside(grader: Grader, spec: GraderSpec) -> Iterator[tuple[DataPath, AsksJudges]]:
    """Those that ask a model without a deck, each with its path below the spec."""
    return ((path, each) for path, each in _inside(grader, spec) if isinstance(each, AsksJudges))


def programs_inside(grader: Grader, spec: GraderSpec) -> Iterator[tuple[DataPath, RunsProgram]]:
    """Those that run a program, each with its path below the spec."""
    return ((path, each) for path, each in _inside(grader, spec) if isinstance(each, RunsProgram))


def similar_inside(grader: Grader, spec: GraderSpec) -> Iterator[tuple[DataPath, AsksForVectors]]:
    """Those that ask for vectors, each with its path below the spec."""
    return ((path, each) for path, each in _inside(grader, spec) if isinstance(each, AsksForVectors))


def _inside(grader: Grader, spec: GraderSpec, path: DataPath = ()) -> Iterator[tuple[DataPath, Grader]]:
    if isinstance(grader, _AROUND):
        yield from _inside(grader.grader, spec, path)
    elif isinstance(grader, HoldsGraders):
        settings = path if isinstance(spec, LongGrader) else (*path, _kind_and_settings(spec)[0])
        for index, (each, written) in enumerate(grader.held_graders()):
            yield from _inside(each, written, (*settings, "graders", index))
    else:
        yield path, grader


def names_judge(spec: Any) -> bool:
    """Whether a spec, as it is written, asks a model somewhere. Cheap: most graders are not made to find out.

    >>> names_judge({"composite": {"graders": [{"deck": "tone.deck.md"}]}}), names_judge({"contains": "deck"})
    (True, False)
    >>> names_judge("It is polite.")
    True
    """
    if isinstance(spec, str):
        return True
    kind, settings = _kind_and_settings(spec)
    if not isinstance(kind, str):
        return False
    if kind not in KINDS:
        return _plugin_asks(kind)
    if not KINDS[kind].holds_graders:
        return KINDS[kind].asks_model
    inner = settings.get("graders") if isinstance(settings, dict) else None
    return isinstance(inner, list) and any(map(names_judge, inner))


def names_program(spec: Any) -> bool:
    """Whether a spec, as it is written, runs a program somewhere. Cheap, as well."""
    kind, settings = _kind_and_settings(spec)
    if not isinstance(kind, str) or kind not in KINDS or not KINDS[kind].holds_graders:
        return bool(kind == "code")
    inner = settings.get("graders") if isinstance(settings, dict) else None
    return isinstance(inner, list) and any(map(names_program, inner))


def _plugin_asks(name: str) -> bool:
    from ..errors import UsageError

    try:
        kind = find_kind(name)
    except UsageError:
        return False  # said elsewhere
    return kind is not None and kind.asks_model


def _kind_and_settings(spec: Any) -> tuple[Any, Any]:
    if isinstance(spec, dict) and spec:
        return (spec["type"], spec) if "type" in spec else next(iter(spec.items()))
    return (spec.type, spec.model_extra) if isinstance(spec, LongGrader) else (None, None)
