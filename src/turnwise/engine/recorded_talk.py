"""A live conversation as a result records it: said again word by word, so that each of its replies can be graded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..providers.base import Usage
from ..providers.replay import recorded_usage
from .recorded_question import last_answer, whole_message
from .talk import BROKEN_OFF, Talk, message_of

if TYPE_CHECKING:
    from ..conversation.chat import ChatMessage
    from ..conversation.conversation import Conversation
    from ..providers.base import ProviderRequest, ProviderResponse
    from ..suite.case import Case

__all__ = ["recorded_talk"]

_ENDED = "the recorded conversation ends before"


def recorded_talk(
    case: Case,
    own: Conversation,
    first: ProviderRequest,
    last: ProviderRequest,
    response: ProviderResponse,
    live: Any,
) -> Talk:
    """The conversation of a result. `own` is what was said before the first reply, and `last` the request that was
    recorded. What a whole reply took is given to its last answer."""
    about: Mapping[str, Any] = live if isinstance(live, Mapping) else {}
    talk = Talk(case, first, why=str(about.get("why") or _ENDED), own=own)
    said = _said(response)
    final = last_answer(said)
    for index, message in enumerate(said):
        if message["role"] == "user":
            talk.say(message_of(message))
        elif message["role"] == "assistant":
            _add_answer(talk, message, last if index == final else talk.request(), response)
        else:
            talk.add([message])
    talk.ended = about["ended"] if about.get("ended") in BROKEN_OFF else None
    talk.exchanges[-1].response = replace(talk.exchanges[-1].response, text=response.text)
    _set_system(talk, last)
    _set_taken(talk, about)
    return talk


def _said(response: ProviderResponse) -> list[ChatMessage]:
    """All that was added; the answer at the end, if no message is the model's."""
    said = [whole_message(each) for each in response.messages]
    answer: ChatMessage = {"role": "assistant", "content": response.text}
    return said if any(each["role"] == "assistant" for each in said) else [*said, answer]


def _add_answer(talk: Talk, message: ChatMessage, request: ProviderRequest, response: ProviderResponse) -> None:
    content: Any = message["content"]
    own = replace(
        response,
        text=content if isinstance(content, str) else "",
        messages=[message],
        usage=Usage(),
        latency_ms=None,
        attempts=0,
    )
    talk.add_answer([message], request, own, None)


def _set_system(talk: Talk, last: ProviderRequest) -> None:
    """Give every request the system text that was sent: it may be the target's, of which the case does not know."""
    sent = _system(last.chat_prompt or ())
    before = talk.conversation(talk.exchanges[-1].end - 1)
    if sent == _system(before.chat_prompt(None, talk.case.context.default_system_prompt)):
        return
    for each in talk.exchanges[:-1]:
        turns = [message for message in each.request.chat_prompt or () if message["role"] != "system"]
        each.request = replace(each.request, chat_prompt=[*sent, *turns])


def _system(prompt: Sequence[ChatMessage]) -> list[ChatMessage]:
    return [message for message in prompt if message["role"] == "system"]


def _set_taken(talk: Talk, about: Mapping[str, Any]) -> None:
    """Give the last answer of each reply the time, the tokens and the cost of the whole reply, as far as recorded."""
    for index, exchanges in enumerate(talk.replies):
        latency, usage, cost = (
            _at(about.get(name), index) for name in ("turn_latencies_ms", "turn_usage", "turn_costs_usd")
        )
        for each in exchanges[:-1]:
            nothing = Usage(input_tokens=0, output_tokens=0)
            each.response, each.cost_usd = replace(each.response, latency_ms=0.0, usage=nothing), 0.0
        whole = exchanges[-1]
        whole.response = replace(whole.response, latency_ms=_number(latency), usage=recorded_usage(usage))
        whole.cost_usd = _number(cost)


def _at(values: Any, index: int) -> Any:
    return values[index] if isinstance(values, list) and index < len(values) else None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
