"""Recorded sessions are found by the names of their cases, recognised by their events, and read without the agent."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from helpers import ROOT
from turnwise.errors import ApplicationError, BadRequestError, NotFoundError, ProtocolError
from turnwise.providers import ProviderRequest, ProviderResponse, open_provider
from turnwise.providers.agents.logs import log_name
from turnwise.targets.agents import CodexTarget
from turnwise.targets.stand_ins import ReplayTarget

DATA = ROOT / "tests" / "data" / "agents"
TOOLS = {"claude-code": "Bash", "codex": "shell", "copilot": "bash", "pi": "bash"}
BOTH = [(agent, form) for agent in TOOLS for form in ("tool", "session")]


def ask(folder: Path, case_id: str | None = "a", attempt: int = 1) -> ProviderResponse:
    """What a replay target answers from the sessions in the folder."""

    async def asked() -> ProviderResponse:
        target = ReplayTarget(name="r", provider="replay", sessions=str(folder))
        async with open_provider(target, root=folder, environment={}) as provider:
            return await provider.ask(ProviderRequest(question="Do it.", case_id=case_id, attempt=attempt))

    return asyncio.run(asked())


def keep(folder: Path, name: str, agent: str, form: str) -> Path:
    """Put a recording into the folder under a name."""
    source = next((DATA / agent).glob(f"{form}.*"))
    (folder / name).write_bytes(source.read_bytes())
    return folder / name


@pytest.mark.parametrize(("agent", "form"), BOTH)
def test_what_is_printed_and_what_is_kept_tell_the_same(agent: str, form: str, tmp_path: Path) -> None:
    """The output of an agent and the file that it keeps for itself hold the same answer, call and result."""
    keep(tmp_path, "a.jsonl", agent, form)
    response = ask(tmp_path)
    said, result, answer = response.messages
    (call,) = said["tool_calls"]
    assert call["function"]["name"] == TOOLS[agent]
    assert "echo hello > made.txt" in json.loads(call["function"]["arguments"])["command"]
    assert "hello" in str(result["content"])
    assert result["tool_call_id"] == call["id"]
    assert response.text == answer["content"]
    assert response.text.startswith("The tool gave:")
    assert response.response_id


@pytest.mark.parametrize("agent", TOOLS)
def test_tokens_of_a_kept_session_are_added_up(agent: str, tmp_path: Path) -> None:
    """The model counted 120 tokens with 20 cached, and 7, in each of two requests."""
    keep(tmp_path, "a.jsonl", agent, "session")
    usage = ask(tmp_path).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_input_tokens) == (240, 14, 40)


@pytest.mark.parametrize(("agent", "form"), [("gemini-cli", "tool"), ("opencode", "tool"), ("aider", "edit")])
def test_logs_of_recipes_are_read(agent: str, form: str, tmp_path: Path) -> None:
    """A log of a run is a session like any other: the run can be graded again with it."""
    keep(tmp_path, "a@1.log", agent, form)
    assert any(message.get("tool_calls") for message in ask(tmp_path).messages)


def test_a_cost_that_the_agent_tells_is_not_taken(tmp_path: Path) -> None:
    """Claude Code reckons by its vendor's prices whatever server it was with, and its stream does not name the server:
    the cost is unknown, and the tokens are there."""
    keep(tmp_path, "a.jsonl", "claude-code", "tool")
    assert b"total_cost_usd" in (tmp_path / "a.jsonl").read_bytes()
    response = ask(tmp_path)
    assert response.cost_usd is None
    assert response.usage.output_tokens is not None


@pytest.mark.parametrize(
    ("name", "case_id", "attempt"),
    [
        ("a.jsonl", "a", 1),
        ("a@1.jsonl", "a", 1),
        ("a@2.jsonl", "a", 2),
        ("a@2.log", "a", 2),
        ("a-1@1.log", "a-1", 1),
        ("x-y@1.jsonl", "x/y", 1),
        (f"{log_name(ProviderRequest(question='', case_id='x/y'))}.log", "x/y", 1),
        ("x-y.jsonl", "../x y", 1),
    ],
)
def test_a_session_is_found_by_its_name(name: str, case_id: str, attempt: int, tmp_path: Path) -> None:
    """The name is the case's, with the number of the trial or without it for the first; nothing leads elsewhere."""
    keep(tmp_path, name, "codex", "answer")
    assert ask(tmp_path, case_id, attempt).text == "The answer is 42."


def test_ids_that_end_in_numbers_are_told_apart(tmp_path: Path) -> None:
    """Cases `a` and `a-1` have a session each, whatever the numbers of their trials are."""
    keep(tmp_path, "a@1.log", "codex", "answer")
    keep(tmp_path, "a-1@1.log", "codex", "tool")
    assert ask(tmp_path, "a").text == "The answer is 42."
    assert ask(tmp_path, "a-1").text.startswith("The tool gave:")
    with pytest.raises(NotFoundError):
        ask(tmp_path, "a-2")


def test_a_case_without_a_session_is_an_error_that_names_both(tmp_path: Path) -> None:
    """The error says which file would do, and which are there."""
    keep(tmp_path, "norwey.jsonl", "codex", "answer")
    with pytest.raises(NotFoundError, match=r"case 'norway'.*norway\.jsonl") as caught:
        ask(tmp_path, "norway")
    assert "norwey.jsonl" in str(caught.value.hint)


def test_a_trial_without_a_session_is_an_error(tmp_path: Path) -> None:
    """One session is not taken for two trials."""
    keep(tmp_path, "a.jsonl", "codex", "answer")
    with pytest.raises(NotFoundError, match="trial 2 of case 'a'"):
        ask(tmp_path, "a", 2)


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """The error names the folder."""
    with pytest.raises(NotFoundError, match="there is no folder"):
        ask(tmp_path / "gone")


def test_a_request_of_no_case_has_no_session(tmp_path: Path) -> None:
    """Sessions are found by case and by nothing else."""
    with pytest.raises(BadRequestError, match="belongs to no case"):
        ask(tmp_path, None)


@pytest.mark.parametrize("text", ["", "Hello.\n", '{"type": "hello"}\n', "[1]\n", "\x00\xff"])
def test_a_file_that_is_no_session_is_refused(text: str, tmp_path: Path) -> None:
    """An unknown form is an error that lists the known ones, not an empty answer."""
    (tmp_path / "a.jsonl").write_text(text)
    with pytest.raises(ProtocolError, match="no session of an agent that is known") as caught:
        ask(tmp_path)
    assert "codex exec --json" in str(caught.value.hint)


@pytest.mark.parametrize(("agent", "form"), BOTH)
def test_a_file_that_is_cut_in_a_line_is_torn(agent: str, form: str, tmp_path: Path) -> None:
    """Half a line at the end may have been a tool call: nothing of such a file is graded."""
    file = keep(tmp_path, "a.jsonl", agent, form)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(ProtocolError, match="is torn: this line should be JSON"):
        ask(tmp_path)


@pytest.mark.parametrize(("agent", "form"), BOTH)
def test_a_file_that_is_cut_after_a_call_is_torn(agent: str, form: str, tmp_path: Path) -> None:
    """A session that does not go to its end has no answer, even if every line is whole."""
    file = keep(tmp_path, "a.jsonl", agent, form)
    lines = file.read_text().splitlines(keepends=True)
    last_word = next(number for number, line in enumerate(lines) if "The tool gave" in line)
    file.write_text("".join(lines[:last_word]))
    with pytest.raises(ProtocolError, match="is torn: it does not go to the end"):
        ask(tmp_path)


@pytest.mark.parametrize("agent", [*TOOLS, "gemini-cli", "opencode"])
def test_a_session_that_failed_is_an_error(agent: str, tmp_path: Path) -> None:
    """It is no answer of 0: the error repeats what the agent said."""
    keep(tmp_path, "a.jsonl", agent, "error")
    with pytest.raises(ApplicationError, match="The model says no"):
        ask(tmp_path)


@pytest.mark.parametrize("first", ["error", "answer"])
def test_several_sessions_of_one_case(first: str, tmp_path: Path) -> None:
    """A run may have two logs of one name, of two suites or of a second try; only a person can tell which is meant."""
    keep(tmp_path, "a@1.log", "codex", first)
    keep(tmp_path, "a@1@2.log", "codex", "answer")
    with pytest.raises(BadRequestError, match=r"a@1\.log, a@1@2\.log"):
        ask(tmp_path)


def test_helpers_of_claude_code_are_not_heard(tmp_path: Path) -> None:
    """What a transcript marks as a side chain is said to the agent, not to the user."""
    file = keep(tmp_path, "a.jsonl", "claude-code", "session")
    aside: dict[str, Any] = {"type": "assistant", "isSidechain": True, "parentUuid": "x", "sessionId": "s"}
    aside["message"] = {"id": "m", "content": [{"type": "text", "text": "Aside."}]}
    file.write_text(file.read_text() + json.dumps(aside) + "\n")
    assert "Aside." not in str(ask(tmp_path).messages)


@pytest.mark.parametrize("settings", [{}, {"path": "a.jsonl", "sessions": "b"}])
def test_a_replay_target_has_one_recording(settings: dict[str, str]) -> None:
    """Answers come from a recording or from sessions."""
    with pytest.raises(ValidationError, match="needs `path` or `sessions`"):
        ReplayTarget.model_validate({"name": "r", "provider": "replay", **settings})


def test_a_program_that_ended_badly_is_no_answer(tmp_path: Path) -> None:
    """What was an error in a run is one when its log is read, whatever it said before."""
    program = tmp_path / "codex"
    program.write_text(f"#!/bin/sh\ncat {ROOT / 'tests/data/agents/codex/answer.jsonl'}\nexit 3\n")
    program.chmod(0o755)
    target = CodexTarget(name="cx", provider="codex", executable=str(program), log_dir=str(tmp_path / "logs"))
    with pytest.raises(ApplicationError, match="exit code 3"):
        asyncio.run(_asked_of(target))
    with pytest.raises(ApplicationError, match="the program ended with exit code 3"):
        ask(tmp_path / "logs/cx")


async def _asked_of(target: CodexTarget) -> ProviderResponse:
    async with open_provider(target) as provider:
        return await provider.ask(ProviderRequest(question="Q?", case_id="a"))
