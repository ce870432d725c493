"""Grading live conversations: graders of turns, of every turn, and of the whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from deck_run_fixtures import deck_project, messages_of, verdict
from fault_server import serving
from live_fixtures import calling, model_at, only, saying
from run_fixtures import case, journal, project, run, suite


def grades_of(record: dict[str, Any]) -> dict[str, Any]:
    return {each["name"]: each["score"] for each in record["grades"]}


def test_a_turn_s_graders_see_its_reply_alone(tmp_path: Path) -> None:
    """They are named by their turn, count for the case, and no other reply matters to them."""
    turns = [{"user": "two", "graders": [{"contains": "two"}, {"contains": "three"}]}, {"user": "three"}]
    project(tmp_path, s=suite([case("a", "one", turns=turns, graders=[{"contains": "three"}])]))
    record = only(tmp_path)
    assert [(each["name"], each["score"]) for each in record["grades"]] == [
        ("contains", 1.0), ("turn 2: contains", 1.0), ("turn 2: contains", 0.0)
    ]  # fmt: skip
    assert record["score"] == 2 / 3


def test_a_turn_that_was_not_reached_is_not_graded(tmp_path: Path) -> None:
    """A conversation that stopped before says nothing about the reply: the case is ungraded, and says why."""
    tools = [{"name": "f", "replies": [{"arguments": {"a": 1}, "result": 1}]}]
    turns = [{"user": "two", "graders": [{"contains": "x"}]}]
    with model_at(tmp_path, lambda _: calling(("f", {})), case("a", tools=tools, turns=turns)):
        record = only(tmp_path)
    grade = record["grades"][-1]
    assert (record["status"], grade["name"], grade["error"]["kind"]) == (
        "ungraded", "turn 2: contains", "turn-not-reached"
    )  # fmt: skip


def test_expected_texts_belong_to_their_turns(tmp_path: Path) -> None:
    """A turn's own expected text counts for its graders; the case's is for the last reply."""
    turns = [{"user": "two", "expected": "two", "graders": [{"equals": None}]}, {"user": "three"}]
    expected = [{"role": "assistant", "content": "three"}]
    project(tmp_path, s=suite([case("a", "one", turns=turns, expected_messages=expected, graders=[{"equals": None}])]))
    assert grades_of(only(tmp_path)) == {"equals": 1.0, "turn 2: equals": 1.0}


def test_scope_turn_grades_every_reply_and_its_tools(tmp_path: Path) -> None:
    """A reply is all that the model does until the user speaks again: here each of them calls one tool."""
    tools = [{"name": "f", "reply": {"result": "x"}}]
    grader = {"type": "tool_calls", "expected": [{"name": "f"}], "max_calls": 1}
    graders = [{**grader, "name": "each", "scope": "turn"}, {**grader, "name": "whole", "max_calls": 2}]

    def model(messages: list[dict[str, Any]]) -> bytes:
        return saying("done") if messages[-1]["role"] == "tool" else calling(("f", {}))

    with model_at(tmp_path, model, case("a", tools=tools, turns=[{"user": "again"}], graders=graders)):
        record = only(tmp_path)
    each = record["grades"][0]
    assert (each["score"], [turn["turn"] for turn in each["evidence"]["turns"]]) == (1.0, [1, 2])
    assert record["grades"][1]["score"] == 0.0  # two calls, and one is expected


def test_scope_turn_is_not_for_recorded_replies(tmp_path: Path) -> None:
    """What the case itself says in the assistant's name was not written by the model, and is not graded."""
    messages = [{"role": "user", "content": "yes"}, {"role": "assistant", "content": "no"}]
    messages += [{"role": "user", "content": "yes"}]
    grader = {"type": "contains", "value": "yes", "scope": "turn"}
    project(tmp_path, s=suite([{"id": "a", "input_messages": messages, "graders": [grader]}]))
    record = only(tmp_path)
    assert (record["score"], len(record["grades"][0]["evidence"]["turns"])) == (1.0, 1)


def test_a_judge_of_turns_sees_each_with_what_came_before(tmp_path: Path) -> None:
    """It is asked once a reply; what it took is summed."""
    grader = {"type": "deck", "path": "tone.deck.md", "target": "judge", "scope": "turn"}
    with serving(lambda request: verdict(5 if b"rude" not in request.body else 1)) as server:
        deck_project(tmp_path, server.url, s=suite([case("a", "hi", turns=[{"user": "rude"}], graders=[grader])]))
        (record,) = journal(run(tmp_path / "s.yaml"))
        shown = [json.dumps(messages_of(each)) for each in server.received]
    assert ["rude" in each for each in shown] == [False, True]
    assert [each["score"] for each in record["grades"][0]["evidence"]["turns"]] == [1.0, 0.0]
    assert (record["score"], record["judge_usage"]["input_tokens"]) == (0.0, 2000)


def test_a_judge_of_one_turn_is_found_and_asked(tmp_path: Path) -> None:
    """A deck among the graders of a turn is planned like any other."""
    turns = [{"user": "please", "graders": [{"type": "deck", "path": "tone.deck.md", "target": "judge"}]}]
    with serving(lambda _: verdict(5)) as server:
        deck_project(tmp_path, server.url, s=suite([case("a", "hello", turns=turns, graders=[])]))
        (record,) = journal(run(tmp_path / "s.yaml"))
    assert grades_of(record) == {"turn 2: deck": 1.0}


def test_trials_are_conversations_of_their_own(tmp_path: Path) -> None:
    """The turns of a trial become one score; the trials stay apart."""
    grader = {"type": "contains", "value": "two", "scope": "turn", "aggregate": "mean"}
    project(tmp_path, s=suite([case("a", "one", turns=[{"user": "two"}], graders=[grader], trials=2)]))
    records = journal(run(tmp_path / "s.yaml"))
    assert [(each["trial"], each["score"], each["live"]["turns"]) for each in records] == [(1, 0.5, 2), (2, 0.5, 2)]
