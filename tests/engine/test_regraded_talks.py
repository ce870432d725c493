"""Grading a live conversation again: what graders and judges see, and what it took, are those of the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deck_run_fixtures import judge_target
from fault_server import answer, serving
from judge_fixtures import opinion
from live_fixtures import again, calling, model_at, saying
from run_fixtures import ECHO, case, journal, project, run, suite
from turnwise.graders.base import Submission
from turnwise.graders.judge_values import shown_answer

CHEAP = {"type": "cost", "max": 0.00012, "scope": "turn"}
JUDGE = {"type": "llm_judge", "target": "judge", "prompt": "{{ conversation }}\n\n{{ answer }}"}
WEATHER = {"name": "weather", "reply": {"result": "rain"}}
SEEN = """
def keep(data):
    return {"score": 1, "evidence": {"seen": data["input_messages"], "usage": data["usage"]}}
"""


def replies(line: dict[str, Any], index: int = 0) -> list[dict[str, Any]]:
    """What a grader with `scope: turn` says of each turn."""
    turns: list[dict[str, Any]] = line["grades"][index]["evidence"]["turns"]
    return turns


def two_turns(messages: list[dict[str, Any]]) -> bytes:
    """A model whose second reply is dear, after a call of a tool."""
    if messages[-1]["content"] != "two":
        return saying("done", 50, 5) if messages[-1]["role"] == "tool" else saying("hello", 100, 10)
    return calling(("weather", {}))


def test_what_a_reply_cost_is_recorded(tmp_path: Path) -> None:
    """Tokens and cost of each turn, its tools included, are kept, and `scope: turn` says the same of the record."""
    asked = case("a", "one", turns=[{"user": "two"}], tools=[WEATHER], graders=[CHEAP])
    with model_at(tmp_path, two_turns, asked):
        recorded = run(tmp_path / "s.yaml", cache=False)
        line = again(recorded)
    (before,) = journal(recorded)
    assert before["live"]["turn_costs_usd"] == [pytest.approx(0.00011), pytest.approx(0.000165)]
    assert [each["input_tokens"] for each in before["live"]["turn_usage"]] == [100, 150]
    assert [each["passed"] for each in replies(before)] == [True, False]
    assert replies(line) == replies(before)


def test_a_record_that_does_not_keep_the_cost_of_turns_is_no_cheap_one(tmp_path: Path) -> None:
    """Without these figures a turn's cost is not known, and the reason does not blame the prices alone."""
    with model_at(tmp_path, two_turns, case("a", "one", turns=[{"user": "two"}], tools=[WEATHER], graders=[CHEAP])):
        recorded = run(tmp_path / "s.yaml", cache=False)
        (before,) = journal(recorded)
        old = {key: value for key, value in before["live"].items() if key not in ("turn_usage", "turn_costs_usd")}
        (recorded.folder / "results.jsonl").write_text(json.dumps({**before, "live": old}) + "\n")
        line = again(recorded)
    assert (line["status"], replies(line)[0]["error"]["kind"]) == ("ungraded", "unknown-cost")
    assert "a record that has both" in replies(line)[0]["reason"]


def test_every_turn_is_graded_with_the_request_that_was_sent(tmp_path: Path) -> None:
    """The target's system prompt was sent with each turn, so it is among the input of each when graded again."""
    (tmp_path / "seen_by_graders.py").write_text(SEEN)
    grader = {"type": "python", "function": "seen_by_graders:keep", "scope": "turn"}
    asked = case("a", "one", turns=[{"user": "two"}], tools=[WEATHER], graders=[grader])
    with model_at(tmp_path, two_turns, asked, system_prompt="Be brief."):
        recorded = run(tmp_path / "s.yaml", cache=False)
        line = again(recorded)
    (before,) = journal(recorded)
    first = [each["evidence"]["seen"][0] for each in replies(before)]
    assert first == [{"role": "system", "content": "Be brief."}] * 2
    assert [each["evidence"] for each in replies(line)] == [each["evidence"] for each in replies(before)]


def test_calls_of_earlier_turns_are_not_the_answer() -> None:
    """A judge is shown the calls of the last reply alone, where that says nothing in words."""
    call: Any = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    early: list[Any] = [{"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "user", "content": "?"}]
    late: Any = {**call, "function": {"name": "book", "arguments": "{}"}}
    silent = Submission(question="Q?", text="", output_messages=[*early, {"role": "assistant", "content": ""}])
    assert shown_answer(silent) == ""
    called: Any = {"role": "assistant", "content": None, "tool_calls": [late]}
    shown = shown_answer(Submission(question="Q?", text="", output_messages=[*early, called]))
    assert "book" in shown
    assert "weather" not in shown


@pytest.mark.parametrize("turns", [{}, {"turns": [{"user": "two"}]}])
def test_a_judge_is_shown_the_conversation_that_was_answered(tmp_path: Path, turns: Any) -> None:
    """A case that was edited since then asks something else: its answers are judged by what was asked."""
    with serving(lambda _: opinion(1)) as server:
        content = suite([case("a", "the old question", **turns)], graders=[JUDGE])
        root = project(tmp_path, ECHO, judge_target(server.url), s=content)
        recorded = run(root / "s.yaml")
        edited = suite([case("a", "another one", **turns)], graders=[JUDGE], target="echo")
        (root / "s.yaml").write_text(json.dumps(edited))
        again(recorded)
        before, after = (json.loads(each.body)["messages"] for each in server.received)
    assert "the old question" in json.dumps(before)
    assert after == before


def test_an_error_keeps_what_was_said_when_it_is_graded_again(tmp_path: Path) -> None:
    """There is nothing to grade: messages, tokens, cost and the account of the conversation stay as they were."""

    def model(messages: list[dict[str, Any]]) -> Any:
        return saying("hello") if messages[-1]["content"] == "one" else answer({"error": {"message": "no"}}, 400)

    with model_at(tmp_path, model, case("a", "one", turns=[{"user": "two"}])):
        recorded = run(tmp_path / "s.yaml", cache=False)
        line = again(recorded)
    (before,) = journal(recorded)
    kept = ("status", "output_messages", "usage", "cost_usd", "live", "raw_request")
    assert len(before["output_messages"]) == 2
    assert before["cost_usd"] == pytest.approx(0.00011)
    assert line["error"]["message"] == before["error"]["message"]
    assert {name: line[name] for name in kept} == {name: before[name] for name in kept}
