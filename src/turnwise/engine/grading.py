"""Grading the answer to a case: its graders are made once where cases share them, and none of them can break a run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..conversation.chat import part_text
from ..conversation.transcript import tool_call_line
from ..conversation.values import File
from ..graders.base import Grade, GradeError, Grader, GraderSettings, Submission, reference_text
from ..graders.guarded import guarded
from ..graders.inside import holds_judge, names_judge
from ..graders.registry import Unusable
from ..graders.scoring import CaseScore, score_case
from ..graders.specs import make_graders
from ..providers.cost import answer_cost

if TYPE_CHECKING:
    from pathlib import Path

    from ..conversation.conversation import Conversation
    from ..conversation.values import Message
    from ..decks.sample import SampleMessage
    from ..providers.base import ProviderRequest, ProviderResponse
    from ..suite.case import Case, CaseContext
    from ..suite.format import GraderSpec
    from ..targets.settings import Prices
    from .conversing import AskUser
    from .judges import JudgeBook
    from .talk import Talk

__all__ = ["Grading", "made_graders", "turns_of"]

_NOT_GRADED = CaseScore(None, "ungraded", "the run collects answers only")


class Grading:
    """Grades answers. Without `graded` it leaves them ungraded; `judges` are whom graders ask."""

    def __init__(self, *, graded: bool = True, judges: JudgeBook | None = None) -> None:
        self._graded = graded
        self._judges = judges
        self._shared: dict[int, tuple[Sequence[GraderSpec], list[Grader]]] = {}

    async def grade(
        self,
        case: Case,
        request: ProviderRequest,
        response: ProviderResponse,
        threshold: float,
        prices: Prices | None,
        *,
        target: str | None = None,
        variant: str | None = None,
        cost: float | None = None,
        talk: Talk | None = None,
        unfit: GradeError | None = None,
        asked: Conversation | None = None,
    ) -> tuple[list[Grade], CaseScore]:
        """What each grader says, and what follows for the case. Raises `ResolutionError` if what is expected of the
        answer refers to a file that cannot be read. `cost` is what the answer cost, where prices do not say; `asked` is
        the conversation that it answers, where that is not the case's; `unfit` says why it cannot be graded."""
        if not self._graded:
            return [], _NOT_GRADED
        submission = _submission(case, request, response, prices)
        submission.target, submission.variant = target, variant
        if self._judges:
            submission.judges = self._judges.of(case.context, target)
            submission.turns = turns_of((asked or case.conversation).messages)
        if talk is not None:
            from .turn_grading import prepare

            prepare(submission, talk)
        submission.cost_usd = submission.cost_usd if cost is None else cost
        if unfit is not None:
            from .turn_grading import not_graded

            grades = [not_graded(grader, submission, unfit) for grader in self._graders(case)]
            return grades, score_case(grades, threshold)
        if talk is None:
            grades = [await guarded(grader, submission) for grader in self._graders(case)]
            return grades, score_case(grades, threshold)
        from .turn_grading import live_grades

        grades = await live_grades(submission, talk, self._graders(case), made_graders)
        score, why = score_case(grades, threshold), talk.broken_off
        # Graders that are left out by their own rule do not make a whole conversation of half of one.
        return grades, score if why is None or score.score is None else CaseScore(None, "ungraded", why)

    def is_judging(self, case: Case) -> bool:
        """Whether a model has a say in the grades of the case."""
        return bool(self._graded and self._judges) and (
            any(map(holds_judge, self._graders(case)))
            or any(map(names_judge, (spec for turn in case.turns for spec in turn.graders or ())))
        )

    def ask_user(self, target: str, context: CaseContext) -> AskUser | None:
        """How a target that plays the user is asked."""
        return None if self._judges is None else self._judges.ask_user(target, context)

    def _graders(self, case: Case) -> list[Grader]:
        specs = case.graders
        if specs is not case.context.suite.graders:
            return made_graders(specs)
        known = self._shared.get(id(specs))
        if known is None:
            known = self._shared[id(specs)] = specs, made_graders(specs)
        return known[1]


def made_graders(specs: Sequence[GraderSpec]) -> list[Grader]:
    """The graders; one that cannot be made leaves its case ungraded, rather than let the others decide."""
    graders, problems = make_graders(specs)
    if problems:
        settings = GraderSettings(name="graders", kind="graders")
        graders.append(Unusable(settings, "; ".join(problem.message for problem in problems)))
    return graders


def _submission(case: Case, request: ProviderRequest, response: ProviderResponse, prices: Prices | None) -> Submission:
    expected = case.expected.chat_prompt() if case.expected_messages else []
    root = case.context.files.root
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
        cost_usd=answer_cost(response, prices),
        case_id=case.id,
        tags=case.tags,
        is_case_gone=case.is_gone,
        trial=request.attempt,
        input_messages=request.chat_prompt or (),
        guideline_paths=_paths(request, root, guidelines=True),
        files=_paths(request, root, guidelines=False),
        vars=case.vars,
        folder=case.context.folder,
        root=root,
        workspace=None if response.agent is None else response.agent.folder,
        diff=None if response.agent is None else response.agent.changes.diff,
    )


def _paths(request: ProviderRequest, root: Path, *, guidelines: bool) -> list[str]:
    """The files of the request, or its guidelines, as full paths; an image that is part of a message has none."""
    return [
        os.path.normpath(root / each.path)
        for each in request.files
        if each.path is not None and (isinstance(each, File) and each.guideline) is guidelines
    ]


def turns_of(messages: Sequence[Message]) -> list[SampleMessage]:
    """What was said, as a judge reads it."""
    return [turn for each in messages if (turn := _turn(each)) is not None]


def _turn(message: Message) -> SampleMessage | None:
    """A turn as a judge reads it: texts, files and tool calls in words; None for one that says nothing."""
    lines = [*map(part_text, message.parts), *map(tool_call_line, message.tool_calls)]
    content = "\n".join(lines)
    return {"role": message.role, "content": content} if content else None
