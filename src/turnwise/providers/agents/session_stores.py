"""Sessions as agents keep them for themselves, which differ from what they print. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ...programs.program import Ran
from ..wire.base import text_of
from .claude_code import ClaudeCode
from .codex import codex_usage
from .counts import count
from .fields import content_text
from .kind import Task
from .pi import Pi
from .session import Session

__all__ = ["read_pi", "read_rollout", "read_transcript"]

_SHELLS = ("exec_command", "local_shell", "shell", "shell_command")


def read_rollout(events: Iterable[dict[str, Any]], session: Session) -> None:
    """Read one of Codex's rollout files. Calls have the names that `codex exec --json` has for them."""
    for event in events:
        match event:
            case {"type": "session_meta", "payload": {"id": str(identity)}}:
                session.session_id = identity
            case {"type": "turn_context", "payload": {"model": str(model)}}:
                session.model = model
            case {"type": "response_item", "payload": {"type": str(kind)} as item}:
                _take_item(kind, item, session)
            case {"type": "event_msg", "payload": {"type": str(kind)} as item}:
                _take_event(kind, item, session)


def _take_item(kind: str, item: dict[str, Any], session: Session) -> None:
    identity = text_of(item.get("call_id")) or f"item_{len(session.messages)}"
    match kind:
        case "message" if item.get("role") == "assistant":
            session.text = _said(item.get("content"))
            session.say(session.text)
        case "function_call" | "custom_tool_call" if isinstance(item.get("name"), str):
            session.call(identity, *_call(item["name"], item.get("arguments", item.get("input"))))
        case "function_call_output" | "custom_tool_call_output":
            session.result(identity, content_text(item.get("output")))


def _said(content: Any) -> str:
    parts = content if isinstance(content, list) else []
    return "".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def _call(name: str, given: Any) -> tuple[str, Any]:
    try:
        arguments = json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        arguments = {"input": given}  # a tool whose input is plain text, such as a patch
    if not isinstance(arguments, dict):
        return name, {"input": arguments}
    if name in _SHELLS:
        return "shell", {"command" if key == "cmd" else key: value for key, value in arguments.items()}
    return name, arguments


def _take_event(kind: str, item: dict[str, Any], session: Session) -> None:
    match kind, item:
        case "token_count", {"info": {"total_token_usage": dict(usage)}}:
            session.usage = codex_usage(usage)
        case "task_complete", {"last_agent_message": str(text)}:
            session.text = text
        case "error", {"message": str(message)}:
            session.failure = message
        case "turn_aborted", _:
            session.failure = f"the turn was aborted: {item.get('reason', 'it does not say why')}"


def read_transcript(events: Iterable[dict[str, Any]], task: Task) -> Session:
    """Read one of Claude Code's transcripts: the same messages as it prints, without the result at the end."""
    told = [event for event in events if event.get("isSidechain") is not True]
    spoken = [event for event in told if event.get("type") in ("assistant", "user")]
    identity = next((event["sessionId"] for event in told if isinstance(event.get("sessionId"), str)), None)
    start = {"type": "system", "subtype": "init", "session_id": identity}
    return ClaudeCode().read(_as_printed([start, *spoken, _result(spoken)]), task)


def _result(spoken: list[dict[str, Any]]) -> dict[str, Any]:
    """What Claude Code would say at the end: the last text, and what was used."""
    last: dict[str, Any] = next((event for event in reversed(spoken) if _text(event)), {})
    return {
        "type": "result",
        "subtype": "success",
        "is_error": last.get("isApiErrorMessage") is True,
        "result": _text(last) or None,
        "usage": _used(spoken),
    }


def _text(event: dict[str, Any]) -> str:
    message = event.get("message") if event.get("type") == "assistant" else None
    return _said(message.get("content")) if isinstance(message, dict) else ""


def _used(spoken: list[dict[str, Any]]) -> dict[str, int]:
    """Added up. A message takes a line for each of its parts, and each says what the whole message used."""
    by_message: dict[tuple[Any, int], dict[str, Any]] = {}
    turn = 0
    for event in spoken:
        turn += event["type"] == "user"
        match event:
            case {"type": "assistant", "message": {"usage": dict(usage)} as message}:
                by_message[str(message.get("id")), turn] = usage
    total: dict[str, int] = {}
    for usage in by_message.values():
        for key in usage:
            if (number := count(usage, key)) is not None:
                total[key] = total.get(key, 0) + number
    return total


def read_pi(events: Iterable[dict[str, Any]], task: Task) -> Session:
    """Read what pi printed, or the file that it keeps: there a message is one line, which is not said to be its end."""
    told: Iterator[dict[str, Any]] = (
        {**event, "type": "message_end"} if event.get("type") == "message" else event for event in events
    )
    session = Pi().read(_as_printed(told), task)
    session.cost_usd = session.cost_usd or None  # it writes 0 where it knows no price
    return session


def _as_printed(events: Iterable[dict[str, Any]]) -> Ran:
    return Ran(status=0, output="".join(f"{json.dumps(event)}\n" for event in events).encode("utf-8", "replace"))
