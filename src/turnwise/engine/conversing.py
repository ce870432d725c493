"""Carrying a live conversation on: the model is asked, tools and the user answer, until it is over."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from ..conversation.values import Message, Text, is_blank
from ..errors import ApplicationError, Problem
from ..programs.words import clean_text
from ..providers.agents.opening import AGENTS
from ..providers.cost import answer_cost
from ..suite.intake import problem_diagnostic
from .simulated_user import is_over, user_request
from .talk import Exchange, Talk

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic
    from ..graders.judges import JudgeAnswer
    from ..providers.base import ProviderRequest
    from ..suite.case import Case
    from ..suite.live_format import UserSpec
    from .asking import Asked
    from .plan import Work

__all__ = ["AskUser", "begin_talk", "converse", "refused_talk"]

AskUser = Callable[["ProviderRequest"], Awaitable["JudgeAnswer"]]

_LONGEST_SHOWN = 300
_INSTEAD = "ask a model, write the conversation as `input_messages`, or leave the case out with --exclude"


def begin_talk(work: Work, request: ProviderRequest, system_prompt: str | None) -> Talk:
    """The conversation of a piece of work that was not begun. Raises `ResolutionError` if a turn refers to a file that
    cannot be read. That an agent cannot have one was said when the run was planned."""
    assert work.case.turn_messages is not None  # reads their files, so that one which is missing is said first
    return Talk(work.case, request, system_prompt)


def refused_talk(case: Case, name: str, provider: str) -> list[Diagnostic]:
    """What keeps a target of a provider from having the live conversation of a case; nothing if it has none."""
    if not case.is_live or provider not in AGENTS:
        return []
    message = f"{name} is an agent ({provider}), and agents cannot have live conversations yet"
    problem = Problem((), "agent-turns", message, _INSTEAD)
    part = "turns" if case.turns else "user" if case.user is not None else "tools"
    source, path, case_id = case.where((part,))
    return [problem_diagnostic(problem, "error", source, path, case_id)]


async def converse(talk: Talk, asked: Asked, ask_user: AskUser | None, took: Callable[[Exchange], None]) -> None:
    """Go on until the conversation is over; `took` is told of every answer. Raises `ProviderError`: what was said
    before stays in the talk, and calling this again goes on from there."""
    while talk.ended is None:
        if talk.is_users:
            await _users_turn(talk, ask_user)
            continue
        request = talk.request()
        response = await asked.provider.ask(request)
        from_cache = response.attempts == 0
        cost = 0.0 if from_cache and asked.paid else answer_cost(response, asked.prices)
        took(talk.take(request, response, cost))


async def _users_turn(talk: Talk, ask_user: AskUser | None) -> None:
    user = talk.case.user
    if (message := talk.scripted()) is not None:
        talk.say(message)
    elif user is None:
        talk.end("answered", "the model has answered the last turn")
    elif talk.simulated >= user.max_turns:
        talk.end("max-turns", f"the simulated user has written {user.max_turns} messages, which is `max_turns`")
    else:
        await _simulated_turn(talk, user, ask_user)


async def _simulated_turn(talk: Talk, user: UserSpec, ask_user: AskUser | None) -> None:
    if ask_user is None:
        raise ApplicationError(f"there is nobody to play the user: the target {user.target!r} is not open")
    first = talk.first
    request = user_request(user, talk.conversation().messages, case_id=first.case_id, attempt=first.attempt)
    answer = await ask_user(request)
    talk.played.append(answer)
    said = answer.text
    if said is None or is_blank(said):
        why = "an empty message" if said is not None else clean_text(answer.detail, _LONGEST_SHOWN) or "no message"
        failed = ApplicationError(f"the simulated user ({user.target}) gave no message for turn {talk.turn + 1}: {why}")
        failed.attempts = 0  # of the model
        raise failed
    if is_over(user, said):
        talk.last_words = said
        talk.end("stop-word", f"the simulated user said {user.stop}")
    else:
        talk.say(Message("user", (Text(said),)), simulated=True)
