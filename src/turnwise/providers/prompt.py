"""From a request to the neutral messages that an LLM API is sent. Pure, and the same for every API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..conversation.chat import GUIDELINES_HEADER, ChatPrompt, with_system
from ..conversation.values import is_blank
from ..errors import PromptError
from .base import ProviderRequest, Settings, Tool

__all__ = ["messages_to_send"]


def messages_to_send(request: ProviderRequest, default_system_prompt: str | None) -> ChatPrompt:
    """The chat prompt, if the request has one; else one made of its question and guidelines.

    Raises `PromptError` for a chat prompt that is none: callers of the Python API may hand in anything.

    >>> messages_to_send(ProviderRequest(question="Hello", guidelines=["Be brief"]), "Be kind.")
    [{'role': 'system', 'content': 'Be kind.\\n\\n[[ ## Guidelines ## ]]\\n\\nBe brief'},
     {'role': 'user', 'content': 'Hello'}]
    """
    _check_request(request)
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


def _check_request(request: ProviderRequest) -> None:
    """Callers of the Python API may hand in anything."""
    checks = (
        ("question", isinstance(request.question, str), "a text"),
        ("guidelines", all(isinstance(each, str) for each in request.guidelines), "texts"),
        ("settings", isinstance(request.settings, Settings), "a `Settings`"),
        ("tools", all(isinstance(each, Tool) for each in request.tools), "a list of `Tool`"),
        ("output_schema", request.output_schema is None or isinstance(request.output_schema, Mapping), "a mapping"),
    )
    for name, fits, expected in checks:
        if not fits:
            raise PromptError("request", f"`{name}` of the request must be {expected}", hint="see ProviderRequest")


def _check(prompt: Any) -> None:
    if prompt == []:
        raise PromptError("nothing to send", "the chat prompt holds no message", hint="give it one, or leave it out")
    if not isinstance(prompt, list):
        raise PromptError(
            "nothing to send",
            f"a chat prompt is a list of messages, found {type(prompt).__name__}",
            hint="leave `chat_prompt` out, or give it messages",
        )
    for index, message in enumerate(prompt):
        if isinstance(message, dict) and isinstance(message.get("role"), str) and "content" in message:
            content = message["content"]
            if (content is None or isinstance(content, str | list)) and (
                len(message) == 2 or _has_sound_extras(message)
            ):
                continue
        raise PromptError(
            "unknown content",
            f"message {index + 1} of the chat prompt is no message",
            hint="a message is {role: text, content: a text, a list of parts, or null}",
            message_index=index,
        )


def _has_sound_extras(message: dict[str, Any]) -> bool:
    calls = message.get("tool_calls")
    texts = (message.get("name"), message.get("tool_call_id"))
    return all(each is None or isinstance(each, str) for each in texts) and (
        calls is None or (isinstance(calls, list) and all(isinstance(call, dict) for call in calls))
    )
