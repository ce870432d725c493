"""Claude Code: how it is started, and how its events are read. The streams were recorded from Claude Code 2.1.197."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from agent_kinds import KEY, after, any_events, recorded, stream, task, written
from turnwise.errors import ProviderConnectionError, ProviderTimeoutError
from turnwise.programs.program import Program, Ran
from turnwise.providers import Usage
from turnwise.providers.agents.claude_code import ClaudeCode
from turnwise.providers.agents.failures import failure_of
from turnwise.providers.agents.session import Session

PROGRAM = Program(command=("claude",), folder=Path("/w"), environment={}, seconds=5, most_bytes=1)
SHAPES: list[dict[str, Any]] = [
    {"type": "system", "subtype": "init", "session_id": "s", "model": "m"},
    {"type": "system", "subtype": "api_retry", "error": "e", "error_status": 1},
    {"type": "assistant", "message": {"model": "m", "content": [{"type": "text", "text": "x"}]}},
    {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "i", "name": "n", "input": {"a": 1}}]}},
    {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "i", "content": [{"type": "t"}]}]}},
    {"type": "result", "is_error": True, "subtype": "error", "errors": ["e"], "result": "r", "total_cost_usd": 1},
    {"type": "result", "usage": {"input_tokens": 1}, "modelUsage": {"m": {"inputTokens": 1}}},
]


def read(ran: Ran, **settings: Any) -> Session:
    """What Claude Code said, as it is read."""
    return ClaudeCode().read(ran, task("claude-code", **settings))


def command(**settings: Any) -> tuple[str, ...]:
    """How Claude Code is started with such settings."""
    return ClaudeCode().start(task("claude-code", **settings)).command


def said(*content: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """An event of something that the model said."""
    return {"type": "assistant", "message": {"model": "m", "content": list(content)}, **fields}


def test_an_answer_is_read() -> None:
    """The result is the answer; input that was cached counts as input."""
    session = read(recorded("claude-code", "answer"))
    assert session.text == "The answer is 42."
    assert session.messages == [{"role": "assistant", "content": "The answer is 42."}]
    assert session.usage == Usage(input_tokens=120, output_tokens=7, cached_input_tokens=20, cache_write_tokens=0)
    assert session.cost_usd == 0.000411
    assert session.model == "claude-sonnet-4-5"
    assert session.session_id == "07d42147-ecfe-4696-90ce-4377b02ea90a"
    assert session.failure is None


def test_a_tool_call_is_read() -> None:
    """A call has its name and arguments, its result, and the answer after it."""
    session = read(recorded("claude-code", "tool"))
    call, result, answer = session.messages
    assert call["tool_calls"] == [
        {
            "id": "toolu_1",
            "type": "function",
            "function": {"name": "Bash", "arguments": '{"command": "echo hello > made.txt; cat made.txt"}'},
        }
    ]
    assert result == {"role": "tool", "content": "hello", "tool_call_id": "toolu_1"}
    assert answer["content"] == session.text == "The tool gave: hello"
    assert session.usage.input_tokens == 240


def test_an_error_is_a_failure() -> None:
    """A result that is an error is a failure, and its text no answer, although its subtype says success."""
    session = read(recorded("claude-code", "error"))
    assert session.failure == "API Error: 400 The model says no."
    assert session.text is None
    assert session.messages == []


@pytest.mark.parametrize(
    ("event", "failure"),
    [
        ({"subtype": "error_max_turns", "is_error": False}, "error_max_turns"),
        ({"subtype": "error_during_execution", "is_error": True, "errors": ["a", "b"]}, "a; b"),
        ({"is_error": True}, "it said that it failed, and not why"),
    ],
)
def test_an_end_without_an_answer_is_a_failure(event: dict[str, Any], failure: str) -> None:
    """An end for another reason, such as too many turns, says the reason."""
    assert read(written({"type": "result", **event})).failure == failure


def test_the_cost_of_another_server_is_not_known() -> None:
    """With `base_url`, the program's own prices say nothing of what was paid."""
    assert read(recorded("claude-code", "answer"), base_url="http://127.0.0.1:1").cost_usd is None


def test_the_tokens_of_all_models_are_added_up() -> None:
    """What helpers used on another model is part of the usage."""
    models = {
        "a": {"inputTokens": 1, "cacheReadInputTokens": 10, "cacheCreationInputTokens": 100, "outputTokens": 5},
        "b": {"inputTokens": 2, "outputTokens": 6},
    }
    session = read(written({"type": "result", "result": "r", "modelUsage": models, "usage": {"input_tokens": 1}}))
    assert session.usage == Usage(input_tokens=113, output_tokens=11, cached_input_tokens=10, cache_write_tokens=100)


def test_the_plain_usage_counts_where_there_is_no_other() -> None:
    """A result without tokens by model has those of the session."""
    session = read(written({"type": "result", "result": "r", "usage": {"input_tokens": 3, "output_tokens": 4}}))
    assert (session.usage.input_tokens, session.usage.output_tokens) == (3, 4)


def test_what_a_helper_does_counts_and_what_it_says_does_not() -> None:
    """The calls of a helper are calls of the agent; its words are said to the agent."""
    aside = {"parent_tool_use_id": "t"}
    session = read(
        written(
            said({"type": "tool_use", "id": "t", "name": "Task", "input": {}}),
            said({"type": "text", "text": "aside"}, **aside),
            said({"type": "tool_use", "id": "u", "name": "Grep", "input": {}}, **aside),
        )
    )
    names = [call["function"]["name"] for each in session.messages for call in each.get("tool_calls", [])]
    assert names == ["Task", "Grep"]
    assert [each["content"] for each in session.messages] == [None]


def test_a_result_that_is_no_text_is_named() -> None:
    """Texts of a result are joined; an image is named by its type."""
    content = [{"type": "text", "text": "a"}, {"type": "image", "source": {}}]
    block = {"type": "tool_result", "tool_use_id": "t", "content": content}
    call = said({"type": "tool_use", "id": "t", "name": "Read", "input": {}})
    [_, message] = read(written(call, {"type": "user", "message": {"content": [block]}})).messages
    assert message == {"role": "tool", "content": "a\n[image]", "tool_call_id": "t"}


def test_a_retry_is_trouble_and_no_failure() -> None:
    """A request that the program tries again is no failure."""
    retry = {"type": "system", "subtype": "api_retry", "error_status": 529, "error": "overloaded"}
    session = read(written(retry, {"type": "result", "subtype": "success", "is_error": False, "result": "yes"}))
    assert (session.text, session.failure) == ("yes", None)
    assert "529" in str(session.trouble)


def test_a_server_that_is_not_there_is_a_connection_error() -> None:
    """The program's own words for a refused connection are understood."""
    end = {"type": "result", "is_error": True, "result": "API Error: Unable to connect to API (ConnectionRefused)"}
    ran = replace(written(end), status=1)
    assert isinstance(failure_of(ClaudeCode(), ran, read(ran), PROGRAM), ProviderConnectionError)


def test_a_timeout_tells_of_the_trouble_before() -> None:
    """One that was ended while it tried again says why it did."""
    retry = {"type": "system", "subtype": "api_retry", "error_status": 401, "error": "authentication_failed"}
    ran = replace(written(retry), ended="timeout")
    failure = failure_of(ClaudeCode(), ran, read(ran), PROGRAM)
    assert isinstance(failure, ProviderTimeoutError)
    assert "401 (authentication_failed)" in str(failure)


def test_half_a_line_is_malformed() -> None:
    """A stream that was torn off has no answer, and shows where."""
    session = read(stream(recorded("claude-code", "answer").output[:-40]))
    assert session.text is None
    assert str(session.malformed).startswith('{"type":"result"')


def test_unknown_events_are_nothing() -> None:
    """Events that are not known are passed over."""
    assert read(written({"type": "stream_event", "event": {"text": "x"}}, {"type": "new"}, {})) == Session(is_torn=True)


@given(any_events(*SHAPES))
def test_no_event_raises(events: list[dict[str, Any]]) -> None:
    """Whatever the objects of a stream hold, they are read."""
    assert isinstance(read(written(*events)), Session)


def test_the_prompt_is_input() -> None:
    """The prompt goes in as input, of any length."""
    start = ClaudeCode().start(task("claude-code", "p" * 200_000))
    assert start.given == b"p" * 200_000
    assert start.command[:2] == ("claude", "-p")
    assert after(start.command, "--output-format") == "stream-json"


def test_a_prompt_is_never_a_command() -> None:
    """A question that begins with a slash reaches the model, rather than the program."""
    assert ClaudeCode().start(task("claude-code", "/init?")).given == b"\n/init?"


def test_the_key_is_in_the_environment_alone() -> None:
    """The key is in no argument and in no file."""
    start = ClaudeCode().start(task("claude-code", api_key=KEY))
    assert start.variables["ANTHROPIC_API_KEY"] == KEY
    assert KEY not in " ".join(start.command)
    assert start.files == {}


def test_it_has_a_configuration_of_its_own() -> None:
    """It sees no configuration of the user's, and calls nobody but the model."""
    variables = ClaudeCode().start(task("claude-code")).variables
    assert variables == {"CLAUDE_CONFIG_DIR": "/h/.claude", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}


def test_the_users_configuration_can_be_shared() -> None:
    """With `inherit_config`, nothing stands before the user's sign-in."""
    variables = ClaudeCode().start(task("claude-code", inherit_config=True, base_url="http://127.0.0.1:1")).variables
    assert "CLAUDE_CONFIG_DIR" not in variables
    assert "ANTHROPIC_API_KEY" not in variables


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "http://127.0.0.1:1/", "http://127.0.0.1:1/v1"])
def test_an_address_may_end_in_its_version(address: str) -> None:
    """The program adds /v1 by itself; a server of one's own needs no key, but the program does."""
    variables = ClaudeCode().start(task("claude-code", base_url=address)).variables
    assert variables["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1"
    assert variables["ANTHROPIC_API_KEY"] == "none"


def test_it_works_without_questions() -> None:
    """It edits its workspace and runs commands unasked, without the flag that root may not use."""
    words = command(model="m")
    assert after(words, "--permission-mode") == "acceptEdits"
    assert "Bash" in after(words, "--allowedTools").split(",")
    assert after(words, "--model") == "m"
    assert "--dangerously-skip-permissions" not in words


@pytest.mark.parametrize("own", [["--permission-mode", "plan"], ["--allowedTools=Read"], ["--allowed-tools", "Read"]])
def test_the_targets_own_permissions_count(own: list[str]) -> None:
    """Where `args` say what it may do, nothing else does; they come last."""
    words = command(args=own)
    assert list(words[-len(own) :]) == own
    assert "acceptEdits" not in words


def test_a_tool_can_be_taken_away() -> None:
    """Tools that `args` forbid are forbidden besides what is allowed: the program lets the former win."""
    words = command(args=["--disallowedTools", "WebFetch"])
    assert words[-2:] == ("--disallowedTools", "WebFetch")
    assert after(words, "--permission-mode") == "acceptEdits"
