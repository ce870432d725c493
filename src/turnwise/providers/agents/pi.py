"""The pi coding agent: `pi -p --mode json`, one process for each request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...targets.agent_rules import check_pi
from ..base import Usage
from ..wire.base import text_of
from .fields import content_text, dollars, tokens
from .kind import Start, Task
from .session import Session, event_lines

if TYPE_CHECKING:
    from ...programs.program import Ran

__all__ = ["Pi"]

_PROVIDER = "turnwise"
_GOES_ON = ("agent_start", "auto_retry_start", "message_end")
# One that is cut off at its longest is an answer, as it is from a model.
_ANSWERED = ("stop", "length")
_CALLED = "toolUse"
# pi takes a key of its files for the name of a variable, or even for a command: the key itself is never written.
_KEY = "TURNWISE_PI_KEY"


class Pi:
    """How pi is started, and how its events are read."""

    title = "pi"
    program = "pi"
    install = "npm install -g @mariozechner/pi-coding-agent"
    config_variables = ("PI_CODING_AGENT_DIR",)
    signs_in = "set the target's `api_key` and `model: PROVIDER/MODEL`, or `inherit_config: true` for your own sign-in"

    def start(self, task: Task) -> Start:
        """`pi -p`, in the workspace; pi asks for no permissions. Raises `SetupError` for settings that do not fit."""
        target = task.target
        check_pi(target)
        return Start(
            command=(
                target.executable or self.program,
                "-p",
                *("--mode", "json"),
                "--no-session",
                *(("--provider", _PROVIDER) if target.base_url else ()),
                *(("--model", target.model) if target.model else ()),
                *(target.args or ()),
            ),
            given=task.prompt.encode(),  # an argument may not be long
            variables=_variables(task),
            files=_config(task),
        )

    def read(self, ran: Ran, task: Task) -> Session:
        """What the last message says is the answer, or why there is none."""
        session, used = Session(), _Used()
        session.is_torn = True
        for event in event_lines(ran.output, session):
            _take(event, session, used)
            if event.get("type") == "agent_end":
                session.is_torn = False
                if session.text is not None:
                    break  # what failed may be tried again; after an answer, nothing counts
            elif event.get("type") in _GOES_ON:
                session.is_torn = True
        session.usage = used.usage()
        # It knows no price of a server that is not its own, and says 0.
        session.cost_usd = None if task.target.base_url else used.cost()
        return session


def _variables(task: Task) -> dict[str, str]:
    target = task.target
    if target.inherit_config is True:
        return {"PI_OFFLINE": "1"}
    # A server of one's own may want no key, but pi sends nothing without one.
    key = target.api_key or ("none" if target.base_url else None)
    folder = {"PI_CODING_AGENT_DIR": str(_folder(task))}
    return {"PI_OFFLINE": "1", **folder, **({_KEY: key} if key else {})}


def _folder(task: Task) -> Path:
    return task.home / ".pi" / "agent"


def _config(task: Task) -> dict[Path, str]:
    """Where the model is, or whose key the key is."""
    target = task.target
    if target.base_url:
        model = {"id": target.model, "input": ["text", "image"]}
        server = {"baseUrl": target.base_url, "api": "openai-completions", "apiKey": _KEY, "models": [model]}
        return {_folder(task) / "models.json": _json({"providers": {_PROVIDER: server}})}
    if target.api_key:
        provider = target.model.partition("/")[0]
        return {_folder(task) / "auth.json": _json({provider: {"type": "api_key", "key": _KEY}})}
    return {}


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2) + "\n"


class _Used:
    """What the messages used, added up: pi counts each by itself."""

    def __init__(self) -> None:
        self._each: list[dict[str, Any]] = []

    def add(self, message: dict[str, Any]) -> None:
        if isinstance(usage := message.get("usage"), dict):
            self._each.append(usage)

    def usage(self) -> Usage:
        """pi counts input that is cached apart; we count it in."""
        fresh, cached, written = self._total("input"), self._total("cacheRead"), self._total("cacheWrite")
        return Usage(
            input_tokens=None if fresh is None else fresh + (cached or 0) + (written or 0),
            output_tokens=self._total("output"),
            cached_input_tokens=cached,
            cache_write_tokens=written,
        )

    def cost(self) -> float | None:
        costs = [usage["cost"] for usage in self._each if isinstance(usage.get("cost"), dict)]
        known = [amount for amount in (dollars(cost.get("total")) for cost in costs) if amount is not None]
        return sum(known) if known else None

    def _total(self, key: str) -> int | None:
        known = [number for number in (tokens(usage.get(key)) for usage in self._each) if number is not None]
        return sum(known) if known else None


def _take(event: dict[str, Any], session: Session, used: _Used) -> None:
    match event:
        case {"type": "session", "id": str(identity)}:
            session.session_id = identity
        case {"type": "message_end", "message": {"role": "assistant"} as message}:
            _take_said(message, session)
            used.add(message)
        case {"type": "message_end", "message": {"role": "toolResult", "toolCallId": str(call)} as message}:
            session.result(call, content_text(message.get("content")))


def _take_said(message: dict[str, Any], session: Session) -> None:
    """One message may fail and the next, tried again, be good: only the last counts."""
    reason = message.get("stopReason")
    failed = reason not in (*_ANSWERED, _CALLED)
    session.failure = (text_of(message.get("errorMessage")) or _why(reason)) if failed else None
    session.model = text_of(message.get("model")) or session.model
    content = message.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    said = "".join(block["text"] for block in blocks if isinstance(block.get("text"), str))
    session.text = said or None if reason in _ANSWERED else None
    if said:
        session.say(said)
    for block in blocks:
        match block:
            case {"type": "toolCall", "id": str(identity), "name": str(name)}:
                session.call(identity, name, block.get("arguments", {}))


def _why(reason: Any) -> str:
    return f"it failed, and did not say why; it stopped for {json.dumps(reason)}"
