"""From a deck and what it asks for to the messages that the grader gets. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..conversation.transcript import transcript
from ..conversation.values import Message, Text

if TYPE_CHECKING:
    from ..conversation.chat import ChatMessage
    from .deck import Deck
    from .sample import HumanLabel, Sample

__all__ = ["LABEL", "asks_for_label", "render_deck", "sample_contexts"]

LABEL = "expected"
"""The context that shows the human label to the grader."""
_CONVERSATION = ("fullConversation", "userMessage", "assistantResponse")


def render_deck(deck: Deck, values: Mapping[str, Any] | None = None, sample: Sample | None = None) -> list[ChatMessage]:
    """The deck as one system message, then a question and an answer for each context that has a value.

    A value is taken from `values`, else from the sample, else it is the context's default. A sample whose conversation
    no context shows is the last message: there is no grader that does not see what it grades.
    """
    from_sample = {} if sample is None else sample_contexts(sample)
    known = {context.name: context.default for context in deck.contexts if context.has_default}
    known |= from_sample | dict(values or {})
    messages: list[ChatMessage] = [{"role": "system", "content": deck.text}]
    for context in deck.contexts:
        if context.name in known:
            messages.append({"role": "assistant", "content": context.question})
            messages.append({"role": "user", "content": _as_text(known[context.name])})
    if sample is not None and not _is_seen(deck, from_sample):
        messages.append({"role": "user", "content": _transcript(sample)})
    return messages


def sample_contexts(sample: Sample) -> dict[str, Any]:
    """What a sample can answer: its conversation, its last turns of either side, and its label."""
    values: dict[str, Any] = {"fullConversation": [dict(message) for message in sample.messages]}
    for name, role in (("userMessage", "user"), ("assistantResponse", "assistant")):
        turns = [message["content"] for message in sample.messages if message["role"] == role]
        if turns:
            values[name] = turns[-1]
    if sample.expected is not None and sample.expected.value is not None:
        values[LABEL] = _label(sample.expected)
    elif sample.labels:
        values[LABEL] = [_label(label) for label in sample.labels]
    return values


def asks_for_label(deck: Deck) -> bool:
    """Whether the grader is shown the human label, so that its agreement with it means nothing."""
    return any(context.name == LABEL for context in deck.contexts)


def _is_seen(deck: Deck, from_sample: Mapping[str, Any]) -> bool:
    return any(context.name in _CONVERSATION and context.name in from_sample for context in deck.contexts)


def _transcript(sample: Sample) -> str:
    return transcript([Message(message["role"], (Text(message["content"]),)) for message in sample.messages])


def _label(label: HumanLabel) -> dict[str, Any]:
    """A label as it would be written in a file."""
    fields = {"score": label.score, "label": label.label, "reason": label.reason, "rater": label.rater}
    return {name: value for name, value in fields.items() if value is not None}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
