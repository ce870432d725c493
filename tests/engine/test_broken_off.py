"""Conversations that break off: a hole in the suite, or a model that calls without end, is no answer to grade."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from live_fixtures import again, calling, model_at, only, saying
from run_fixtures import case, journal, run
from turnwise.engine.summary_reasons import why_not_passed

WEATHER = {"name": "weather", "replies": [{"arguments": {"city": "Oslo"}, "result": "rain"}]}
BOOK = {"name": "book"}
POLITE = {"not-contains": "sorry"}


def kinds(record: dict[str, Any]) -> list[str | None]:
    """The error of each grade."""
    return [each["error"] and each["error"]["kind"] for each in record["grades"]]


@pytest.mark.parametrize(
    ("call", "settings", "ended"),
    [
        (("weather", {"city": "Bern"}), {"turns": [{"user": "Thanks"}]}, "no-tool-reply"),
        (("weather", {"city": "Bern"}), {}, "no-tool-reply"),
        (("time", {}), {}, "no-tool-reply"),
        (("book", {}), {"turns": [{"user": "Thanks"}]}, "no-tool-reply"),
        (("weather", {"city": "Oslo"}), {"max_tool_rounds": 1}, "tool-rounds"),
    ],
)
def test_half_a_conversation_is_not_graded(tmp_path: Path, call: Any, settings: Any, ended: str) -> None:
    """No grader says anything of an answer that there is not, not even one that holds of nothing; each says why."""
    graders = [POLITE, {"type": "not-contains", "value": "sorry", "scope": "turn"}]
    asked = case("a", tools=[WEATHER, BOOK], graders=graders, **settings)
    with model_at(tmp_path, lambda _: calling(call), asked):
        record = only(tmp_path)
    assert (record["status"], record["score"], record["live"]["ended"]) == ("ungraded", None, ended)
    assert kinds(record) == ["broken-off", "broken-off"]
    assert all(record["live"]["why"] in each["reason"] for each in record["grades"])


@pytest.mark.parametrize("tools", [[BOOK], [WEATHER, BOOK]])
def test_the_call_of_a_tool_without_replies_is_an_answer(tmp_path: Path, tools: Any) -> None:
    """A suite may want to grade the call itself: it gives such a tool no replies, and nothing is left to be said."""
    turns, grader = [{"user": "Book it"}], {"type": "tool_calls", "expected": [{"name": "book"}]}

    def model(messages: list[dict[str, Any]]) -> Any:
        return calling(("book", {"to": "Oslo"})) if messages[-1]["content"] == "Book it" else saying("Sure?")

    with model_at(tmp_path, model, case("a", tools=tools, turns=turns, graders=[grader])):
        record = only(tmp_path)
    assert (record["live"]["ended"], record["status"]) == ("tool-call", "passed")


def test_what_was_graded_before_the_break_is_kept(tmp_path: Path) -> None:
    """The reply to a turn that was whole has its grade; one that broke off in the midst of its turn has none."""
    turns = [{"user": text, "graders": [POLITE]} for text in ("two", "three", "four")]

    def model(messages: list[dict[str, Any]]) -> Any:
        return calling(("time", {})) if messages[-1]["content"] == "three" else saying("hello")

    with model_at(tmp_path, model, case("a", tools=[WEATHER], turns=turns, graders=[POLITE])):
        record = only(tmp_path)
    assert kinds(record) == ["broken-off", None, "broken-off", "turn-not-reached"]
    assert record["status"] == "ungraded"


def test_the_reason_says_once_why_it_broke_off(tmp_path: Path) -> None:
    """However many graders lack a reply, in the record and in the list of what did not pass."""
    turns = [{"user": text, "graders": [POLITE, {"contains": "x"}]} for text in ("two", "three")]
    asked = case("a", tools=[WEATHER], turns=turns, graders=[POLITE])
    with model_at(tmp_path, lambda _: calling(("time", {})), asked):
        record = only(tmp_path)
    said = f"the conversation broke off in turn 1: {record['live']['why']}"
    names = ", ".join(each["name"] for each in record["grades"])
    assert record["reason"] == f"5 graders could not grade: {names}: {said}"
    assert why_not_passed(record) == f"{names}: {said}"


def test_graders_that_may_be_left_out_do_not_hide_the_break(tmp_path: Path) -> None:
    """With `on_error: skip` the grader is left out, and the case stays ungraded: half of it was never said."""
    skipped = {"type": "not-contains", "value": "sorry", "on_error": "skip"}
    turns = [{"user": "two", "graders": [POLITE]}, {"user": "three"}]

    def model(messages: list[dict[str, Any]]) -> Any:
        return calling(("time", {})) if messages[-1]["content"] == "three" else saying("hello")

    with model_at(tmp_path, model, case("a", tools=[WEATHER], turns=turns, graders=[skipped])):
        record = only(tmp_path)
    assert (record["grades"][-1]["score"], record["status"], record["score"]) == (1.0, "ungraded", None)


def test_a_break_stays_one_when_it_is_graded_again(tmp_path: Path) -> None:
    """The record tells that the conversation was not over, and it is no answer on a later day either."""
    turns = [{"user": text, "graders": [POLITE]} for text in ("two", "three")]

    def model(messages: list[dict[str, Any]]) -> Any:
        return calling(("time", {})) if messages[-1]["content"] == "two" else saying("hello")

    with model_at(tmp_path, model, case("a", tools=[WEATHER], turns=turns, graders=[POLITE])):
        recorded = run(tmp_path / "s.yaml", cache=False)
        line = again(recorded)
    assert (line["status"], kinds(line)) == ("ungraded", ["broken-off", "broken-off", "turn-not-reached"])
    assert line["live"] == journal(recorded)[0]["live"]


@pytest.mark.parametrize("condition", [{"tags": ["other"]}, {"target": "other"}])
def test_a_condition_that_does_not_hold_comes_first(tmp_path: Path, condition: Any) -> None:
    """A grader that is not for the answer is left out, whether the turn was reached or not."""
    grader = {"type": "contains", "value": "x", "when": condition}
    turns = [{"user": "two", "graders": [grader]}]
    asked = case("a", tools=[WEATHER], turns=turns, graders=[grader, POLITE])
    with model_at(tmp_path, lambda _: calling(("time", {})), asked):
        record = only(tmp_path)
    assert kinds(record) == ["not-applicable", "broken-off", "not-applicable"]
