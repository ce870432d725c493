"""The ends of the agents' streams: without one there is no answer, a failure is never one, and nothing comes after."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_kinds import recorded, stream, task, written
from turnwise.errors import ApplicationError, ProtocolError
from turnwise.programs.program import Program, Ran
from turnwise.providers.agents.claude_code import ClaudeCode
from turnwise.providers.agents.codex import Codex
from turnwise.providers.agents.failures import failure_of
from turnwise.providers.agents.kind import AgentKind, Task
from turnwise.providers.agents.pi import Pi
from turnwise.providers.agents.recipes import recipe_kind
from turnwise.providers.agents.session import Session, tool_call

PROGRAM = Program(command=("x",), folder=Path("/w"), environment={}, seconds=5, most_bytes=1)
AGENTS = ("codex", "claude-code", "pi", "gemini-cli", "copilot", "opencode")
LATER: dict[str, dict[str, Any]] = {
    "codex": {"type": "item.completed", "item": {"id": "z", "type": "agent_message", "text": "LATER"}},
    "claude-code": {"type": "result", "subtype": "success", "is_error": False, "result": "LATER"},
    "pi": {
        "type": "message_end",
        "message": {"role": "assistant", "stopReason": "stop", "content": [{"type": "text", "text": "LATER"}]},
    },
    "gemini-cli": {"type": "message", "role": "assistant", "content": "LATER"},
    "copilot": {"type": "assistant.message", "data": {"content": "LATER"}},
    "opencode": {"type": "text", "part": {"text": "LATER", "messageID": "z"}},
}
"""What each agent would write to say something else."""
ENDS = {
    "codex": "turn.completed",
    "claude-code": "result",
    "pi": "agent_end",
    "gemini-cli": "result",
    "copilot": "result",
    "opencode": "step_finish",
}


def kind_of(agent: str) -> AgentKind:
    """The kind of a name."""
    own: dict[str, AgentKind] = {"codex": Codex(), "claude-code": ClaudeCode(), "pi": Pi()}
    return own[agent] if agent in own else recipe_kind(agent)


def task_of(agent: str) -> Task:
    """A task for it."""
    return task(agent) if agent in ("codex", "claude-code", "pi") else task("cli", recipe=agent)


def read(agent: str, ran: Ran) -> Session:
    """What the agent said, as it is read."""
    return kind_of(agent).read(ran, task_of(agent))


def outcome(agent: str, ran: Ran) -> Exception | None:
    """Why there is no answer; None if there is one."""
    return failure_of(kind_of(agent), ran, read(agent, ran), PROGRAM)


def events(agent: str, name: str = "answer") -> list[dict[str, Any]]:
    """The events of a recording."""
    return [json.loads(line) for line in recorded(agent, name).output.splitlines() if line.startswith(b"{")]


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("name", ["answer", "tool"])
def test_what_succeeded_is_an_answer(agent: str, name: str) -> None:
    """Every recorded success is one."""
    assert outcome(agent, recorded(agent, name)) is None


@pytest.mark.parametrize("agent", AGENTS)
def test_a_stream_without_an_end_is_no_answer(agent: str) -> None:
    """An agent that spoke and then broke off, with exit code 0, gave no answer."""
    cut = [event for event in events(agent) if event["type"] != ENDS[agent]]
    found = outcome(agent, written(*cut))
    assert isinstance(found, ProtocolError)
    assert "broke off" in str(found)


@pytest.mark.parametrize("agent", AGENTS)
def test_after_the_end_nothing_counts(agent: str) -> None:
    """What is written after the end of a stream changes nothing."""
    later = written(*events(agent), LATER[agent])
    assert read(agent, later) == read(agent, recorded(agent, "answer"))


@pytest.mark.parametrize(
    ("agent", "end"),
    [
        ("codex", {"type": "turn.failed"}),
        ("codex", {"type": "turn.failed", "error": "no"}),
        ("codex", {"type": "turn.failed", "error": {"message": 3}}),
        ("claude-code", {"type": "result", "subtype": "success", "is_error": "true", "result": "x"}),
        ("claude-code", {"type": "result", "subtype": "success", "is_error": 1, "result": "x"}),
        ("claude-code", {"type": "result", "subtype": "odd", "is_error": False, "result": "x"}),
        ("gemini-cli", {"type": "result", "status": "failed"}),
        ("gemini-cli", {"type": "result"}),
        ("copilot", {"type": "result", "exitCode": "1"}),
        ("copilot", {"type": "result"}),
        ("opencode", {"type": "step_finish", "part": {"reason": "error"}}),
        ("opencode", {"type": "step_finish", "part": {"reason": "content-filter"}}),
    ],
)
def test_what_is_not_plainly_a_success_is_a_failure(agent: str, end: dict[str, Any]) -> None:
    """An end of another form than that of a success leaves no answer."""
    before = [event for event in events(agent) if event["type"] != ENDS[agent]]
    assert isinstance(outcome(agent, written(*before, end)), ApplicationError)


@pytest.mark.parametrize("reason", ["odd", None, 3])
def test_a_message_of_pi_s_that_stopped_oddly_is_a_failure(reason: Any) -> None:
    """Only a message that says that it is whole can be the answer."""
    message = {"role": "assistant", "stopReason": reason, "content": [{"type": "text", "text": "x"}]}
    ran = written({"type": "message_end", "message": message}, {"type": "agent_end"})
    assert isinstance(outcome("pi", ran), ApplicationError)


def test_what_pi_says_before_a_call_is_no_answer() -> None:
    """A session that ends with a call has no final words."""
    message = {"role": "assistant", "stopReason": "toolUse", "content": [{"type": "text", "text": "Let me look."}]}
    ran = written({"type": "message_end", "message": message}, {"type": "agent_end"})
    assert isinstance(outcome("pi", ran), ProtocolError)


def test_a_command_that_was_declined_says_so() -> None:
    """A command of Codex's that was not run has its status as its result."""
    item = {"id": "i", "type": "command_execution", "command": "rm", "aggregated_output": "", "status": "declined"}
    _, result = read("codex", written({"type": "item.completed", "item": item})).messages
    assert result["content"] == "declined"


def test_a_result_without_a_call_is_nobody_s() -> None:
    """A result of Claude Code's for a call that never was is no message."""
    block = {"type": "tool_result", "tool_use_id": "t", "content": "x"}
    assert read("claude-code", written({"type": "user", "message": {"content": [block]}})).messages == []


def test_arguments_are_always_json() -> None:
    """Numbers that JSON has no form for are texts in the arguments of a call."""
    line = b'{"type":"item.completed","item":{"id":"i","type":"mcp_tool_call","arguments":{"a":[NaN,1e999,1]}}}'
    call = read("codex", stream(line)).messages[0]["tool_calls"][0]

    def refuse(word: str) -> None:
        raise AssertionError(word)

    assert json.loads(call["function"]["arguments"], parse_constant=refuse) == {"a": ["NaN", "Infinity", 1]}
    assert tool_call("i", "n", {"a": "ü"})["function"]["arguments"] == '{"a": "ü"}'


@pytest.mark.parametrize(
    "complaint",
    ["thread panicked at src/login.rs:401", "warning: api_key is not read from the file", "took 403 ms"],
)
def test_stray_words_on_stderr_are_no_diagnosis(complaint: str) -> None:
    """A number or a name of a file on stderr does not make a crash a problem of signing in."""
    ran = Ran(status=101, complaint=complaint.encode())
    assert type(outcome("codex", ran)) is ApplicationError


@pytest.mark.parametrize(
    "complaint",
    ["401 Unauthorized", "Error: invalid API key", "Not logged in. Please run codex login", "please sign in"],
)
def test_plain_words_on_stderr_are_a_diagnosis(complaint: str) -> None:
    """What can mean nothing else than a sign-in is told as one, although the agent's events do not say it."""
    assert outcome("codex", Ran(status=1, complaint=complaint.encode())).__class__.__name__ == "AuthenticationError"
