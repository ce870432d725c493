"""A model that plays the user: what it is asked, and what its answer means. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..conversation.chat import ChatPrompt, part_text
from ..conversation.transcript import transcript
from ..providers.base import ProviderRequest

if TYPE_CHECKING:
    from ..conversation.values import Message
    from ..suite.live_format import UserSpec

__all__ = ["exchanged", "is_over", "user_prompt", "user_request"]

_OTHER = {"user": "assistant", "assistant": "user"}
# Some APIs take no conversation that begins with the assistant, and the user has spoken first.
_OPENING = "Begin the conversation."
_SILENCE = "(The assistant said nothing.)"


def user_request(
    user: UserSpec, messages: Sequence[Message], *, case_id: str | None = None, attempt: int = 1
) -> ProviderRequest:
    """What the one who plays the user is asked: to go on with the conversation, from the other side."""
    prompt: ChatPrompt = [{"role": "system", "content": user_prompt(user)}]
    said = exchanged(messages)
    if not said or said[0]["role"] != "user":
        prompt.append({"role": "user", "content": _OPENING})
    prompt += said
    return ProviderRequest(question=transcript(messages), chat_prompt=prompt, case_id=case_id, attempt=attempt)


def user_prompt(user: UserSpec) -> str:
    """The rules of the game, with who the user is and what it wants."""
    persona = [f"Who you are: {user.persona}"] if user.persona and not user.persona.isspace() else []
    return "\n\n".join(
        [
            "You play a person who talks with an assistant. The messages that you get are the assistant's; yours are "
            "the person's. Stay in this role: do not say that you play it, and do not do the assistant's work.",
            *persona,
            f"What you want: {user.goal}",
            "Write the person's next message and nothing else: no quotation marks, no name in front, no remarks.",
            f"As soon as you have what you want, or see that you will not get it, answer {user.stop} and nothing else.",
        ]
    )


def exchanged(messages: Sequence[Message]) -> ChatPrompt:
    """What the two have said, each in the role of the other. What a person would not see is left out: system texts,
    tool calls and their results.

    >>> from turnwise.conversation.values import Message, Text
    >>> exchanged([Message("user", (Text("Hi"),)), Message("assistant", (Text("Hello"),))])
    [{'role': 'assistant', 'content': 'Hi'}, {'role': 'user', 'content': 'Hello'}]
    """
    return [
        {"role": _OTHER[message.role], "content": "\n".join(map(part_text, message.parts)) or _SILENCE}
        for message in messages
        if message.role in _OTHER and (message.parts or (message.role == "assistant" and not message.tool_calls))
    ]


def is_over(user: UserSpec, said: str) -> bool:
    """Whether the user ends the conversation; what else it says then is kept, and not sent."""
    return user.stop in said
