"""Grading the answer to a case: its graders are made once where cases share them, and none of them can break a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..graders.base import Grade, GradeError, Grader, GraderSettings, Submission, reference_text
from ..graders.registry import NotYet
from ..graders.scoring import CaseScore, score_case
from ..graders.specs import NOT_YET, make_graders
from ..providers.cost import cost_usd
from ..providers.python_import import raised_at, shown_error

if TYPE_CHECKING:
    from ..providers.base import ProviderRequest, ProviderResponse
    from ..suite.case import Case
    from ..suite.format import GraderSpec
    from ..targets.settings import Prices

__all__ = ["Grading"]

_NOT_GRADED = CaseScore(None, "ungraded", "the run collects answers only")


class Grading:
    """Grades answers. Without `graded` it leaves them ungraded."""

    def __init__(self, *, graded: bool = True) -> None:
        self._graded = graded
        self._shared: dict[int, tuple[Sequence[GraderSpec], list[Grader]]] = {}

    async def grade(
        self, case: Case, request: ProviderRequest, response: ProviderResponse, threshold: float, prices: Prices | None
    ) -> tuple[list[Grade], CaseScore]:
        """What each grader says, and what follows for the case. Raises `ResolutionError` if what is expected of the
        answer refers to a file that cannot be read."""
        if not self._graded:
            return [], _NOT_GRADED
        submission = _submission(case, request, response, prices)
        grades = [await _guarded(grader, submission) for grader in self._graders(case)]
        return grades, score_case(grades, threshold)

    def _graders(self, case: Case) -> list[Grader]:
        specs = case.graders
        if specs is not case.context.suite.graders:
            return _made(specs)
        known = self._shared.get(id(specs))
        if known is None:
            known = self._shared[id(specs)] = specs, _made(specs)
        return known[1]


def _made(specs: Sequence[GraderSpec]) -> list[Grader]:
    """The graders; one that cannot be made leaves its case ungraded, rather than let the others decide."""
    graders, problems = make_graders(specs)
    broken = [problem for problem in problems if problem.code != NOT_YET]
    if broken:
        settings = GraderSettings(name="graders", kind="graders")
        graders.append(NotYet(settings, "; ".join(problem.message for problem in broken)))
    return graders


def _submission(case: Case, request: ProviderRequest, response: ProviderResponse, prices: Prices | None) -> Submission:
    expected = case.expected.chat_prompt() if case.expected_messages else []
    return Submission(
        question=request.question,
        text=response.text,
        output_messages=response.messages,
        expected=expected,
        reference=reference_text(expected),
        outcome=case.outcome,
        metadata=case.metadata,
        usage=response.usage,
        latency_ms=response.latency_ms,
        cost_usd=cost_usd(response.usage, prices),
        case_id=case.id,
    )


async def _guarded(grader: Grader, submission: Submission) -> Grade:
    try:
        return await grader.grade(submission)
    except Exception as error:  # noqa: BLE001  (a grader of another package may raise anything)
        settings = getattr(grader, "settings", None)
        if not isinstance(settings, GraderSettings):
            settings = GraderSettings(name=type(grader).__name__, kind=type(grader).__name__)
        return settings.ungraded(GradeError("crash", f"{shown_error(error)} ({raised_at(error)})"))
