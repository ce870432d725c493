"""What a run must know of graders before it begins: whom they ask, what they run, and which others they hold.

A grader is asked by what it can tell, so that nobody has to import the kinds that are not there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from pathlib import Path

    from ..errors import Problem
    from ..suite.format import GraderSpec
    from .base import Grader
    from .judge_prompt import Form

__all__ = [
    "AsksForVectors",
    "AsksJudges",
    "HoldsGraders",
    "JudgesByDeck",
    "PromptText",
    "RunsProgram",
    "Wanted",
    "WantedDeck",
]


@dataclass(frozen=True, slots=True)
class PromptText:
    """A prompt as a suite has it: a text, or the path of a file that holds it."""

    written: str
    form: Form = "braces"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Whom a grader asks: targets by name, None for the one that is usual for the case; another `model` of these; and
    a prompt, if it has one of its own."""

    targets: tuple[str | None, ...]
    model: str | None = None
    prompt: PromptText | None = None


@dataclass(frozen=True, slots=True)
class WantedDeck:
    """The deck that a grader judges by, as the suite names it; its target, if it names one; and its threshold."""

    path: str
    target: str | None
    threshold: float | None


@runtime_checkable
class AsksJudges(Protocol):
    """A grader that asks models. Whoever plans a run finds by this whom it needs."""

    def wanted(self) -> Wanted:
        """Whom it asks."""
        ...


@runtime_checkable
class JudgesByDeck(Protocol):
    """A grader that asks a model by a deck."""

    def wanted_deck(self) -> WantedDeck:
        """The deck that it needs."""
        ...


@runtime_checkable
class AsksForVectors(Protocol):
    """A grader that asks an embedding model."""

    def wanted_embedder(self) -> str | None:
        """The target that it asks."""
        ...


@runtime_checkable
class RunsProgram(Protocol):
    """A grader that runs a program."""

    def program_problem(self, suites: Path) -> Problem | None:
        """What is not there, for a suite in the folder `suites`, if that can be known before; None otherwise."""
        ...


@runtime_checkable
class HoldsGraders(Protocol):
    """A grader that has others inside."""

    def held_graders(self) -> Iterable[tuple[Grader, GraderSpec]]:
        """These, each with the spec that it was made of."""
        ...
