"""All graders of a case, those of its turns as well, each with a number that says where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..suite.case import Case
    from ..suite.format import GraderSpec

__all__ = ["GraderIndex", "numbered_graders"]

GraderIndex = int | tuple[int, int]
"""The number of a grader among those of its case, or of a turn, and there among the turn's."""


def numbered_graders(case: Case) -> Iterator[tuple[GraderIndex, GraderSpec]]:
    """The graders of the case, then those of each of its turns."""
    yield from enumerate(case.graders)
    for number, turn in enumerate(case.turns):
        for index, spec in enumerate(turn.graders or ()):
            yield (number, index), spec
