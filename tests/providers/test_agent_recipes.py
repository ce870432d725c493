"""Recipes: how each program is started, and what its recorded output says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from agent_kinds import KEY, after, any_events, recorded, stream, task, written
from helpers import ROOT
from turnwise.providers.agents.document import Mirrored
from turnwise.providers.agents.kind import Task
from turnwise.providers.agents.opening import agent_kind
from turnwise.providers.agents.recipes import RECIPES, recipe_kind
from turnwise.providers.agents.session import Session
from turnwise.providers.base import Usage
from turnwise.targets.models import PROVIDERS

RECORDED = ("copilot", "gemini-cli", "opencode")
ADDRESS = "http://127.0.0.1:9/v1"


def of(recipe: str, **settings: Any) -> Task:
    """A task for the program of a recipe."""
    return task("cli", recipe=recipe, **settings)


def read(recipe: str, name: str) -> Session:
    """What the real program wrote, as the recipe reads it."""
    return recipe_kind(recipe).read(recorded(recipe, name), of(recipe))


def aider(name: str) -> Session:
    """What the real Aider wrote, as the recipe reads it."""
    text = (ROOT / "tests" / "data" / "agents" / "aider" / f"{name}.txt").read_bytes()
    return recipe_kind("aider").read(stream(text), of("aider"))


def calls(session: Session) -> list[tuple[str, Any]]:
    """The names and arguments of all calls."""
    wanted = [call for message in session.messages for call in message.get("tool_calls", [])]
    return [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in wanted]


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_target_with_a_recipe_is_of_its_kind(recipe: str) -> None:
    """The recipe of a target decides which agent it is, and each says how it is installed."""
    kind = agent_kind(of(recipe).target)
    assert type(kind) is type(recipe_kind(recipe))
    assert kind.program in kind.start(of(recipe)).command
    assert "install" in kind.install


@pytest.mark.parametrize("recipe", RECORDED)
def test_the_answer_is_read(recipe: str) -> None:
    """The recorded answer is the text, and the only message."""
    session = read(recipe, "answer")
    assert session.text == "The answer is 42."
    assert session.messages == [{"role": "assistant", "content": "The answer is 42."}]
    assert (session.failure, session.malformed) == (None, None)
    assert session.session_id


@pytest.mark.parametrize(
    ("recipe", "name"), [("copilot", "bash"), ("gemini-cli", "run_shell_command"), ("opencode", "bash")]
)
def test_a_tool_call_is_read_with_its_result(recipe: str, name: str) -> None:
    """A call has the program's own name for the tool, its arguments, and its result right after it."""
    session = read(recipe, "tool")
    ((called, arguments),) = calls(session)
    assert (called, arguments["command"]) == (name, "echo hello > made.txt; cat made.txt")
    assert [message["role"] for message in session.messages] == ["assistant", "tool", "assistant"]
    assert "hello" in str(session.messages[1]["content"])
    assert session.text is not None
    assert session.text.startswith("The tool gave:")


@pytest.mark.parametrize("recipe", RECORDED)
def test_a_failure_is_the_program_s_own_word(recipe: str) -> None:
    """A session that failed has no answer, and says why."""
    session = read(recipe, "error")
    assert session.text is None
    assert session.failure is not None
    assert "The model says no." in session.failure


@pytest.mark.parametrize("recipe", ["gemini-cli", "opencode"])
def test_tokens_are_counted_in_one_way(recipe: str) -> None:
    """The model said 120 tokens with 20 cached, and 7 with 3 of thoughts, twice: however a program splits them."""
    assert read(recipe, "tool").usage == Usage(
        input_tokens=240,
        output_tokens=14,
        cached_input_tokens=40,
        cache_write_tokens=0 if recipe == "opencode" else None,
        reasoning_tokens=6,
    )


def test_a_price_that_is_not_known_is_no_price_of_nothing() -> None:
    """OpenCode writes a cost of 0 for a model whose price it does not know; a real cost is added up."""
    assert read("opencode", "answer").cost_usd is None
    step = {"type": "step_finish", "part": {"cost": 0.25}}
    assert recipe_kind("opencode").read(written(step, step), of("opencode")).cost_usd == pytest.approx(0.5)


def test_gemini_s_pieces_are_one_text() -> None:
    """Pieces of one message are put together; a tool call begins a new one."""
    piece = {"type": "message", "role": "assistant", "delta": True}
    call = {"type": "tool_use", "tool_id": "1", "tool_name": "ls"}
    events = [{**piece, "content": "I "}, {**piece, "content": "look."}, call, {**piece, "content": "Done."}]
    session = recipe_kind("gemini-cli").read(written(*events), of("gemini-cli"))
    assert [message["content"] for message in session.messages] == ["I look.", "Done."]
    assert session.text == "Done."


def test_a_warning_of_gemini_s_is_no_failure() -> None:
    """Only the result says whether a session failed."""
    warning = {"type": "error", "severity": "warning", "message": "Loop detected"}
    said = {"type": "message", "role": "assistant", "content": "Yes.", "delta": True}
    session = recipe_kind("gemini-cli").read(written(warning, said), of("gemini-cli"))
    assert (session.failure, session.text) == (None, "Yes.")


def test_what_copilot_s_helpers_say_is_not_the_answer() -> None:
    """A message that belongs to a call of the agent's is said to the agent."""
    own = {"type": "assistant.message", "data": {"content": "Mine."}}
    other = {"type": "assistant.message", "data": {"content": "Its.", "parentToolCallId": "call_1"}}
    assert recipe_kind("copilot").read(written(own, other), of("copilot")).text == "Mine."


def test_aider_s_answer_stands_between_its_title_and_its_count() -> None:
    """Warnings before the title and the count of tokens are no part of the answer."""
    session = aider("answer")
    assert session.text == "The answer is 42."
    assert (session.usage.input_tokens, session.usage.output_tokens) == (120, 7)


def test_an_edit_of_aider_s_is_a_call() -> None:
    """What the program says after the answer is not the answer."""
    session = aider("edit")
    assert calls(session) == [("edit", {"path": "made.txt"})]
    assert session.text is not None
    assert session.text.endswith("Done: made.txt says hello.")


def test_aider_that_failed_says_why() -> None:
    """It ends with exit code 0 all the same."""
    failure = aider("error").failure
    assert failure == "litellm.BadRequestError: OpenAIException - The model says no."


def test_aider_counts_in_thousands_and_tells_its_cost() -> None:
    """Each request has a count; they are added up."""
    text = "Aider v1\n\nOne.\n\nTokens: 2.5k sent, 1,200 received. Cost: $0.02 message, $0.02 session.\n"
    session = recipe_kind("aider").read(stream(text.encode()), of("aider"))
    assert (session.usage.input_tokens, session.usage.output_tokens) == (2500, 1200)
    assert session.cost_usd == pytest.approx(0.02)


def test_aider_is_given_the_files() -> None:
    """It opens no files by itself, and keeps what it remembers out of the workspace."""
    from dataclasses import replace

    given_task = replace(of("aider"), files=(Mirrored("tone.md", Path("/w/tone.md"), guideline=True),))
    start = recipe_kind("aider").start(given_task)
    assert after(start.command, "--read") == "/w/tone.md"
    assert after(start.command, "--chat-history-file").startswith("/s/")
    assert start.files[Path("/s/prompt.md")] == "Do it."


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_key_is_in_the_environment_only(recipe: str) -> None:
    """No command line and no file holds the key; both can be read by others."""
    start = recipe_kind(recipe).start(of(recipe, model="m", base_url=ADDRESS, api_key=KEY))
    assert any(KEY in value for value in start.variables.values())
    assert not any(KEY in word for word in (*start.command, *start.files.values()))
    assert KEY not in repr(start)


@pytest.mark.parametrize("recipe", ["copilot", "gemini-cli", "opencode"])
def test_the_prompt_is_the_input(recipe: str) -> None:
    """A prompt may be longer than an argument may be."""
    start = recipe_kind(recipe).start(of(recipe))
    assert start.given == b"Do it."
    assert "Do it." not in start.command


@pytest.mark.parametrize("recipe", RECIPES)
def test_own_arguments_are_added(recipe: str) -> None:
    """`args` of the target are in the command, and `executable` begins it."""
    command = recipe_kind(recipe).start(of(recipe, args=["--own", "x"], executable="/opt/agent")).command
    assert command[0] == "/opt/agent"
    assert after(command, "--own") == "x"


def test_gemini_s_own_settings_are_left_alone() -> None:
    """Where the target shares the user's configuration, none is written."""
    own, shared = (recipe_kind("gemini-cli").start(of("gemini-cli", inherit_config=on)) for on in (False, True))
    assert json.loads(own.files[Path("/h/.gemini/settings.json")])["security"]["auth"]["selectedType"]
    assert not shared.files


def test_a_key_of_gemini_s_that_is_passed_is_kept() -> None:
    """The stand-in for a missing key does not go before a real one."""
    start = recipe_kind("gemini-cli").start(of("gemini-cli", base_url=ADDRESS, pass_env=["GEMINI_API_KEY"]))
    assert "GEMINI_API_KEY" not in start.variables


@pytest.mark.parametrize(
    ("recipe", "settings"),
    [
        ("aider", {"api_key": KEY, "model": "m"}),
        ("copilot", {"base_url": ADDRESS}),
        ("copilot", {"base_url": ADDRESS, "model": "m", "api_key": "short"}),
        ("opencode", {"base_url": ADDRESS}),
        ("opencode", {"api_key": KEY}),
    ],
)
def test_settings_that_cannot_work_are_refused(recipe: str, settings: dict[str, str]) -> None:
    """The error says what is missing when the target is read, and shows no key."""
    with pytest.raises(ValidationError) as caught:
        of(recipe, **settings)
    (fault,) = caught.value.errors()
    assert fault["ctx"]["hint"]
    assert fault["ctx"]["at"] in settings
    assert settings.get("api_key", KEY) not in fault["msg"]


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"command": ["a"], "model": "m"}, "model"),
        ({"command": ["a"], "api_key": KEY}, "api_key"),
        ({"recipe": "aider", "shell": True}, "shell"),
        ({"recipe": "aider", "answer_from": "file"}, "answer_from"),
    ],
)
def test_settings_of_the_other_form_are_refused(settings: dict[str, Any], word: str) -> None:
    """A command takes no settings of recipes, nor a recipe those of commands; the error names the setting."""
    with pytest.raises(ValidationError, match=f"`{word}` goes with"):
        PROVIDERS["cli"].model_validate({"name": "a", "provider": "cli", **settings})


SHAPES = any_events(
    {"type": "message", "role": "assistant", "content": "a", "delta": True},
    {"type": "tool_use", "tool_id": "1", "tool_name": "t", "parameters": {}},
    {"type": "result", "status": "error", "error": {"message": "m"}, "stats": {"input_tokens": 1}},
    {"type": "assistant.message", "data": {"content": "a", "toolRequests": [{"toolCallId": "1", "name": "t"}]}},
    {"type": "text", "part": {"text": "a", "messageID": "m"}, "sessionID": "s"},
    {"type": "step_finish", "part": {"tokens": {"input": 1, "cache": {"read": 1}}, "cost": 1}},
)


@settings(max_examples=40)
@given(SHAPES, st.sampled_from(sorted(RECIPES)))
def test_no_output_is_a_fault_of_ours(events: list[dict[str, Any]], recipe: str) -> None:
    """Whatever a program writes is read without an exception."""
    assert recipe_kind(recipe).read(written(*events), of(recipe)).model != ""
