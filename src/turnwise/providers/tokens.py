"""How many tokens a request will take, roughly, before anybody has counted them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..conversation.chat import ChatContent, ChatPrompt
from .base import ProviderRequest, Tool

__all__ = ["USUAL_ANSWER", "answer_tokens", "characters_of", "estimated_tokens", "prompt_tokens", "tokens_of"]

USUAL_ANSWER = 256
"""Tokens of an answer that nothing limits."""

_CHARACTERS_PER_TOKEN = 4
_USUAL_IMAGE = 1000


def prompt_tokens(request: ProviderRequest) -> int:
    """Tokens that are sent: four characters each, and a thousand an image.

    >>> prompt_tokens(ProviderRequest(question="What is the capital of France?"))
    7
    """
    prompt: ChatPrompt = request.chat_prompt or [{"role": "user", "content": request.question}]
    return tokens_of(characters_of(prompt, request.tools))


def characters_of(messages: ChatPrompt, tools: Sequence[Tool] = ()) -> int:
    """Characters of messages and tools; an image counts as many as its tokens would have."""
    characters = sum(_length(message["content"]) for message in messages)
    return characters + sum(len(str(tool.parameters)) + len(tool.description or "") for tool in tools)


def tokens_of(characters: int) -> int:
    """Tokens of so many characters. Add up characters first: what is rounded off each text would add up as well.

    >>> tokens_of(0), tokens_of(3), tokens_of(30)
    (0, 1, 7)
    """
    return max(1, characters // _CHARACTERS_PER_TOKEN) if characters else 0


def answer_tokens(request: ProviderRequest, max_output_tokens: int | None) -> int | None:
    """The most tokens that come back, by the request's limit or else the target's; None without a limit."""
    return request.settings.max_output_tokens or max_output_tokens


def estimated_tokens(request: ProviderRequest, max_output_tokens: int | None) -> int:
    """Both together, with 256 for an answer that nothing limits."""
    return prompt_tokens(request) + (answer_tokens(request, max_output_tokens) or USUAL_ANSWER)


def _length(content: ChatContent) -> int:
    if isinstance(content, list):
        texts = (len(part.get("text", "")) for part in content)
        return sum(texts) + sum(_USUAL_IMAGE * _CHARACTERS_PER_TOKEN for part in content if part.get("type") == "image")
    return len(content or "")
