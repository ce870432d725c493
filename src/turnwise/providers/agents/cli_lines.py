"""The lines of JSON between Turnwise and a program that takes many requests: written, and read with suspicion. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...conversation.chat import ChatMessage
from ..base import Usage
from .fields import dollars, tokens
from .session import Session

if TYPE_CHECKING:
    from .kind import Task

__all__ = ["Reading", "read_lines", "request_lines"]

_ROLES = ("assistant", "tool", "user", "system")
_MOST_KEYS = 12
_COUNTS = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_tokens", "reasoning_tokens")


@dataclass(slots=True)
class Reading:
    """What a program answered. `double` are ids that it answered more than once, `unknown` those that nobody asked
    for, `junk` the first line that is none of the protocol's."""

    answers: dict[str, Session] = field(default_factory=dict)
    double: set[str] = field(default_factory=set)
    unknown: list[str] = field(default_factory=list)
    junk: str | None = None


def request_lines(tasks: Iterable[tuple[str, Task]]) -> bytes:
    """The input of the program: one line for each request."""
    return b"".join(json.dumps(_request(identity, task)).encode("ascii") + b"\n" for identity, task in tasks)


def read_lines(output: bytes, ids: Collection[str]) -> Reading:
    """What the program wrote. It may answer in any order.

    >>> found = read_lines(b'{"id": "b", "answer": "2"}\\n{"id": "c", "answer": ""}\\noops', {"a", "b"})
    >>> found.answers["b"].text, found.unknown, found.junk
    ('2', ['c'], 'oops')
    """
    reading = Reading()
    for line in output.decode("utf-8", "replace").split("\n"):
        if not line.strip():
            continue
        answer = _object(line)
        identity = None if answer is None else answer.get("id")
        if answer is None or not isinstance(identity, str):
            reading.junk = reading.junk or line.strip()
        elif identity not in ids:
            reading.unknown.append(identity)
        elif identity in reading.answers:
            reading.double.add(identity)
        else:
            reading.answers[identity] = _session(answer)
    return reading


def _request(identity: str, task: Task) -> dict[str, Any]:
    return {
        "id": identity,
        "case_id": task.request.case_id,
        "attempt": task.request.attempt,
        "prompt": task.prompt,
        "question": task.request.question,
        "files": [str(each.path) for each in task.files],
        "guidelines": [str(each.path) for each in task.files if each.guideline],
        "workspace": str(task.folder),
    }


def _object(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _session(answer: dict[str, Any]) -> Session:
    session = Session(usage=_usage(answer.get("usage")), cost_usd=dollars(answer.get("cost_usd")))
    match answer:
        case {"error": error} if error is not None:
            session.failure = error if isinstance(error, str) and error.strip() else json.dumps(error)
        case {"messages": messages} if messages is not None and not (messages == [] and "answer" in answer):
            _take_messages(messages, session)
        case {"answer": str(text)}:
            session.text = text.rstrip("\r\n")
        case _:
            keys = ", ".join(f"`{key}`" for key in list(answer)[:_MOST_KEYS])
            session.misfit = f"wrote a line with neither a text as `answer`, nor `messages`, nor `error`; it has {keys}"
    if isinstance(answer.get("answer"), str) and session.messages:
        session.text = answer["answer"].rstrip("\r\n")
    return session


def _take_messages(messages: Any, session: Session) -> None:
    """All messages; the text of the assistant's last is the answer."""
    if not isinstance(messages, list) or not all(_is_message(each) for each in messages):
        session.misfit = f"wrote `messages` that are not a list of messages: {json.dumps(messages)}"
        return
    session.messages = [_message(each) for each in messages]
    said = [
        each["content"] for each in messages if each["role"] == "assistant" and isinstance(each.get("content"), str)
    ]
    session.text = said[-1] if said else None


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("role") not in _ROLES:
        return False
    content, calls = value.get("content"), value.get("tool_calls")
    told = content is None or isinstance(content, str)
    return told and (calls is None or (isinstance(calls, list) and all(isinstance(each, dict) for each in calls)))


def _message(value: dict[str, Any]) -> ChatMessage:
    message: ChatMessage = {"role": value["role"], "content": value.get("content")}
    if value.get("tool_calls"):
        message["tool_calls"] = value["tool_calls"]
    if isinstance(value.get("tool_call_id"), str):
        message["tool_call_id"] = value["tool_call_id"]
    return message


def _usage(value: Any) -> Usage:
    counts = value if isinstance(value, dict) else {}
    return Usage(**{name: tokens(counts.get(name)) for name in _COUNTS})
