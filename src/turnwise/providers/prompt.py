"""From a request to the neutral messages that an LLM API is sent. Pure, and the same for every API."""

from __future__ import annotations

from typing import Any

from ..conversation.chat import GUIDELINES_HEADER, ChatPrompt, with_system
from ..conversation.values import is_blank
from ..errors import PromptError
from .base import ProviderRequest

__all__ = ["messages_to_send"]


def messages_to_send(request: ProviderRequest, default_system_prompt: str | None) -> ChatPrompt:
    """The chat prompt, if the request has one; else one made of its question and guidelines.

    Raises `PromptError` for a chat prompt that is none: callers of the Python API may hand in anything.

    >>> messages_to_send(ProviderRequest(question="Hello", guidelines=["Be brief"]), "Be kind.")
    [{'role': 'system', 'content': 'Be kind.\\n\\n[[ ## Guidelines ## ]]\\n\\nBe brief'},
     {'role': 'user', 'content': 'Hello'}]
    """
    if request.chat_prompt is not None:
        _check(request.chat_prompt)
        return with_system(request.chat_prompt, default_system_prompt)
    configured = request.metadata.get("system_prompt")
    system = configured if isinstance(configured, str) and not is_blank(configured) else default_system_prompt
    pieces = [] if system is None or is_blank(system) else [system]
    if request.guidelines:
        pieces.append(f"{GUIDELINES_HEADER}\n\n" + "\n\n".join(request.guidelines))
    messages: ChatPrompt = [{"role": "user", "content": request.question}]
    return [{"role": "system", "content": "\n\n".join(pieces)}, *messages] if pieces else messages


def _check(prompt: Any) -> None:
    if not isinstance(prompt, list) or not prompt:
        raise PromptError(
            "nothing to send",
            f"a chat prompt is a list of messages, found {prompt!r:.40}",
            hint="leave `chat_prompt` out, or give it a message",
        )
    for index, message in enumerate(prompt):
        if isinstance(message, dict) and isinstance(message.get("role"), str) and "content" in message:
            content = message["content"]
            if content is None or isinstance(content, str | list):
                continue
        raise PromptError(
            "unknown content",
            f"message {index + 1} of the chat prompt is no message",
            hint="a message is {role: text, content: a text, a list of parts, or null}",
            message_index=index,
        )
