"""What the record of a result says was asked, apart from what a live conversation had added to it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..conversation.chat import chat_prompt
from ..conversation.conversation import Conversation
from ..conversation.transcript import transcript
from ..conversation.values import Message, Text
from .talk import message_of

if TYPE_CHECKING:
    from ..conversation.chat import ChatMessage
    from ..suite.case import Case

__all__ = ["asked_first", "last_answer", "recorded_conversation", "whole_message"]


def recorded_conversation(case: Case, record: Mapping[str, Any]) -> Conversation:
    """What was asked first: the case's own conversation, if it is still that, or else the recorded messages."""
    asked, now = asked_first(record), case.conversation
    question = asked.get("question") if isinstance(asked, Mapping) else None
    if not isinstance(question, str):
        return now
    added = _values(_before_last(record))
    recorded = _values(asked.get("chat_prompt"))
    for messages in (now.messages, recorded):
        if messages and transcript([*messages, *added]) == question:
            return Conversation(tuple(messages), now.system_prompt)
    # The system text of a prompt may be the target's: nobody said it.
    said = [each for each in recorded if each.role != "system"]
    return Conversation(tuple(said) or (Message("user", (Text(question),)),), now.system_prompt)


def asked_first(record: Mapping[str, Any]) -> Any:
    """What a result says of its request, without what a live conversation had added before the last answer."""
    asked = record.get("raw_request")
    prompt = asked.get("chat_prompt") if isinstance(asked, Mapping) else None
    if not isinstance(prompt, list):
        return asked
    added = chat_prompt(_values(_before_last(record)))
    return {**record["raw_request"], "chat_prompt": prompt[: len(prompt) - len(added)]}


def last_answer(messages: Sequence[Mapping[str, Any]]) -> int:
    """The index of the last message of the model; 0 if there is none."""
    roles = [each.get("role", "assistant") for each in messages]
    return max((index for index, role in enumerate(roles) if role == "assistant"), default=0)


def whole_message(message: Mapping[str, Any]) -> ChatMessage:
    """A recorded message with all that a message has to have."""
    whole: Any = {"content": None, "role": "assistant", **message}
    return whole  # type: ignore[no-any-return]


def _before_last(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What a live conversation had added before its last answer."""
    added = record.get("output_messages") if isinstance(record.get("live"), Mapping) else None
    said = [each for each in added if isinstance(each, Mapping)] if isinstance(added, list) else []
    return said[: last_answer(said)]


def _values(messages: Any) -> list[Message]:
    found = messages if isinstance(messages, list) else []
    return [message_of(whole_message(each)) for each in found if isinstance(each, Mapping)]
