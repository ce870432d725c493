"""What a grader is given of each reply of a live conversation: its own input, output, reference, time and cost."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deck_run_fixtures import judge_target
from fault_server import serving
from judge_fixtures import PRICE, opinion
from live_fixtures import again, bodies, calling, model_at, only, saying
from run_fixtures import ECHO, case, journal, mock, openai, project, run, suite
from turnwise.providers import MockProvider, ProviderRequest, ProviderResponse

WEATHER = {"name": "weather", "reply": {"result": "rain"}}
WHOLE = {"type": "python", "function": "reply_seen:keep"}
EACH = {**WHOLE, "scope": "turn"}
SEEN = """
def keep(data):
    return {"score": 1, "evidence": {"seen": data}}
"""


@pytest.fixture(autouse=True)
def functions(tmp_path: Path) -> Iterator[None]:
    """A grader that keeps what it is given, which each test imports from its own folder."""
    (tmp_path / "reply_seen.py").write_text(SEEN)
    yield
    sys.modules.pop("reply_seen", None)


def turns_of(line: dict[str, Any], index: int = 0) -> list[dict[str, Any]]:
    """What a grader with `scope: turn` says of each turn."""
    turns: list[dict[str, Any]] = line["grades"][index]["evidence"]["turns"]
    return turns


def seen(grade: dict[str, Any]) -> dict[str, Any]:
    """What a grader was given."""
    given: dict[str, Any] = grade["evidence"]["seen"]
    return given


def words(messages: list[dict[str, Any]]) -> list[Any]:
    """What was said, without calls."""
    return [each["content"] for each in messages]


def asks_the_weather(messages: list[dict[str, Any]]) -> bytes:
    """A model that calls a tool in the second turn."""
    last = messages[-1]
    return calling(("weather", {})) if last["content"] == "two" else saying("wet" if last["role"] == "tool" else "fine")


def test_input_and_output_do_not_overlap(tmp_path: Path) -> None:
    """The input is what the case gave, the output is all that was added; the same when it is graded again."""
    live = case("a", "one", turns=[{"user": "two"}], tools=[WEATHER], graders=[WHOLE])
    with model_at(tmp_path, asks_the_weather, live, system_prompt="Be brief."):
        recorded = run(tmp_path / "s.yaml", cache=False)
        lines = [*journal(recorded), again(recorded)]
    for given in (seen(line["grades"][0]) for line in lines):
        assert words(given["input_messages"]) == ["Be brief.", "one"]
        assert words(given["output_messages"]) == ["fine", "two", None, "rain", "wet"]


def test_input_and_output_of_a_turn_do_not_overlap(tmp_path: Path) -> None:
    """The input of a reply ends with what the user said; calls of tools and their results are in its output alone."""
    live = case("a", "one", turns=[{"user": "two"}], tools=[WEATHER], graders=[EACH])
    with model_at(tmp_path, asks_the_weather, live):
        recorded = run(tmp_path / "s.yaml", cache=False)
        lines = [*journal(recorded), again(recorded)]
    for line in lines:
        first, second = map(seen, turns_of(line))
        assert (words(first["input_messages"]), words(first["output_messages"])) == (["one"], ["fine"])
        assert words(second["input_messages"]) == ["one", "fine", "two"]
        assert words(second["output_messages"]) == [None, "rain", "wet"]


def test_a_reply_without_a_reference_is_told_where_one_belongs(tmp_path: Path) -> None:
    """`expected_messages` are for the final reply: the error of any other does not say that the case has none."""
    grader = {"type": "equals", "scope": "turn"}
    expected = [{"role": "assistant", "content": "two"}]
    live = case("a", "one", turns=[{"user": "two"}], expected_messages=expected, graders=[grader])
    project(tmp_path, s=suite([live]))
    record = only(tmp_path)
    first, last = turns_of(record)
    assert (first["score"], first["error"]["kind"], last["score"]) == (None, "no-reference", 1.0)
    assert "the case has no reference" not in first["error"]["message"]
    assert "which are for its final reply, or a turn of its script an `expected`" in first["error"]["message"]


def test_what_is_expected_in_the_end_is_not_expected_before(tmp_path: Path) -> None:
    """Each reply is given what is expected of itself, and nothing where nothing is."""
    expected = [{"role": "assistant", "content": "the end"}]
    turns = [{"user": "two", "expected": "the middle"}, {"user": "three"}]
    project(tmp_path, s=suite([case("a", "one", turns=turns, expected_messages=expected, graders=[EACH])]))
    given = [seen(each) for each in turns_of(only(tmp_path))]
    assert [words(each["expected_messages"]) for each in given] == [[], ["the middle"], ["the end"]]
    assert [each["reference_answer"] for each in given] == [None, "the middle", "the end"]


def test_a_judge_of_a_turn_is_shown_the_reply_once(tmp_path: Path) -> None:
    """What was said before a reply does not hold the reply itself."""
    grader = {"type": "llm_judge", "target": "judge", "prompt": "Judge:\n\n{{ conversation }}", "scope": "turn"}
    with serving(lambda _: opinion(1)) as judge:
        live = case("a", "one", turns=[{"user": "two"}], graders=[grader])
        targets = [judge_target(judge.url)]
        with model_at(tmp_path, lambda sent: saying(f"to {sent[-1]['content']}"), live, targets=targets):
            only(tmp_path)
        shown = [json.dumps(each["messages"]) for each in bodies(judge)]
    assert [(each.count("to one"), each.count("to two")) for each in shown] == [(1, 0), (1, 1)]


def test_the_time_of_a_reply_is_that_of_all_its_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply that calls a tool takes two requests, and `latency` of the turn counts both."""
    call = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}

    async def ask(provider: Any, request: ProviderRequest) -> ProviderResponse:
        calls = (request.chat_prompt or [])[-1]["content"] == "two"
        message: Any = {"role": "assistant", "content": None if calls else "hello"}
        message |= {"tool_calls": [call]} if calls else {}
        return ProviderResponse(text="" if calls else "hello", messages=[message], latency_ms=1000.0)

    monkeypatch.setattr(MockProvider, "ask", ask)
    grader = {"type": "latency", "max": 1500, "scope": "turn"}
    project(tmp_path, mock(), s=suite([case("a", "one", turns=[{"user": "two"}], tools=[WEATHER], graders=[grader])]))
    found = [(each["evidence"]["latency_ms"], each["passed"]) for each in turns_of(only(tmp_path))]
    assert found == [(1000.0, True), (2000.0, False)]


def test_a_simulated_user_and_a_judge_are_paid_together(tmp_path: Path) -> None:
    """What the result says of judges is the sum of both, and not that of one of them."""
    user = {"target": "player", "goal": "a refund", "max_turns": 1}
    with serving(lambda _: saying("More", 50, 5)) as played, serving(lambda _: opinion(1)) as judged:
        prices = {"input": 1.0, "output": 1.0}
        player = openai(played.url, name="player", api_key="sk-0123456789", prices=prices)
        graders = [{"type": "llm_judge", "target": "judge"}]
        project(tmp_path, ECHO, player, judge_target(judged.url), s=suite([case("a", user=user)], graders=graders))
        record = only(tmp_path)
    assert record["live"]["user"]["cost_usd"] == pytest.approx(55 / 1_000_000)
    assert record["judge_cost_usd"] == pytest.approx(PRICE + 55 / 1_000_000)
    assert record["judge_usage"]["input_tokens"] == 1050


RECORDED = [
    [{"role": "assistant", "content": None}],
    [{"role": "tool", "tool_call_id": "1", "content": "rain"}],
    [],
]


@pytest.mark.parametrize("messages", RECORDED)
def test_the_recorded_answer_is_the_final_reply(tmp_path: Path, messages: list[dict[str, Any]]) -> None:
    """Whatever the recorded messages hold of it: the text that is graded again is `answer` of the record."""
    live = case("a", "hello", turns=[{"user": "hello, again"}], graders=[EACH])
    recorded = run(project(tmp_path, s=suite([live])) / "s.yaml")
    (line,) = journal(recorded)
    begun = line["output_messages"][:2]
    edited = {**line, "answer": "hello, in the end", "output_messages": [*begun, *messages]}
    (recorded.folder / "results.jsonl").write_text(json.dumps(edited) + "\n")
    given = seen(turns_of(again(recorded))[-1])
    assert given["answer"] == "hello, in the end"


def test_a_recorded_answer_without_a_message_of_the_model_is_there(tmp_path: Path) -> None:
    """A record whose messages are all of others still has an answer, which is graded as the one reply."""
    live = case("a", "hello", tools=[WEATHER], turns=[{"user": "hello, again"}], graders=[EACH])
    recorded = run(project(tmp_path, s=suite([live])) / "s.yaml")
    (line,) = journal(recorded)
    tool = {"role": "tool", "tool_call_id": "1", "content": "rain"}
    (recorded.folder / "results.jsonl").write_text(json.dumps({**line, "output_messages": [tool]}) + "\n")
    (given,) = map(seen, turns_of(again(recorded)))
    assert given["answer"] == line["answer"]
    assert words(given["output_messages"]) == ["rain", line["answer"]]


def test_an_answer_of_the_cache_is_not_for_nothing(tmp_path: Path) -> None:
    """It cost nothing then, but `cost` bounds what the answer costs: graded again, it does not pass for 0 dollars."""
    dear = {"type": "cost", "max": 0.0001}
    with model_at(tmp_path, lambda _: saying("hello", 100, 10), case("a", graders=[dear])):
        run(tmp_path / "s.yaml", cache=True)
        cached = run(tmp_path / "s.yaml", cache=True)
        line = again(cached)
    (before,) = journal(cached)
    assert (before["attempts"], before["cost_usd"], before["status"]) == (0, 0.0, "failed")
    (grade,) = line["grades"]
    assert (grade["score"], grade["error"]["kind"]) == (None, "unknown-cost")  # a record of the cache has no prices
