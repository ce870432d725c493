"""Which agent wrote a session: told by its first events. Each has its reader. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...programs.program import Ran
from .claude_code import ClaudeCode
from .codex import Codex
from .kind import AgentKind, Task
from .recipes import recipe_kind
from .session import Session
from .session_stores import read_pi, read_rollout, read_transcript

__all__ = ["KNOWN", "SessionFormat", "format_of"]

Events = Sequence[dict[str, Any]]
_LOOKED_AT = 50
_AIDER = b"\nAider v"


@dataclass(frozen=True, slots=True)
class SessionFormat:
    """One form of a session. `ends` are the events of which a whole session has one; a form without them is whole if
    the agent has the last word."""

    title: str
    is_first: Callable[[dict[str, Any]], bool]
    read: Callable[[bytes, Events, Task], Session]
    ends: frozenset[str] = frozenset()

    def is_whole(self, events: Events, session: Session) -> bool:
        """Whether the session goes to its end."""
        if not events:
            return session.usage.output_tokens is not None  # plain text: a count of tokens ends an answer
        if self.ends:
            return any(_kind(event) in self.ends for event in events)
        if session.failure is not None or not session.messages:
            return session.failure is not None
        last = session.messages[-1]
        return last["role"] == "assistant" and not last.get("tool_calls")


def format_of(output: bytes, events: Events) -> SessionFormat | None:
    """The form of a session, None if it is none that is known."""
    for event in events[:_LOOKED_AT]:
        for each in _FORMATS:
            if each.is_first(event):
                return each
    return _AIDER_FORMAT if not events and (b"\n" + output).find(_AIDER) >= 0 else None


def _kind(event: dict[str, Any]) -> str:
    """The type of an event; Codex's own files have it one level down."""
    match event:
        case {"type": "event_msg", "payload": {"type": str(kind)}}:
            return kind
        case {"type": str(kind)}:
            return kind
    return ""


def _by_kind(kind: Callable[[], AgentKind]) -> Callable[[bytes, Events, Task], Session]:
    return lambda output, _events, task: kind().read(Ran(status=0, output=output), task)


def _rollout(_output: bytes, events: Events, _task: Task) -> Session:
    session = Session()
    read_rollout(events, session)
    return session


def _recipe(name: str) -> Callable[[bytes, Events, Task], Session]:
    return _by_kind(lambda: recipe_kind(name))


def _is_copilot(event: dict[str, Any]) -> bool:
    kind = event.get("type")
    return isinstance(event.get("data"), dict) and isinstance(kind, str) and kind.startswith(_COPILOT)


_COPILOT = ("assistant.", "session.", "user.")
_FORMATS = (
    SessionFormat(
        "codex exec --json",
        lambda event: event.get("type") == "thread.started",
        _by_kind(Codex),
        frozenset({"turn.completed", "turn.failed"}),
    ),
    SessionFormat(
        "a rollout file of Codex",
        lambda event: event.get("type") == "session_meta" and isinstance(event.get("payload"), dict),
        _rollout,
        frozenset({"task_complete", "turn_aborted"}),
    ),
    SessionFormat(
        "claude -p --output-format stream-json",
        lambda event: event.get("type") == "system" and isinstance(event.get("session_id"), str),
        _by_kind(ClaudeCode),
        frozenset({"result"}),
    ),
    SessionFormat(
        "a transcript of Claude Code",
        lambda event: "parentUuid" in event and isinstance(event.get("sessionId"), str),
        lambda _output, events, task: read_transcript(events, task),
    ),
    SessionFormat("Copilot's events", _is_copilot, _recipe("copilot")),
    SessionFormat(
        "a session of pi",
        lambda event: event.get("type") == "session" and isinstance(event.get("version"), int),
        lambda _output, events, task: read_pi(events, task),
    ),
    SessionFormat(
        "gemini -o stream-json",
        lambda event: event.get("type") == "init" and isinstance(event.get("session_id"), str),
        _recipe("gemini-cli"),
        frozenset({"result"}),
    ),
    SessionFormat(
        "opencode run --format json",
        lambda event: isinstance(event.get("sessionID"), str) and isinstance(event.get("timestamp"), int),
        _recipe("opencode"),
    ),
)
_AIDER_FORMAT = SessionFormat("what Aider prints", lambda _event: False, _recipe("aider"))
KNOWN = (
    "codex exec --json, claude -p --output-format stream-json, copilot --output-format json, pi --mode json, "
    "gemini -o stream-json, opencode run --format json, what Aider prints, and the files that Codex, Claude Code, "
    "Copilot and pi keep of their sessions"
)
"""What can be read, for messages."""
