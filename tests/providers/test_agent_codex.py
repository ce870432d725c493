"""Codex: how it is started, and how its events are read. The streams were recorded from Codex 0.166.0."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from agent_kinds import KEY, after, any_events, recorded, stream, task, written
from turnwise.programs.program import Ran
from turnwise.providers import Usage
from turnwise.providers.agents.codex import Codex
from turnwise.providers.agents.session import Session

CONFIG = Path("/h/.codex/config.toml")
OWN = ("--sandbox", "workspace-write")
SHAPES: list[dict[str, Any]] = [
    {"type": "thread.started", "thread_id": "t"},
    {"type": "item.completed", "item": {"type": "agent_message", "id": "i", "text": "x"}},
    {"type": "item.completed", "item": {"type": "command_execution", "aggregated_output": "o", "exit_code": 1}},
    {"type": "item.completed", "item": {"type": "mcp_tool_call", "server": "s", "tool": "t", "arguments": {"a": 1}}},
    {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 2}},
    {"type": "turn.failed", "error": {"message": "m"}},
]


def read(ran: Ran) -> Session:
    """What Codex said, as it is read."""
    return Codex().read(ran, task("codex"))


def command(**settings: Any) -> tuple[str, ...]:
    """How Codex is started with such settings."""
    return Codex().start(task("codex", **settings)).command


def test_an_answer_is_read() -> None:
    """The last message is the answer, and the tokens of the turn are its usage."""
    session = read(recorded("codex", "answer"))
    assert session.text == "The answer is 42."
    assert session.messages == [{"role": "assistant", "content": "The answer is 42."}]
    assert session.usage == Usage(
        input_tokens=120, output_tokens=7, cached_input_tokens=20, cache_write_tokens=0, reasoning_tokens=3
    )
    assert session.session_id == "01a1e3ac-abe6-7381-9ce6-c9429e223a16"


def test_a_warning_is_no_failure() -> None:
    """An item of the type `error`, such as that of an unknown model, is a warning."""
    ran = recorded("codex", "answer")
    assert b'"type":"error"' in ran.output
    assert read(ran).failure is None


def test_a_command_is_a_tool_call() -> None:
    """A command is a call of `shell` with its result, before the answer."""
    call, result, answer = read(recorded("codex", "tool")).messages
    assert [each["function"]["name"] for each in call["tool_calls"]] == ["shell"]
    assert "echo hello > made.txt" in call["tool_calls"][0]["function"]["arguments"]
    assert result == {"role": "tool", "content": "hello\n", "tool_call_id": call["tool_calls"][0]["id"]}
    assert str(answer["content"]).startswith("The tool gave:")


def test_a_turn_that_failed_is_a_failure() -> None:
    """The error of a failed turn is kept, and there is no answer."""
    session = read(recorded("codex", "error"))
    assert session.failure is not None
    assert "The model says no." in session.failure
    assert session.text is None


def test_an_error_before_an_answer_is_trouble_alone() -> None:
    """A request that is tried again, and then works, is no failure."""
    said = {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "yes"}}
    session = read(written({"type": "error", "message": "Reconnecting... 1/5"}, said))
    assert (session.text, session.failure, session.trouble) == ("yes", None, "Reconnecting... 1/5")


@pytest.mark.parametrize(
    ("item", "name", "arguments", "result"),
    [
        ({"type": "file_change", "changes": [], "status": "completed"}, "apply_patch", '{"changes": []}', "completed"),
        ({"type": "web_search", "query": "q"}, "web_search", '{"query": "q"}', "done"),
        ({"type": "mcp_tool_call", "server": "s", "tool": "t", "arguments": {"a": 1}}, "s.t", '{"a": 1}', ""),
        (
            {"type": "command_execution", "command": "x", "aggregated_output": "no\n", "exit_code": 2},
            "shell",
            '{"command": "x"}',
            "no\n\n(exit code 2)",
        ),
    ],
)
def test_each_kind_of_item_is_a_call(item: dict[str, Any], name: str, arguments: str, result: str) -> None:
    """Edits, searches, commands and tools of other servers are calls with a result."""
    call, gave = read(written({"type": "item.completed", "item": {"id": "i", **item}})).messages
    assert call["tool_calls"][0]["function"] == {"name": name, "arguments": arguments}
    assert gave["content"] == result


def test_half_a_line_is_malformed() -> None:
    """A line that was torn off is kept as malformed; what came before it is read."""
    session = read(stream(recorded("codex", "answer").output[:-40]))
    assert session.text == "The answer is 42."
    assert session.malformed is not None
    assert session.malformed.startswith('{"type":"turn.completed"')


@given(any_events(*SHAPES))
def test_no_event_raises(events: list[dict[str, Any]]) -> None:
    """Whatever the objects of a stream hold, they are read."""
    assert isinstance(read(written(*events)), Session)


def test_the_prompt_is_input() -> None:
    """The prompt goes in as input, of any length, and is no argument."""
    start = Codex().start(task("codex", "p" * 200_000))
    assert start.given == b"p" * 200_000
    assert start.command[-1] == "-"
    assert max(map(len, start.command)) < 100


def test_the_key_is_in_the_environment_alone() -> None:
    """The key is in no argument and in no file."""
    start = Codex().start(task("codex", api_key=KEY, base_url="http://127.0.0.1:1/v1"))
    assert start.variables["CODEX_API_KEY"] == KEY
    assert KEY not in " ".join(start.command)
    assert KEY not in "".join(start.files.values())


def test_a_server_of_its_own_is_configured() -> None:
    """`base_url` becomes a provider in the configuration of the agent's own HOME."""
    start = Codex().start(task("codex", base_url='http://127.0.0.1:1/a"b/v1', model="m"))
    config = tomllib.loads(start.files[CONFIG])
    assert config["model_provider"] == "turnwise"
    assert config["model_providers"]["turnwise"]["base_url"] == 'http://127.0.0.1:1/a"b/v1'
    assert config["analytics"] == {"enabled": False}
    assert start.variables["CODEX_HOME"] == "/h/.codex"
    assert after(start.command, "--model") == "m"


def test_the_users_configuration_is_left_alone() -> None:
    """With `inherit_config` no file is written, and the server is told by arguments."""
    start = Codex().start(task("codex", inherit_config=True, base_url="http://127.0.0.1:1/v1"))
    assert start.files == {}
    assert "CODEX_HOME" not in start.variables
    assert 'model_providers.turnwise.base_url="http://127.0.0.1:1/v1"' in start.command


def test_it_may_write_in_its_workspace() -> None:
    """Without a word on it, Codex's sandbox lets it write in the workspace."""
    assert after(command(), "--sandbox") == "workspace-write"
    assert 'sandbox_workspace_write.writable_roots=["/h"]' in command()
    assert not [word for word in command(inherit_config=True) if "writable_roots" in word]


def test_sandboxes_share_no_folder() -> None:
    """/tmp, which all have in common, is no folder of the sandbox: mounts in it would meet."""
    assert "sandbox_workspace_write.exclude_slash_tmp=true" in command()


@pytest.mark.parametrize(
    "own", [["-s", "read-only"], ["--sandbox=read-only"], ["-sread-only"], ["-c", "sandbox_mode=read-only"]]
)
def test_the_targets_own_sandbox_counts(own: list[str]) -> None:
    """Where `args` say what Codex may do, nothing else does."""
    words = command(args=own)
    assert OWN[1] not in words
    assert list(words[-1 - len(own) : -1]) == own
