"""What the grader `similar` asks for, and which targets the graders of a case ask. Plain values."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .base import GradeError
from .inside import names_judge, similar_inside
from .numbered import GraderIndex, numbered_graders
from .specs import make_graders

if TYPE_CHECKING:
    from ..providers.base import Usage
    from ..suite.case import Case
    from ..suite.paths import DataPath

__all__ = ["Embed", "EmbeddingAnswer", "EmbeddingUse", "embedding_targets"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingAnswer:
    """The vectors of texts, in their order, and what they took. With a `failure` there are none."""

    vectors: Sequence[Sequence[float]] = ()
    failure: GradeError | None = None
    model: str | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None
    attempts: int = 1


Embed = Callable[[Sequence[str]], Awaitable[EmbeddingAnswer]]
"""Asks for the vectors of texts; raises nothing."""


@dataclass(frozen=True, slots=True)
class EmbeddingUse:
    """The target that a grader asks for vectors, and the grader's place below the one that holds it."""

    target: str
    inside: DataPath = ()


def embedding_targets(case: Case) -> Iterator[tuple[GraderIndex, EmbeddingUse]]:
    """The targets that `similar` graders of a case ask, each with the number of the grader that it is, or is inside
    of. A grader with a mistake asks none."""
    for index, spec in numbered_graders(case):
        if names_judge(spec):
            for grader in make_graders([spec])[0]:
                for inside, found in similar_inside(grader, spec):
                    if (target := found.wanted_embedder()) is not None:
                        yield index, EmbeddingUse(target, inside)
