"""Canned tools: calls of a model are answered by name and arguments, and never without end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from live_fixtures import bodies, calling, model_at, only, saying, sent_messages
from run_fixtures import case
from turnwise.engine.tool_replies import reply_to, result_text, tool_messages
from turnwise.graders.tool_call_reading import ToolCall
from turnwise.suite.format import ToolSpec

Messages = list[dict[str, Any]]
WEATHER = {
    "name": "weather",
    "replies": [
        {"arguments": {"city": "Oslo"}, "result": {"sky": "rain"}},
        {"arguments": {"city": "Rome"}, "error": "no such station"},
    ],
}


def asks_once(*calls: tuple[str, dict[str, Any]]) -> Any:
    """A model that calls, and says hello to whatever comes back."""
    return lambda messages: saying("hello") if messages[-1]["role"] == "tool" else calling(*calls)


def test_a_call_is_answered_by_its_arguments(tmp_path: Path) -> None:
    """The model gets the result of the reply that fits, with the id of its call; further arguments do not matter."""
    model = asks_once(("weather", {"city": "Oslo", "unit": "C"}))
    with model_at(tmp_path, model, case("a", "Rain?", tools=[WEATHER])) as server:
        record = only(tmp_path)
    tool = {"role": "tool", "tool_call_id": "id1", "content": '{"sky": "rain"}'}
    assert sent_messages(server)[1][-1] == tool
    assert [each["role"] for each in record["output_messages"]] == ["assistant", "tool", "assistant"]
    assert (record["answer"], record["live"]["turns"], record["live"]["requests"]) == ("hello", 1, 2)
    assert "replies" not in bodies(server)[0]["tools"][0]["function"]


def test_all_calls_of_one_answer_are_answered(tmp_path: Path) -> None:
    """Two calls bring two messages, in their order; an error is said to the model as one."""
    model = asks_once(("weather", {"city": "Rome"}), ("weather", {"city": "Oslo"}))
    with model_at(tmp_path, model, case("a", tools=[WEATHER])) as server:
        only(tmp_path)
    found = [(each["tool_call_id"], each["content"]) for each in sent_messages(server)[1] if each["role"] == "tool"]
    assert found == [("id1", '{"error": "no such station"}'), ("id2", '{"sky": "rain"}')]


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (("weather", {"city": "Bern"}), 'no reply of the tool \'weather\' fits the arguments {"city": "Bern"}'),
        (("time", {}), "the model called 'time', and the case has no such tool"),
    ],
)
def test_without_a_reply_the_conversation_stops(tmp_path: Path, call: Any, why: str) -> None:
    """The call is the last that is kept, scripted turns are not said, and the line says why."""
    tools = [WEATHER]
    with model_at(tmp_path, asks_once(call), case("a", tools=tools, turns=[{"user": "Thanks"}])) as server:
        record = only(tmp_path)
    assert len(server.received) == 1
    assert (record["answer"], record["finish_reason"]) == ("", "tool_calls")
    assert (record["live"]["ended"], record["live"]["why"]) == ("no-tool-reply", f"{why}; 1 turn was not said")
    assert record["output_messages"][-1]["tool_calls"][0]["function"]["name"] == call[0]


def test_an_endless_loop_ends(tmp_path: Path) -> None:
    """Calls are answered `max_tool_rounds` times; a model that goes on calling has given no answer to grade."""
    tool = {"name": "again", "reply": {"result": "more"}}
    with model_at(tmp_path, lambda _: calling(("again", {})), case("a", tools=[tool], max_tool_rounds=3)) as server:
        record = only(tmp_path)
    assert len(server.received) == 4
    assert (record["live"]["ended"], record["status"]) == ("tool-rounds", "ungraded")


def test_each_turn_has_its_own_rounds(tmp_path: Path) -> None:
    """A turn that used up its rounds leaves the next one all of its own."""
    tool = {"name": "again", "reply": {"result": "more"}}
    with model_at(
        tmp_path, asks_once(("again", {})), case("a", tools=[tool], max_tool_rounds=1, turns=[{"user": "More"}])
    ) as server:
        record = only(tmp_path)
    assert (len(server.received), record["live"]["ended"], record["live"]["turns"]) == (4, "answered", 2)


def test_the_first_fitting_reply_counts_and_the_default_comes_last() -> None:
    """A reply without arguments fits every call; arguments that are no JSON fit only what asks for none."""
    tool = ToolSpec.model_validate(
        {"name": "f", "replies": [{"arguments": {"a": {"b": 1}}, "result": 1}], "reply": {"result": 2}}
    )
    found = [
        reply_to(call, [tool])
        for call in (
            ToolCall("f", {"a": {"b": 1, "c": 2}}),
            ToolCall("f", {"a": {"b": True}}),
            ToolCall("f", "{oops", "the arguments are not JSON"),
            ToolCall("g", {}),
        )
    ]
    assert [None if each is None else each.result for each in found] == [1, 2, 2, None]


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ({"result": "as is"}, "as is"),
        ({"result": None}, "null"),
        ({"result": ["ä"]}, '["ä"]'),
        ({"error": "e"}, '{"error": "e"}'),
    ],
)
def test_results_become_texts(reply: dict[str, Any], text: str) -> None:
    """A text is given as it is, and anything else as JSON."""
    tool = ToolSpec.model_validate({"name": "f", "reply": reply})
    assert tool.reply is not None
    assert result_text(tool.reply) == text


def test_a_call_without_an_id_is_answered_without_one() -> None:
    """Nothing is made up for a program that gives its calls no ids."""
    tool = ToolSpec.model_validate({"name": "f", "reply": {"result": "x"}})
    asking: Any = {"role": "assistant", "content": None, "tool_calls": [{"name": "f", "arguments": {}}]}
    assert tool_messages(asking, [tool]) == [{"role": "tool", "content": "x"}]
