"""Google's Gemini CLI: `gemini -o stream-json`, one process for each request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base import Usage
from ..counts import count
from ..fields import shown
from ..kind import Start, Task
from ..session import Session, event_lines

if TYPE_CHECKING:
    from ....programs.program import Ran

__all__ = ["GeminiCli"]

_VERTEX = "GOOGLE_GENAI_USE_VERTEXAI"
_ANY_MODEL = "auto"
_APPROVAL = ("--approval-mode", "-y", "--yolo")


class GeminiCli:
    """How the Gemini CLI is started, and how its events are read."""

    title = "Gemini CLI"
    program = "gemini"
    install = "npm install -g @google/gemini-cli"
    config_variables = ("GEMINI_CLI_HOME",)
    signs_in = "set the target's `api_key`, pass GEMINI_API_KEY by `pass_env`, or set `inherit_config: true`"

    def start(self, task: Task) -> Start:
        """`gemini`, in the workspace, without questions: the workspace is its own to change."""
        target = task.target
        own = target.args or ()
        approval = () if any(word.partition("=")[0] in _APPROVAL for word in own) else ("--approval-mode", "yolo")
        model = ("--model", target.model) if target.model else ()
        return Start(
            command=(
                target.executable or self.program,
                "--output-format",
                "stream-json",
                "--skip-trust",
                *approval,
                *model,
                *own,
            ),
            given=task.prompt.encode("utf-8", "replace"),  # an argument may not be long
            variables=_variables(target),
            files=_settings(task),
        )

    def read(self, ran: Ran, task: Task) -> Session:  # noqa: ARG002
        """What it says comes in pieces; the text after the last tool call is the answer."""
        session, open_text = Session(), False
        for event in event_lines(ran.output, session):
            open_text = _take(event, session, open_text)
            if event.get("type") == "result":
                return session  # after it, nothing counts
        session.is_torn = True
        return session


def _variables(target: Any) -> dict[str, str]:
    # A server of one's own may want no key, but the program does not start without one.
    key = target.api_key or ("none" if target.base_url and not _own_key(target) else None)
    # The program adds /v1beta/models.
    address = target.base_url.rstrip("/").removesuffix("/v1beta") if target.base_url else None
    return {
        **({"GEMINI_API_KEY": key} if key else {}),
        **({"GOOGLE_GEMINI_BASE_URL": address} if address else {}),
    }


def _own_key(target: Any) -> bool:
    """Whether the key comes by the environment, or from the user's own configuration."""
    return target.inherit_config is True or "GEMINI_API_KEY" in {*(target.env or {}), *(target.pass_env or ())}


def _settings(task: Task) -> dict[Path, str]:
    """Without this file it does not start: it wants to know how it signs in."""
    target = task.target
    if target.inherit_config is True:
        return {}
    vertex = _VERTEX in {*(target.env or {}), *(target.pass_env or ())}
    settings = {
        "security": {"auth": {"selectedType": "vertex-ai" if vertex else "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
    }
    return {task.home / ".gemini" / "settings.json": json.dumps(settings)}


def _take(event: dict[str, Any], session: Session, open_text: bool) -> bool:
    """Whether the next piece of text belongs to the message before it. Events of the type `error` are warnings: a
    session that failed says so in its result."""
    match event:
        case {"type": "init"}:
            session.session_id, session.model = _text(event.get("session_id")), _text(event.get("model"))
        case {"type": "message", "role": "assistant", "content": str(piece)}:
            session.answer(piece, goes_on=open_text and event.get("delta") is True)
            return True
        case {"type": "tool_use", "tool_id": str(identity), "tool_name": str(name)}:
            session.call(identity, name, event.get("parameters") or {})
        case {"type": "tool_result", "tool_id": str(identity)}:
            session.result_of(identity, _outcome(event))
        case {"type": "result"}:
            _end(event, session)
    return False


def _outcome(event: dict[str, Any]) -> str:
    match event:
        case {"output": str(output)}:
            return output
        case {"error": {"message": str(message)}}:
            return message
    return str(event.get("status", "done"))


def _end(event: dict[str, Any], session: Session) -> None:
    if isinstance(stats := event.get("stats"), dict):
        session.usage = _usage(stats)
        if session.model == _ANY_MODEL and isinstance(used := stats.get("models"), dict) and used:
            session.model = ", ".join(used)
    if event.get("status") != "success":
        match event.get("error"):
            case {"message": str(message)}:
                session.failure = message
            case other:
                session.failure = f"it ended with the status {shown(event.get('status'))}: {shown(other)}"


def _usage(stats: dict[str, Any]) -> Usage:
    """The total counts thoughts, the output does not."""
    given, said, everything = (count(stats, key) for key in ("input_tokens", "output_tokens", "total_tokens"))
    thought = None
    if given is not None and said is not None and everything is not None:
        thought = max(everything - given - said, 0)
    return Usage(
        input_tokens=given,
        output_tokens=said if said is None else said + (thought or 0),
        cached_input_tokens=count(stats, "cached"),
        reasoning_tokens=thought,
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
