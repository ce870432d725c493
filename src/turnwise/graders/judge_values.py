"""What a prompt for a judge may show of an answer, by name. Every value is a text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..conversation.transcript import tool_call_line, transcript
from ..conversation.values import Message, Text
from .base import Submission

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["AGENTV_NAMES", "NAMES", "SHOWS_ANSWER", "judge_value", "shown_answer"]

_METADATA = "metadata."
_LONGEST_DATA = 200
AGENTV_NAMES: Mapping[str, str] = {"candidate_answer": "answer", "expected_outcome": "outcome"}
"""What AgentV calls differently, and our name for it."""

SHOWS_ANSWER = frozenset({"answer", "conversation", "output_messages"})
"""The names of which at least one shows the answer."""


def shown_answer(submission: Submission) -> str:
    """The answer as a judge reads it. One that only calls tools is shown as these calls; those of earlier turns of a
    live conversation are no part of it.

    >>> shown_answer(Submission(question="Q?", text="42"))
    '42'
    """
    if submission.text:
        return submission.text
    said = list(submission.output_messages)
    begin = max((index for index, each in enumerate(said, start=1) if each.get("role") == "user"), default=0)
    calls = [call for message in said[begin:] for call in message.get("tool_calls") or ()]
    return "\n".join(tool_call_line(call) for call in calls)


def judge_value(name: str, submission: Submission) -> str:
    """The text of that name; empty where the case has none.

    >>> judge_value("metadata.lang", Submission(question="Q?", text="42", metadata={"lang": "en"}))
    'en'
    """
    if name.startswith(_METADATA):
        return _shown(_inside(submission.metadata, name.removeprefix(_METADATA)))
    return _VALUES[name](submission)


def _conversation(submission: Submission) -> str:
    said = [Message(each["role"], (Text(each["content"]),)) for each in submission.turns]
    return transcript([*said, Message("assistant", (Text(shown_answer(submission)),))])


def _inside(metadata: Mapping[str, Any], name: str) -> Any:
    """The value of a key, or of a key inside of it; the whole name is tried first."""
    if name in metadata:
        return metadata[name]
    first, _, rest = name.partition(".")
    inner = metadata.get(first)
    return _inside(inner, rest) if rest and isinstance(inner, Mapping) else None


def _shown(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(_without_data(value), ensure_ascii=False, indent=2, default=str)


def _without_data(value: Any) -> Any:
    """The value with pictures and the like named by their size: a judge of texts reads no base64."""
    if isinstance(value, Mapping):
        return {key: _without_data(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_data(each) for each in value]
    is_data = isinstance(value, str) and value.startswith("data:") and len(value) > _LONGEST_DATA
    return f"{value.partition(',')[0]}, {len(value):,} characters" if is_data else value


_VALUES: Mapping[str, Callable[[Submission], str]] = {
    "answer": shown_answer,
    "conversation": _conversation,
    "diff": lambda submission: submission.diff or "",
    "expected_messages": lambda submission: _shown(list(submission.expected)),
    "input_messages": lambda submission: _shown(list(submission.input_messages)),
    "outcome": lambda submission: submission.outcome or "",
    "output_messages": lambda submission: _shown(list(submission.output_messages)),
    "question": lambda submission: submission.question,
    "reference_answer": lambda submission: submission.reference or "",
}
NAMES = frozenset(_VALUES)
"""Every name, apart from those that begin with `metadata.`."""
