"""OpenAI's Codex CLI: `codex exec --json`, one process for each request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base import Usage
from .fields import shown, tokens
from .kind import Start, Task
from .session import Session, event_lines

if TYPE_CHECKING:
    from ...programs.program import Ran

__all__ = ["Codex", "codex_usage"]

_KEY = "CODEX_API_KEY"
_ENDS = ("turn.completed", "turn.failed")
"""After these, nothing counts; without them, there is no answer."""
_PROVIDER = "turnwise"
_ARGUMENTS = ("command", "changes", "query", "items")
"""What of an item is what the tool was called with."""
# Each of them waits for the network when the program ends; none is needed for an answer.
_DISABLED = ("plugins", "apps", "remote_plugin", "plugin_discovery_prefetch", "daemon_auto_start")


class Codex:
    """How Codex is started, and how its events are read."""

    title = "Codex"
    program = "codex"
    install = "npm install -g @openai/codex"
    config_variables = ("CODEX_HOME",)
    signs_in = "set the target's `api_key`, or `inherit_config: true` for the account of `codex login`"

    def start(self, task: Task) -> Start:
        """`codex exec`, in the workspace, without questions: the workspace is its own to change."""
        target = task.target
        model = ("--model", target.model) if target.model else ()
        disabled = [word for name in _DISABLED for word in ("--disable", name)]
        return Start(
            command=(
                target.executable or self.program,
                "exec",
                "--json",
                "--skip-git-repo-check",
                "--ephemeral",
                *disabled,
                *_sandbox(task),
                *model,
                *_settings(target),
                *(target.args or ()),
                "-",
            ),
            given=task.prompt.encode(),  # an argument may not be long
            variables=_variables(task),
            files=_config(task),
        )

    def read(self, ran: Ran, task: Task) -> Session:  # noqa: ARG002
        """The last message is the answer; commands, edits and calls of other servers' tools are tool calls."""
        session = Session()
        for event in event_lines(ran.output, session):
            _take(event, session)
            if event.get("type") in _ENDS:
                return session
        session.is_torn = True
        return session


def _sandbox(task: Task) -> list[str]:
    """It may write in the workspace and in a HOME of its own, unless the target says what else it may."""
    chosen = ("-s", "--sandbox", "--dangerously-bypass-approvals-and-sandbox", "--full-auto", "--yolo", "sandbox_mode")
    if any(word.partition("=")[0] in chosen or word.startswith("-s") for word in task.target.args or ()):
        return []
    # Sandboxes that share /tmp put mounts of the same names there, and those at work at once trip over each other.
    lines = ["sandbox_workspace_write.exclude_slash_tmp=true"]
    if task.target.inherit_config is not True:
        lines.append(f"sandbox_workspace_write.writable_roots={json.dumps([str(task.home)])}")
    return ["--sandbox", "workspace-write", *(word for line in lines for word in ("-c", line))]


def _settings(target: Any) -> list[str]:
    """What goes before a configuration that the agent shares with its user."""
    if not target.base_url or target.inherit_config is not True:
        return []
    return [word for line in _provider_lines(target.base_url) for word in ("-c", line)]


def _provider_lines(base_url: str) -> list[str]:
    table = f"model_providers.{_PROVIDER}"
    return [
        f'model_provider="{_PROVIDER}"',
        f'{table}.name="{_PROVIDER}"',
        f"{table}.base_url={json.dumps(base_url)}",
        f'{table}.wire_api="responses"',
        f'{table}.env_key="{_KEY}"',
    ]


def _variables(task: Task) -> dict[str, str]:
    target = task.target
    home = {} if target.inherit_config is True else {"CODEX_HOME": str(task.home / ".codex")}
    # A server of one's own may want no key, but the program will not start without one.
    key = target.api_key or ("none" if target.base_url else None)
    return {**home, **({_KEY: key} if key else {})}


def _config(task: Task) -> dict[Path, str]:
    target = task.target
    if target.inherit_config is True:
        return {}
    lines = ["check_for_update_on_startup = false", "[analytics]", "enabled = false"]
    if target.base_url:
        lines = [*_provider_lines(target.base_url), *lines]
    return {task.home / ".codex" / "config.toml": "\n".join(lines) + "\n"}


def _take(event: dict[str, Any], session: Session) -> None:
    match event:
        case {"type": "thread.started", "thread_id": str(thread)}:
            session.session_id = thread
        case {"type": "item.completed", "item": {"type": str(kind)} as item}:
            _take_item(kind, item, session)
        case {"type": "turn.completed", "usage": dict(usage)}:
            session.usage = codex_usage(usage)
        case {"type": "error", "message": str(message)}:
            session.trouble = message
        case {"type": "turn.failed"}:
            session.failure = _why(event.get("error"))


def _why(error: Any) -> str:
    match error:
        case {"message": str(message)} if message.strip():
            return message
    return f"it said that it failed, and not why: {shown(error)}"


def _take_item(kind: str, item: dict[str, Any], session: Session) -> None:
    """An item of the type `error` is a warning: a turn that failed says so by an event of its own."""
    name, identity = _TOOLS.get(kind), str(item.get("id", f"item_{len(session.messages)}"))
    if kind == "agent_message" and isinstance(item.get("text"), str):
        session.text = item["text"]
        session.say(item["text"])
    elif kind == "mcp_tool_call":
        tool = f"{item.get('server', '')}.{item.get('tool', '')}"
        session.call(identity, tool, item.get("arguments") or {})
        session.result(identity, shown(item.get("result") or item.get("error") or ""))
    elif name is not None:
        session.call(identity, name, {key: item[key] for key in _ARGUMENTS if key in item})
        session.result(identity, _outcome(item))


_TOOLS = {
    "command_execution": "shell",
    "file_change": "apply_patch",
    "web_search": "web_search",
    "todo_list": "update_plan",
}


_DONE = ("completed", "done")


def _outcome(item: dict[str, Any]) -> str:
    output, status = item.get("aggregated_output"), item.get("status", "done")
    if not isinstance(output, str) or (not output and status not in _DONE):
        return shown(status)
    code = item.get("exit_code")
    return output if code in (0, None) else f"{output}\n(exit code {code})".lstrip("\n")


def codex_usage(usage: dict[str, Any]) -> Usage:
    """The tokens of a session, as Codex counts them in what it prints and in what it keeps."""
    return Usage(
        input_tokens=tokens(usage.get("input_tokens")),
        output_tokens=tokens(usage.get("output_tokens")),
        cached_input_tokens=tokens(usage.get("cached_input_tokens")),
        cache_write_tokens=tokens(usage.get("cache_write_input_tokens")),
        reasoning_tokens=tokens(usage.get("reasoning_output_tokens")),
    )
