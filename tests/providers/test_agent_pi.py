"""pi: how it is started, and how its events are read. The streams were recorded from pi 0.73.1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from pydantic import ValidationError

from agent_kinds import KEY, after, any_events, recorded, stream, task, written
from turnwise.programs.program import Ran
from turnwise.providers import Usage
from turnwise.providers.agents.pi import Pi
from turnwise.providers.agents.session import Session

URL = "http://127.0.0.1:1/v1"
AGENT = Path("/h/.pi/agent")
USAGE = {"input": 1, "output": 2, "cacheRead": 3, "cost": {"total": 0.5}}
SHAPES: list[dict[str, Any]] = [
    {"type": "session", "id": "s"},
    {"type": "message_end", "message": {"role": "assistant", "content": [{"type": "text", "text": "x"}]}},
    {
        "type": "message_end",
        "message": {"role": "assistant", "content": [{"type": "toolCall", "id": "i", "name": "n", "arguments": {}}]},
    },
    {"type": "message_end", "message": {"role": "assistant", "model": "m", "stopReason": "error", "usage": USAGE}},
    {"type": "message_end", "message": {"role": "toolResult", "toolCallId": "i", "content": [{"type": "text"}]}},
]


def read(ran: Ran, **settings: Any) -> Session:
    """What pi said, as it is read."""
    return Pi().read(ran, task("pi", **settings))


def ended(**message: Any) -> dict[str, Any]:
    """The event of a message of the model's."""
    return {"type": "message_end", "message": {"role": "assistant", **message}}


def text(words: str) -> list[dict[str, str]]:
    """The content of a message that is a text."""
    return [{"type": "text", "text": words}]


def test_an_answer_is_read() -> None:
    """The last message is the answer, told once; input that was cached counts as input."""
    session = read(recorded("pi", "answer"))
    assert session.text == "The answer is 42."
    assert session.messages == [{"role": "assistant", "content": "The answer is 42."}]
    assert session.usage == Usage(input_tokens=120, output_tokens=7, cached_input_tokens=20, cache_write_tokens=0)
    assert session.cost_usd == pytest.approx(0.000124)
    assert session.model == "mock-model"
    assert session.session_id == "01a1e3ac-a7d4-7242-9115-15901f5de3e5"


def test_a_tool_call_is_read() -> None:
    """A call has its name and arguments, its result, and the answer after it; tokens of both requests are added."""
    session = read(recorded("pi", "tool"))
    call, result, answer = session.messages
    assert call["tool_calls"] == [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "bash", "arguments": '{"command": "echo hello > made.txt; cat made.txt"}'},
        }
    ]
    assert result == {"role": "tool", "content": "hello\n", "tool_call_id": "call_1"}
    assert answer["content"] == session.text == "The tool gave: hello"
    assert session.usage == Usage(input_tokens=240, output_tokens=14, cached_input_tokens=40, cache_write_tokens=0)


def test_an_error_is_a_failure() -> None:
    """A last message that failed is a failure, although the program ends well."""
    session = read(recorded("pi", "error"))
    assert session.failure == "400 The model says no."
    assert session.text is None
    assert session.messages == []


def test_what_was_tried_again_is_no_failure() -> None:
    """A message that failed and then worked is an answer."""
    failed = ended(content=[], stopReason="error", errorMessage="overloaded")
    session = read(written(failed, ended(content=text("yes"), stopReason="stop")))
    assert (session.text, session.failure) == ("yes", None)


def test_a_failure_after_an_answer_leaves_none() -> None:
    """What was said before a failure is no final answer."""
    session = read(written(ended(content=text("Let me see")), ended(content=[], stopReason="aborted")))
    assert session.text is None
    assert session.failure == 'it failed, and did not say why; it stopped for "aborted"'


def test_the_cost_of_another_server_is_not_known() -> None:
    """With `base_url`, pi knows no prices: its 0 is no cost."""
    assert read(recorded("pi", "answer"), base_url=URL, model="m").cost_usd is None


def test_half_a_line_is_malformed() -> None:
    """A line that was torn off is kept as malformed."""
    session = read(stream(recorded("pi", "answer").output[:-40]))
    assert str(session.malformed).startswith('{"type":"agent_end"')


def test_unknown_events_are_nothing() -> None:
    """Events that are not known are passed over."""
    session = read(written({"type": "message_update", "message": {"role": "assistant"}}, {"type": "new"}, {}))
    assert session == Session(is_torn=True)


@given(any_events(*SHAPES))
def test_no_event_raises(events: list[dict[str, Any]]) -> None:
    """Whatever the objects of a stream hold, they are read."""
    assert isinstance(read(written(*events)), Session)


def test_the_prompt_is_input() -> None:
    """The prompt goes in as input, of any length."""
    start = Pi().start(task("pi", "p" * 200_000, args=["--thinking", "high"]))
    assert start.given == b"p" * 200_000
    assert start.command == ("pi", "-p", "--mode", "json", "--no-session", "--thinking", "high")


def test_a_server_of_its_own_is_configured() -> None:
    """`base_url` and `model` become a provider in the agent's own folder; the key is only named there."""
    start = Pi().start(task("pi", base_url=URL, model="qwen3:4b", api_key=KEY))
    server = json.loads(start.files[AGENT / "models.json"])["providers"]["turnwise"]
    assert (server["baseUrl"], server["api"]) == (URL, "openai-completions")
    assert [each["id"] for each in server["models"]] == ["qwen3:4b"]
    assert start.variables[server["apiKey"]] == KEY
    assert (after(start.command, "--provider"), after(start.command, "--model")) == ("turnwise", "qwen3:4b")
    assert KEY not in " ".join(start.command) + "".join(start.files.values())


def test_a_server_may_want_no_key() -> None:
    """pi sends nothing without a key, so a server of one's own gets one that says nothing."""
    start = Pi().start(task("pi", base_url=URL, model="m"))
    server = json.loads(start.files[AGENT / "models.json"])["providers"]["turnwise"]
    assert start.variables[server["apiKey"]] == "none"


def test_a_key_belongs_to_the_models_provider() -> None:
    """The first word of the model says whose key it is; a file names its variable, and not the key."""
    start = Pi().start(task("pi", model="openrouter/acme/m", api_key="!touch /tmp/x"))
    assert json.loads(start.files[AGENT / "auth.json"]) == {"openrouter": {"type": "api_key", "key": "TURNWISE_PI_KEY"}}
    assert start.variables["TURNWISE_PI_KEY"] == "!touch /tmp/x"


def test_it_has_a_configuration_of_its_own() -> None:
    """It sees no configuration of the user's, and looks for no new version."""
    assert Pi().start(task("pi")).variables == {"PI_OFFLINE": "1", "PI_CODING_AGENT_DIR": str(AGENT)}


def test_the_users_configuration_can_be_shared() -> None:
    """With `inherit_config`, pi's own folder is the user's."""
    start = Pi().start(task("pi", inherit_config=True, model="mine/m"))
    assert start.variables == {"PI_OFFLINE": "1"}
    assert start.files == {}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"base_url": URL}, "must be told the model"),
        ({"api_key": KEY, "model": "m"}, "whose key"),
        ({"api_key": KEY, "model": "a/m", "inherit_config": True}, "its own configuration"),
        ({"base_url": URL, "model": "m", "inherit_config": True}, "its own configuration"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any], words: str) -> None:
    """Settings that pi could not be told of are an error with advice, which never shows the key."""
    with pytest.raises(ValidationError) as raised:
        task("pi", **settings)
    (fault,) = raised.value.errors()
    assert words in fault["msg"]
    assert fault["ctx"]["hint"]
    assert KEY not in fault["msg"]
