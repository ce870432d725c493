"""Scripted turns: each is sent after the model's real reply, and the line holds all that was said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fault_server import Fault, answer
from helpers import ROOT
from live_fixtures import bodies, model_at, only, saying, sent_messages
from run_fixtures import Carried, Server, case, journal, mock, plan, project, run, suite
from turnwise.engine import conversing
from turnwise.engine.dry_run import estimate_plan
from turnwise.engine.planned_targets import resolve_planned
from turnwise.engine.result_format import ResultSpec
from turnwise.errors import RateLimitError, SuiteError
from turnwise.providers import ProviderRequest, ProviderResponse

Messages = list[dict[str, Any]]


def counting(messages: Messages) -> bytes:
    """A model that says how many messages it got."""
    return saying(f"hello {len(messages)}")


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


SYSTEM = {"role": "system", "content": "You are a careful assistant."}
TURNS = [{"user": "And then?"}, {"role": "user", "content": ["Go", "on"]}]


def test_every_turn_sees_the_real_replies(tmp_path: Path) -> None:
    """The next request holds all that was asked and all that the model really said, in order."""
    with model_at(tmp_path, counting, case("a", "Begin", turns=TURNS)) as server:
        record = only(tmp_path)
    first = [SYSTEM, user("Begin")]
    second = [*first, assistant("hello 2"), user("And then?")]
    third = [*second, assistant("hello 4"), user("Go\non")]
    assert sent_messages(server) == [first, second, third]
    assert record["output_messages"] == [*third[2:], assistant("hello 6")]
    assert (record["answer"], record["status"]) == ("hello 6", "passed")


def test_a_turn_is_asked_as_if_the_conversation_was_recorded(tmp_path: Path) -> None:
    """The body of the last request is the same as that of a case whose `input_messages` are what was said: files,
    guidelines, system prompt and all."""
    (tmp_path / "note.txt").write_text("A note.")
    (tmp_path / "tone.instructions.md").write_text("Be kind.")
    files = [{"type": "file", "value": name} for name in ("note.txt", "tone.instructions.md")]
    live = case("a", "Begin", turns=[{"content": ["See", *files]}], system_prompt="Be brief.")
    with model_at(tmp_path, counting, live) as server:
        only(tmp_path)
        said = [user("Begin"), assistant("hello 2"), {"role": "user", "content": ["See", *files]}]
        recorded = {"id": "a", "input_messages": said, "system_prompt": "Be brief."}
        (tmp_path / "s.yaml").write_text(json.dumps(suite([recorded], target="gpt")))
        only(tmp_path)
    _, live_body, recorded_body = bodies(server)
    assert live_body == recorded_body
    assert "Be kind." in live_body["messages"][0]["content"]


def test_what_it_took_is_summed(tmp_path: Path) -> None:
    """Tokens, cost, attempts and time are those of all requests; each turn's time is there too."""
    tokens = iter([(100, 10), (200, 20), (300, 30)])
    with model_at(tmp_path, lambda _: saying("hello", *next(tokens)), case("a", turns=TURNS)) as server:
        record = only(tmp_path)
    assert len(server.received) == 3
    assert (record["usage"]["input_tokens"], record["usage"]["output_tokens"]) == (600, 60)
    assert record["cost_usd"] == pytest.approx(660 / 1_000_000)
    live = record["live"]
    assert (record["attempts"], live["turns"], live["requests"], live["ended"]) == (3, 3, 3, "answered")
    assert len(live["turn_latencies_ms"]) == 3
    assert record["latency_ms"] == pytest.approx(sum(live["turn_latencies_ms"]))
    ResultSpec.model_validate(record)


def test_the_request_of_the_line_is_the_last(tmp_path: Path) -> None:
    """The answer answers `raw_request`: its messages are what was sent last, its question is their transcript."""
    with model_at(tmp_path, counting, case("a", "Begin", turns=TURNS[:1])) as server:
        record = only(tmp_path)
    assert record["raw_request"]["messages"] == sent_messages(server)[-1]
    assert record["raw_request"]["question"] == "[User]:\nBegin\n\n[Assistant]:\nhello 2\n\n[User]:\nAnd then?"


def test_an_error_in_the_middle_keeps_what_was_said(tmp_path: Path) -> None:
    """It is an error without answer or score; messages, tokens and cost of the turns before it are kept."""

    def breaks(messages: Messages) -> Fault | bytes:
        return answer({"error": {"message": "broken"}}, 500) if len(messages) == 6 else saying("hello")

    with model_at(tmp_path, breaks, case("a", turns=TURNS)):
        record = only(tmp_path)
    assert (record["status"], record["answer"], record["score"], record["grades"]) == ("error", None, None, [])
    assert [each["role"] for each in record["output_messages"]] == ["assistant", "user", "assistant", "user"]
    assert (record["usage"]["input_tokens"], record["attempts"]) == (200, 3)
    assert record["cost_usd"] == pytest.approx(220 / 1_000_000)
    assert (record["live"]["ended"], record["live"]["turns"]) == ("error", 2)
    assert record["live"]["why"].startswith("an error in turn 3")
    assert len(record["raw_request"]["messages"]) == 6
    ResultSpec.model_validate(record)


def test_a_resumed_run_asks_the_whole_case_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A conversation that failed begins anew; one that is done is left alone."""
    asked: list[tuple[str | None, int]] = []
    broken = True

    async def reply(server: Server, request: ProviderRequest) -> ProviderResponse:
        turns = len(request.chat_prompt or ())
        asked.append((request.case_id, turns))
        if broken and request.case_id == "b" and turns == 3:
            raise RateLimitError("no", retryable=False)
        return ProviderResponse(text="hello", messages=[{"role": "assistant", "content": "hello"}])

    Server(reply).install(monkeypatch)
    cases = [case(name, turns=TURNS[:1]) for name in ("a", "b")]
    project(tmp_path, s=suite(cases))
    first = Carried(tmp_path / "s.yaml")
    asked.clear()
    broken = False
    again = Carried(first.folder, resume=True)
    assert asked == [("b", 1), ("b", 3)]
    assert {(each["case_id"], each["status"]) for each in again.records[-2:]} >= {("b", "passed")}


def test_a_rate_limit_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was answered is not asked again after a rest, and every attempt is counted."""
    asked: list[int] = []

    async def reply(server: Server, request: ProviderRequest) -> ProviderResponse:
        asked.append(len(request.chat_prompt or ()))
        if asked.count(3) == 1 and asked[-1] == 3:
            raise RateLimitError("slow down", retry_after=1.0)
        return ProviderResponse(text="hello", messages=[{"role": "assistant", "content": "hello"}])

    Server(reply).install(monkeypatch)
    project(tmp_path, mock(max_retries=0), s=suite([case("a", turns=TURNS[:1])]))
    (record,) = Carried(tmp_path / "s.yaml").records
    assert asked == [1, 3, 3]
    assert (record["status"], record["attempts"], record["live"]["requests"]) == ("passed", 3, 2)


def test_the_timeout_is_for_the_whole_conversation(tmp_path: Path) -> None:
    """Turns that are quick one by one are late together."""
    project(tmp_path, mock(delay=0.2), s=suite([case("a", turns=TURNS)]))
    record = only(tmp_path, timeout=0.3)
    assert (record["status"], record["error"]["kind"]) == ("error", "timeout")
    assert (record["live"]["turns"], record["attempts"]) == (1, 2)


def test_the_cache_works_request_by_request(tmp_path: Path) -> None:
    """Turns that were asked before are not sent again and cost nothing; only the new one does."""
    with model_at(tmp_path, counting, case("a", turns=TURNS[:1])) as server:
        only(tmp_path, cache=True)
        (tmp_path / "s.yaml").write_text(json.dumps(suite([case("a", turns=TURNS)], target="gpt")))
        record = only(tmp_path, cache=True)
    assert len(server.received) == 3
    assert (record["attempts"], record["usage"]["input_tokens"]) == (1, 300)
    assert record["cost_usd"] == pytest.approx(110 / 1_000_000)


def test_a_budget_counts_every_request(tmp_path: Path) -> None:
    """A conversation of three requests uses up what three requests may take, and it is finished."""
    cases = [case(f"c{number}", turns=TURNS) for number in range(3)]
    with model_at(tmp_path, counting, *cases, workers=1) as server:
        outcome = run(tmp_path / "s.yaml", cache=False, max_tokens_total=350)
    assert len(server.received) == 3
    assert [each["status"] for each in journal(outcome)] == ["passed"]


@pytest.mark.parametrize("form", ["cases", "dataset"])
def test_agents_have_no_live_conversations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """The run does not start, wherever the cases are written, and nothing is sent."""
    monkeypatch.setattr(conversing, "AGENTS", frozenset({"mock"}))
    cases = [case("a", turns=TURNS), case("b")]
    project(tmp_path, s=suite(cases if form == "cases" else "cases.jsonl"))
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, cases)))
    with pytest.raises(SuiteError) as caught:
        run(tmp_path / "s.yaml")
    assert [(each.code, each.case_id) for each in caught.value.diagnostics] == [("agent-turns", "a")]
    assert not (tmp_path / ".turnwise" / "runs").exists()


def test_other_results_know_nothing_of_it(tmp_path: Path) -> None:
    """A case without turns, tools or a user has no further field, and a tool without replies is no live one."""
    project(tmp_path, s=suite([case("a"), case("b", tools=[{"name": "f"}])]))
    assert all("live" not in each for each in journal(run(tmp_path / "s.yaml")))


def test_an_estimate_counts_a_request_for_each_turn(tmp_path: Path) -> None:
    """Two turns after the first message are at least three requests, each with what came before."""
    project(tmp_path, s=suite([case("a", "x" * 40, turns=[{"user": "y" * 40}, {"user": "z" * 40}])]))
    made = plan(tmp_path / "s.yaml")
    resolve_planned(made.targets)
    whole = estimate_plan(made).total
    system = len(SYSTEM["content"])
    assert (whole.requests, whole.input_tokens) == (3, (40 + 80 + 120 + 3 * system) // 4)


def test_variables_fill_turns(tmp_path: Path) -> None:
    """Messages, graders and expected texts of turns are filled like those of the case."""
    turn = {"user": "And {{ city }}?", "expected": "And {{ city }}?", "graders": [{"equals": None}]}
    filled = case("a", vars={"city": "Oslo"}, graders=[{"contains": "Oslo"}], turns=[turn])
    project(tmp_path, s=suite([filled]))
    record = only(tmp_path)
    assert (record["answer"], [each["score"] for each in record["grades"]]) == ("And Oslo?", [1.0, 1.0])


def test_the_example_passes_offline(tmp_path: Path) -> None:
    """`examples/multi-turn` shows a script, a simulated user and canned tools, and every case passes."""
    records = journal(run(ROOT / "examples" / "multi-turn" / "suite.yaml", runs_dir=tmp_path))
    assert {each["case_id"]: (each["status"], each["live"]["ended"]) for each in records} == {
        "scripted": ("passed", "answered"),
        "simulated": ("passed", "stop-word"),
    }
