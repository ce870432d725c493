"""A live conversation as a result records it: said again word by word, so that each of its replies can be graded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..providers.base import Usage
from .talk import Talk, message_of

if TYPE_CHECKING:
    from ..conversation.chat import ChatMessage
    from ..providers.base import ProviderRequest, ProviderResponse
    from ..suite.case import Case

__all__ = ["asked_first", "recorded_talk"]

_ENDED = "the recorded conversation ends before"


def recorded_talk(
    case: Case, first: ProviderRequest, last: ProviderRequest, response: ProviderResponse, live: Any
) -> Talk:
    """The conversation of a result. `last` is the request that was recorded; what single replies took is not, apart
    from their times."""
    about: Mapping[str, Any] = live if isinstance(live, Mapping) else {}
    talk = Talk(case, first, why=str(about.get("why") or _ENDED))
    answer: ChatMessage = {"role": "assistant", "content": response.text}
    said = [_whole(each) for each in response.messages] or [answer]
    if all(each["role"] != "assistant" for each in said):
        said.append(answer)
    final = max(index for index, each in enumerate(said) if each["role"] == "assistant")
    for index, message in enumerate(said):
        if message["role"] == "user":
            talk.say(message_of(message))
        elif message["role"] == "assistant":
            _add_answer(talk, message, last if index == final else talk.request(), response)
        else:
            talk.add([message])
    talk.exchanges[-1].response = replace(talk.exchanges[-1].response, text=response.text)
    _set_times(talk, about.get("turn_latencies_ms"))
    return talk


def asked_first(record: Mapping[str, Any]) -> Any:
    """What a result says of its request, without what a live conversation had added before the last answer."""
    asked, added = record.get("raw_request"), record.get("output_messages")
    prompt = asked.get("chat_prompt") if isinstance(asked, Mapping) else None
    if not isinstance(record.get("live"), Mapping) or not isinstance(prompt, list) or not isinstance(added, list):
        return asked
    answers = [index for index, each in enumerate(added) if isinstance(each, Mapping) and each.get("role") != "tool"]
    before = answers[-1] if answers else 0
    return {**record["raw_request"], "chat_prompt": prompt[: len(prompt) - before]}


def _whole(message: Mapping[str, Any]) -> ChatMessage:
    whole: Any = {"content": None, "role": "assistant", **message}
    return whole  # type: ignore[no-any-return]


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


def _set_times(talk: Talk, latencies: Any) -> None:
    """Give the last answer of each reply the time of the whole reply."""
    known: Sequence[Any] = latencies if isinstance(latencies, list) else ()
    for exchanges, latency in zip(talk.replies, known, strict=False):
        if isinstance(latency, int | float) and not isinstance(latency, bool):
            for each in exchanges:
                each.response = replace(each.response, latency_ms=0.0)
            exchanges[-1].response = replace(exchanges[-1].response, latency_ms=float(latency))
