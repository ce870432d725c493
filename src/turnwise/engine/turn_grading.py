"""Grading a live conversation: each reply as a submission of its own, and the graders that turns have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..graders.base import Grade, GradeError, Grader, GraderSettings, Submission, reference_text
from ..graders.guarded import guarded
from ..graders.when import Conditional
from .grading import turns_of
from .talk_sums import sum_known, sum_usage

if TYPE_CHECKING:
    from ..conversation.chat import ChatMessage
    from ..decks.sample import SampleMessage
    from ..suite.format import GraderSpec
    from .talk import Exchange, Talk

__all__ = ["live_grades", "not_graded", "prepare"]

MakeGraders = Callable[[Sequence["GraderSpec"]], list[Grader]]


def prepare(submission: Submission, talk: Talk) -> None:
    """Complete the submission of a whole conversation: what it cost, what was asked before all that was added, what was
    said before the last answer, and its replies one by one."""
    submission.cost_usd = talk.cost_usd
    submission.input_messages = talk.exchanges[0].request.chat_prompt or ()
    if submission.judges is not None:
        submission.turns = _said_before(talk, talk.exchanges[-1])
    submission.replies = [_reply(submission, talk, exchanges) for exchanges in talk.replies]


async def live_grades(submission: Submission, talk: Talk, graders: Sequence[Grader], make: MakeGraders) -> list[Grade]:
    """What the graders of the case say of the final answer, and then those of turns. A conversation that broke off has
    no final answer."""
    if talk.broken_off is None:
        grades = [await guarded(grader, submission) for grader in graders]
    else:
        error = GradeError("broken-off", _why_broken_off(talk))
        grades = [not_graded(grader, submission, error) for grader in graders]
    return grades + await _turn_grades(submission, talk, make)


async def _turn_grades(submission: Submission, talk: Talk, make: MakeGraders) -> list[Grade]:
    """What the graders of turns say, each of the reply to its own turn. The reply to `input_messages` is turn 1, so
    the first of `turns` is turn 2."""
    grades: list[Grade] = []
    for number, turn in enumerate(talk.case.turns, start=2):
        for grader in make(turn.graders or ()):
            grade = await _graded(grader, submission, talk, number)
            grades.append(replace(grade, name=f"turn {number}: {grade.name}"))
    return grades


async def _graded(grader: Grader, submission: Submission, talk: Talk, number: int) -> Grade:
    whole = len(submission.replies) - (talk.broken_off is not None)  # that of the turn that broke off is no reply
    if number <= whole:
        reply = submission.replies[number - 1]
        own = _expected(talk, number)
        return await guarded(grader, replace(reply, expected=own, reference=reference_text(own)))
    return not_graded(grader, submission, _no_reply(talk, number))


def _no_reply(talk: Talk, number: int) -> GradeError:
    """Why there is no reply to a turn. After a break, all graders say the same words: a reason has them once."""
    if talk.broken_off is None:
        return GradeError("turn-not-reached", f"there is no turn {number}: {talk.why}")
    return GradeError("broken-off" if number == talk.turn else "turn-not-reached", _why_broken_off(talk))


def _why_broken_off(talk: Talk) -> str:
    return f"the conversation broke off in turn {talk.turn}: {talk.broken_off}"


def not_graded(grader: Grader, submission: Submission, error: GradeError) -> Grade:
    """The grade for a reply that there is not. A grader that would not be for it is left out, as for any other."""
    if isinstance(grader, Conditional) and (unused := grader.unused(submission)) is not None:
        return unused
    settings = getattr(grader, "settings", None)
    if not isinstance(settings, GraderSettings):
        settings = GraderSettings(name=type(grader).__name__, kind=type(grader).__name__)
    return settings.ungraded(error)


def _reply(submission: Submission, talk: Talk, exchanges: Sequence[Exchange]) -> Submission:
    """The reply to one turn, with all that its tools brought, as if the conversation had ended with it."""
    last = exchanges[-1]
    is_final = last is talk.exchanges[-1]
    own = _expected(talk, last.turn)
    responses = [each.response for each in exchanges]
    return replace(
        submission,
        question=last.request.question,
        input_messages=exchanges[0].request.chat_prompt or (),
        text=last.response.text,
        output_messages=talk.messages[last.start : last.end],
        expected=own or (submission.expected if is_final else ()),
        reference=reference_text(own) if own else submission.reference if is_final else None,
        usage=sum_usage([each.usage for each in responses]),
        latency_ms=sum_known([each.latency_ms for each in responses]),
        cost_usd=sum_known([each.cost_usd for each in exchanges]),
        turns=_said_before(talk, last) if submission.judges is not None else (),
        replies=(),
    )


def _expected(talk: Talk, number: int) -> list[ChatMessage]:
    """The good reply that a turn gives; turn 1 is no turn of the script."""
    turns = talk.case.turns
    text = turns[number - 2].expected if 2 <= number <= len(turns) + 1 else None
    return [] if text is None else [{"role": "assistant", "content": text}]


def _said_before(talk: Talk, exchange: Exchange) -> list[SampleMessage]:
    """What was said before the answer of an exchange, as a judge reads it."""
    before = exchange.end - max(len(exchange.response.messages), 1)
    return turns_of(talk.conversation(before).messages)
