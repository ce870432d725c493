"""Anthropic's Claude Code: `claude -p --output-format stream-json`, one process for each request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..base import Usage
from ..wire.base import text_of
from .fields import content_text, dollars, shown, tokens
from .kind import Start, Task
from .session import Session, event_lines

if TYPE_CHECKING:
    from ...programs.program import Ran

__all__ = ["ClaudeCode"]

# Root may not have it skip all its questions. It edits its workspace unasked; these tools it must be allowed.
_ALLOWED = "Bash,Read,Task,Skill,WebFetch,WebSearch"
_PERMISSIONS = (
    "--permission-mode", "--permission-prompt-tool", "--dangerously-skip-permissions", "--allowedTools",
    "--allowed-tools",
)  # fmt: skip
_NOT_A_MODEL = "<synthetic>"
"""What Claude Code names as the model of its own words, such as those for an error."""


class ClaudeCode:
    """How Claude Code is started, and how its events are read."""

    title = "Claude Code"
    program = "claude"
    install = "npm install -g @anthropic-ai/claude-code"
    config_variables = ("CLAUDE_CONFIG_DIR",)
    signs_in = "set the target's `api_key`, or `inherit_config: true` for the account that `claude` is signed in to"

    def start(self, task: Task) -> Start:
        """`claude -p`, in the workspace, without questions: the workspace is its own to change."""
        target = task.target
        own = target.args or ()
        return Start(
            command=(
                target.executable or self.program,
                "-p",
                *("--output-format", "stream-json", "--verbose"),
                "--no-session-persistence",
                *_permissions(own),
                *(("--model", target.model) if target.model else ()),
                *own,
            ),
            given=_prompt(task.prompt).encode(),  # an argument may not be long
            variables=_variables(task),
        )

    def read(self, ran: Ran, task: Task) -> Session:
        """The last event is the result: the answer, or why there is none. After it, nothing counts."""
        session = Session()
        for event in event_lines(ran.output, session):
            _take(event, session)
            if event.get("type") == "result":
                break
        else:
            session.is_torn = True
        if task.target.base_url:
            session.cost_usd = None  # it counts with its vendor's prices, whoever answers
        return session


def _permissions(own: Iterable[str]) -> tuple[str, ...]:
    """What it may do unasked, unless the target says so. The list of tools takes every word up to the next flag."""
    if any(word.partition("=")[0] in _PERMISSIONS for word in own):
        return ()
    return ("--allowedTools", _ALLOWED, "--permission-mode", "acceptEdits")


def _prompt(prompt: str) -> str:
    """A text that begins with a slash is a command to the program, not to the model.

    >>> _prompt("/init: what does it do?"), _prompt("What does /init do?")
    ('\\n/init: what does it do?', 'What does /init do?')
    """
    return f"\n{prompt}" if prompt.startswith("/") else prompt


def _variables(task: Task) -> dict[str, str]:
    target = task.target
    own = target.inherit_config is not True
    # A server of one's own may want no key, but the program asks for a sign-in without one.
    key = target.api_key or ("none" if target.base_url and own else None)
    # The program adds /v1/messages.
    address = target.base_url.rstrip("/").removesuffix("/v1") if target.base_url else None
    return {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        **({"CLAUDE_CONFIG_DIR": str(task.home / ".claude")} if own else {}),
        **({"ANTHROPIC_API_KEY": key} if key else {}),
        **({"ANTHROPIC_BASE_URL": address} if address else {}),
    }


def _take(event: dict[str, Any], session: Session) -> None:
    match event:
        case {"type": "system", "subtype": "init"}:
            session.session_id = text_of(event.get("session_id"))
            session.model = text_of(event.get("model"))
        case {"type": "system", "subtype": "api_retry"}:
            session.trouble = f"the model's API gave {event.get('error_status')} ({event.get('error')})"
        case {"type": "assistant", "message": dict(message)}:
            _take_said(message, session, aside=event.get("parent_tool_use_id") is not None)
        case {"type": "user", "message": dict(message)}:
            _take_results(message, session)
        case {"type": "result"}:
            _take_end(event, session)


def _take_said(message: dict[str, Any], session: Session, *, aside: bool) -> None:
    """What a helper of the agent says aside is said to the agent, not to us; what it does counts."""
    model = text_of(message.get("model"))
    if model is not None and model != _NOT_A_MODEL and not aside:
        session.model = model
    for block in _blocks(message):
        match block:
            case {"type": "text", "text": str(text)} if not aside and model != _NOT_A_MODEL:
                session.say(text)
            case {"type": "tool_use", "id": str(identity), "name": str(name)}:
                session.call(identity, name, block.get("input", {}))


def _take_results(message: dict[str, Any], session: Session) -> None:
    for block in _blocks(message):
        match block:
            case {"type": "tool_result", "tool_use_id": str(identity)}:
                session.result_of(identity, content_text(block.get("content")))


def _blocks(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    content = message.get("content")
    return (block for block in content if isinstance(block, dict)) if isinstance(content, list) else iter(())


def _take_end(event: dict[str, Any], session: Session) -> None:
    said = text_of(event.get("result"))
    subtype = text_of(event.get("subtype")) or ""
    if event.get("is_error") is not False or subtype != "success":
        # A text beside an odd end is no reason.
        why = said if event.get("is_error") is not False else None
        session.failure = why or _errors(event) or subtype or "it said that it failed, and not why"
    else:
        session.text = said
    session.usage = _usage(event)
    session.cost_usd = dollars(event.get("total_cost_usd"))


def _errors(event: dict[str, Any]) -> str:
    errors = event.get("errors")
    return "; ".join(shown(error) for error in errors) if isinstance(errors, list) else ""


def _usage(event: dict[str, Any]) -> Usage:
    """By model, it counts what its helpers used as well, and this is what its cost is for."""
    by_model = event.get("modelUsage")
    if isinstance(by_model, dict) and by_model:
        used = [each for each in by_model.values() if isinstance(each, dict)]
        return _counted(used, "inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens")
    one = event.get("usage")
    keys = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    return _counted([one] if isinstance(one, dict) else [], *keys)


def _counted(used: list[dict[str, Any]], fresh: str, cached: str, written: str, output: str) -> Usage:
    """Anthropic counts input that is cached apart; we count it in."""

    def total(key: str) -> int | None:
        known = [number for number in (tokens(each.get(key)) for each in used) if number is not None]
        return sum(known) if known else None

    inputs = [total(fresh), total(cached), total(written)]
    return Usage(
        input_tokens=None if inputs[0] is None else sum(number or 0 for number in inputs),
        output_tokens=total(output),
        cached_input_tokens=inputs[1],
        cache_write_tokens=inputs[2],
    )
