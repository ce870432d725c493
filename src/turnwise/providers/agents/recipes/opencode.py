"""OpenCode: `opencode run --format json`, one process for each request."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ....targets.agent_rules import check_model_of_server, check_owner_of_key
from ...base import Usage
from ..counts import amount, count, total
from ..kind import Start, Task
from ..session import Session, event_lines

if TYPE_CHECKING:
    from ....programs.program import Ran

__all__ = ["OpenCode"]

_OWN = "turnwise"
_FAILED = ("content-filter", "error")
_ENDS = ("stop", "length", "other", *_FAILED)
"""Why a step may be the last; after any other, such as tool calls, there is another step."""
_KEY = "TURNWISE_OPENCODE_KEY"


class OpenCode:
    """How OpenCode is started, and how its events are read."""

    title = "OpenCode"
    program = "opencode"
    install = "npm install -g opencode-ai"
    config_variables = ("OPENCODE_CONFIG_DIR",)
    signs_in = "set the target's `api_key`, pass its vendor's variable by `pass_env`, or set `inherit_config: true`"

    def start(self, task: Task) -> Start:
        """`opencode run`, in the workspace, without questions: the workspace is its own to change."""
        target = task.target
        model = _model(target)
        config = task.scratch / "opencode.json"
        return Start(
            command=(
                target.executable or self.program,
                "run",
                "--format",
                "json",
                *(("--model", model) if model else ()),
                *(target.args or ()),
            ),
            given=task.prompt.encode("utf-8", "replace"),  # an argument may not be long
            variables=_variables(target) | {"OPENCODE_CONFIG": str(config)},
            files={config: json.dumps(_config(target, model))},
        )

    def read(self, ran: Ran, task: Task) -> Session:  # noqa: ARG002
        """The text of the last step is the answer."""
        session, said_in = Session(), None
        for event in event_lines(ran.output, session):
            said_in = _take(event, session, said_in)
            if _is_end(event):
                return session  # after it, nothing counts
        session.is_torn = True
        return session


def _model(target: Any) -> str | None:
    """The name as OpenCode wants it: with the vendor before it."""
    model: str | None = target.model
    check_model_of_server(target, "OpenCode")
    check_owner_of_key(target, "OpenCode")
    return f"{_OWN}/{model}" if target.base_url else model


def _variables(target: Any) -> dict[str, str]:
    own = {"OPENCODE_DISABLE_AUTOUPDATE": "1"}
    if target.base_url:
        own["OPENCODE_DISABLE_MODELS_FETCH"] = "1"  # a list of the vendors' models, which are not asked
    return own | ({_KEY: target.api_key} if target.api_key else {})


def _config(target: Any, model: str | None) -> dict[str, Any]:
    """It goes before the user's own; the key stays in the environment."""
    config: dict[str, Any] = {"autoupdate": False, "share": "disabled", "permission": "allow"}
    options = {"apiKey": f"{{env:{_KEY}}}"} if target.api_key else {}
    if target.base_url:
        # Some servers want no key, but the library that asks them does.
        options = {"baseURL": target.base_url, "apiKey": "none", **options}
        own = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {target.model: {}}}
        config |= {"provider": {_OWN: own}, "model": model, "small_model": model}
    elif options and model:
        config["provider"] = {model.partition("/")[0]: {"options": options}}
    return config


def _take(event: dict[str, Any], session: Session, said_in: str | None) -> str | None:
    """The message that the last text belongs to: further text of it is the same answer."""
    match event:
        case {"type": "text", "part": {"text": str(text)} as part}:
            message = part.get("messageID")
            session.answer(text, goes_on=message is not None and message == said_in)
            return message if isinstance(message, str) else None
        case {"type": "tool_use", "part": {"tool": str(name), "callID": str(identity), "state": dict(state)}}:
            session.call(identity, name, state.get("input") or {})
            session.result(identity, _outcome(state))
            return None
        case {"type": "step_finish", "part": dict(part)}:
            _count(part, session)
            if part.get("reason") in _FAILED:
                session.failure = f"its model stopped for the reason {part['reason']!r}"
        case {"type": "error"}:
            session.failure = _failure(event.get("error"))
    if isinstance(own := event.get("sessionID"), str):
        session.session_id = own
    return said_in


def _is_end(event: dict[str, Any]) -> bool:
    match event:
        case {"type": "step_finish", "part": {"reason": str(reason)}}:
            return reason in _ENDS
    return event.get("type") == "error"


def _outcome(state: dict[str, Any]) -> str:
    for key in ("output", "error", "status"):
        if isinstance(value := state.get(key), str):
            return value
    return "done"


def _failure(error: Any) -> str:
    match error:
        case {"data": {"message": str(message), "statusCode": int(status)}}:
            return f"{message} (HTTP {status})"
        case {"data": {"message": str(message)}}:
            return message
        case {"name": str(name)}:
            return name
    return json.dumps(error)


def _count(part: dict[str, Any], session: Session) -> None:
    if (cost := amount(part.get("cost"))) is not None:
        session.cost_usd = (session.cost_usd or 0.0) + cost
    if isinstance(tokens := part.get("tokens"), dict):
        session.usage = total(session.usage, _usage(tokens))


def _usage(tokens: dict[str, Any]) -> Usage:
    """It counts apart what came from and went to a cache, and what was thought."""
    cache = tokens.get("cache")
    kept = cache if isinstance(cache, dict) else {}
    read, written, thought = count(kept, "read"), count(kept, "write"), count(tokens, "reasoning")
    given, said = count(tokens, "input"), count(tokens, "output")
    return Usage(
        input_tokens=None if given is None else given + (read or 0) + (written or 0),
        output_tokens=None if said is None else said + (thought or 0),
        cached_input_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=thought,
    )
