"""GitHub's Copilot CLI: `copilot --output-format json`, one process for each request."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ....targets.agent_rules import check_copilot
from ...base import Usage
from ..counts import count, total
from ..fields import shown
from ..kind import Start, Task
from ..session import Session, event_lines

if TYPE_CHECKING:
    from ....programs.program import Ran

__all__ = ["Copilot", "read_copilot"]

_SHUT_DOWN = "session.shutdown"
"""The end of the file that it keeps; what it prints ends with a result."""


class Copilot:
    """How the Copilot CLI is started, and how its events are read."""

    title = "Copilot CLI"
    program = "copilot"
    install = "npm install -g @github/copilot"
    config_variables = ("COPILOT_HOME",)
    signs_in = (
        "set the target's `api_key`: a GitHub token, or the key of the server at `base_url`; or `inherit_config: true`"
    )

    def start(self, task: Task) -> Start:
        """`copilot`, in the workspace, without questions: the workspace is its own to change."""
        target = task.target
        check_copilot(target)
        model = ("--model", target.model) if target.model else ()
        return Start(
            command=(
                target.executable or self.program,
                "--output-format",
                "json",
                "--allow-all-tools",
                "--allow-all-paths",
                *model,
                *(target.args or ()),
            ),
            given=task.prompt.encode("utf-8", "replace"),  # an argument may not be long
            variables={"COPILOT_AUTO_UPDATE": "false", **_access(target)},
        )

    def read(self, ran: Ran, task: Task) -> Session:  # noqa: ARG002
        """The last message is the answer; what the agents that it started say is none of it."""
        session = Session()
        read_copilot(event_lines(ran.output, session), session)
        return session


def _access(target: Any) -> dict[str, str]:
    """A key is for the server, if there is one of one's own; otherwise it is a GitHub token."""
    key = target.api_key
    if not target.base_url:
        return {"COPILOT_GITHUB_TOKEN": key} if key else {}
    own = {"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": target.base_url, "COPILOT_MODEL": target.model}
    return {**own, **({"COPILOT_PROVIDER_API_KEY": key} if key else {})}


def read_copilot(events: Iterable[dict[str, Any]], session: Session) -> None:
    """Read its events, from its output or from the `events.jsonl` that it keeps of a session."""
    session.is_torn = True
    for event in events:
        match event:
            case {"data": {"parentToolCallId": str()}}:
                pass  # of an agent that it started itself
            case {"type": str(kind), "data": dict(data)}:
                _take(kind, data, session)
                session.is_torn = kind != _SHUT_DOWN
            case {"type": "result"}:
                _end(event, session)
                break  # nothing counts after it


def _take(kind: str, data: dict[str, Any], session: Session) -> None:
    match kind:
        case "session.start":
            session.session_id = _text(data.get("sessionId"))
        case "assistant.message":
            _take_message(data, session)
        case "tool.execution_complete":
            session.result(str(data.get("toolCallId")), _outcome(data))
        case "session.usage_record" if isinstance(data.get("usage"), dict):
            session.usage = total(session.usage, _usage(data["usage"]))
        case "session.error":
            session.failure = _text(data.get("message")) or json.dumps(data)


def _take_message(data: dict[str, Any], session: Session) -> None:
    session.model = _text(data.get("model")) or session.model
    text, wanted = _text(data.get("content")), data.get("toolRequests")
    if text:
        session.say(text)
        session.text, session.failure = text, None
    for call in wanted if isinstance(wanted, list) else []:
        match call:
            case {"toolCallId": str(identity), "name": str(name)}:
                session.call(identity, name, call.get("arguments") or {})


def _outcome(data: dict[str, Any]) -> str:
    match data:
        case {"result": {"content": str(content)}}:
            return content
        case {"error": {"message": str(message)}}:
            return message
    return "done" if data.get("success") else "failed"


def _end(event: dict[str, Any], session: Session) -> None:
    session.session_id = _text(event.get("sessionId")) or session.session_id
    session.is_torn = False
    code = event.get("exitCode")
    if (code != 0 or isinstance(code, bool)) and session.failure is None:
        session.failure = f"it ended with exit code {shown(code)}"


def _usage(usage: dict[str, Any]) -> Usage:
    return Usage(
        input_tokens=count(usage, "inputTokens"),
        output_tokens=count(usage, "outputTokens"),
        cached_input_tokens=count(usage, "cacheReadTokens"),
        cache_write_tokens=count(usage, "cacheWriteTokens"),
        reasoning_tokens=count(usage, "reasoningTokens"),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
