"""A simulated user: what it is shown, when it stops, and what it costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fault_server import answer
from live_fixtures import model_at, only, saying
from run_fixtures import Carried, case, journal, mock, openai, project, run, suite
from turnwise.conversation.values import Message, Text
from turnwise.engine.simulated_user import exchanged, user_prompt
from turnwise.errors import RunError, SuiteError
from turnwise.suite.live_format import UserSpec

USER = {"target": "player", "persona": "A hurried traveller", "goal": "Book a train", "max_turns": 3}
Messages = list[dict[str, Any]]


def both(player: Any) -> Any:
    """A server that is the model, and the player where the first message is of the player's prompt."""
    return lambda messages: player(messages) if "You play a person" in messages[0]["content"] else saying("hello")


def player_at(url: str) -> dict[str, Any]:
    prices = {"input": 2.0, "output": 2.0}
    return openai(url, name="player", api_key="sk-0123456789", max_retries=0, prices=prices)


def talk(root: Path, player: Any, user: dict[str, Any] = USER, **fields: Any) -> tuple[dict[str, Any], list[Messages]]:
    """The result of a conversation, and what the player was shown each time."""
    with model_at(root, both(player), case("a", "Hi", user=user, **fields)) as server:
        targets = json.loads((root / ".turnwise" / "targets.yaml").read_text())
        targets["targets"].append(player_at(server.url))
        (root / ".turnwise" / "targets.yaml").write_text(json.dumps(targets))
        record = only(root)
        sent = [json.loads(each.body)["messages"] for each in server.received]
    return record, [each for each in sent if "You play a person" in each[0]["content"]]


def test_the_player_sees_the_conversation_from_the_other_side(tmp_path: Path) -> None:
    """Its own words are the assistant's, the model's are the user's, below a prompt with persona and goal."""
    said = iter(["To Oslo", "[[END]]"])
    record, shown = talk(tmp_path, lambda _: saying(next(said)))
    rest = [
        {"role": "assistant", "content": "Hi"},
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "To Oslo"},
        {"role": "user", "content": "hello"},
    ]
    opening = {"role": "user", "content": "Begin the conversation."}
    assert [each[1:] for each in shown] == [[opening, *rest[:2]], [opening, *rest]]
    prompt = shown[0][0]["content"]
    assert all(
        part in prompt for part in ("Who you are: A hurried traveller", "What you want: Book a train", "[[END]]")
    )
    assert [each["content"] for each in record["output_messages"]] == ["hello", "To Oslo", "hello"]
    assert (record["live"]["ended"], record["live"]["user"]["messages"]) == ("stop-word", 1)


def test_it_stops_after_its_turns(tmp_path: Path) -> None:
    """`max_turns` messages of the user are answered, and no more are asked for."""
    record, shown = talk(tmp_path, lambda _: saying("More"))
    assert (len(shown), record["live"]["turns"], record["live"]["ended"]) == (3, 4, "max-turns")
    assert (record["answer"], record["live"]["user"]["last_words"]) == ("hello", None)


def test_its_cost_counts_like_a_judge_s(tmp_path: Path) -> None:
    """Its tokens and dollars are the judges', not the model's."""
    record, _ = talk(tmp_path, lambda _: saying("More", 50, 5), {**USER, "max_turns": 2})
    assert (record["judge_usage"]["input_tokens"], record["judge_usage"]["output_tokens"]) == (100, 10)
    assert record["judge_cost_usd"] == pytest.approx(2 * 110 / 1_000_000)
    assert record["cost_usd"] == pytest.approx(3 * 110 / 1_000_000)


def test_the_script_comes_first(tmp_path: Path) -> None:
    """Where there are both, the player goes on after the last scripted turn."""
    record, shown = talk(tmp_path, lambda _: saying("[[END]]"), turns=[{"user": "Scripted"}])
    assert [each["content"] for each in shown[0][2:]] == ["Hi", "hello", "Scripted", "hello"]
    assert record["live"]["turns"] == 2


@pytest.mark.parametrize("reply", [saying(" "), answer({"error": {"message": "broken"}}, 500)])
def test_a_player_that_fails_is_an_error_that_keeps_what_was_said(tmp_path: Path, reply: bytes) -> None:
    """It says nothing about the model: there is no score, and the reply so far is kept."""
    record, _ = talk(tmp_path, lambda _: reply)
    assert (record["status"], record["score"], record["error"]["kind"]) == ("error", None, "application")
    assert "the simulated user (player) gave no message for turn 2" in record["error"]["message"]
    assert record["live"]["why"].startswith("an error in turn 2")
    assert ([each["content"] for each in record["output_messages"]], record["attempts"]) == (["hello"], 1)


def test_a_model_that_says_nothing_is_shown_as_silent() -> None:
    """The player always answers something: APIs take no conversation that ends with its own words."""
    messages = [Message("user", (Text("U"),)), Message("assistant")]
    assert exchanged(messages)[-1] == {"role": "user", "content": "(The assistant said nothing.)"}


def test_a_player_that_has_changed_keeps_a_run_from_going_on(tmp_path: Path) -> None:
    """What it says would be said by another one."""
    suites = suite([case("a", user={"target": "player", "goal": "g"})])
    project(tmp_path, mock(), mock("player", response="[[END]]"), s=suites)
    first = Carried(tmp_path / "s.yaml")
    project(tmp_path, mock(), mock("player", response="More"), s=suites)
    with pytest.raises(RunError) as caught:
        Carried(first.folder, resume=True)
    assert caught.value.details == ('simulated user player: `response` was "[[END]]", and is "More"',)


def test_own_stop_word(tmp_path: Path) -> None:
    """Another word ends it, also beside others; what is said with it is kept for the reader, and not sent."""
    record, _ = talk(tmp_path, lambda _: saying("Thanks. BYE"), {**USER, "stop": "BYE"})
    assert (record["live"]["ended"], [each["role"] for each in record["output_messages"]]) == (
        "stop-word", ["assistant"]
    )  # fmt: skip
    assert record["live"]["user"]["last_words"] == "Thanks. BYE"


def test_the_player_does_not_see_tools() -> None:
    """System texts, calls and results are left out: a person would not see them."""
    call = {"name": "f", "arguments": "{}"}
    messages = [
        Message("system", (Text("S"),)),
        Message("user", (Text("U"),)),
        Message("assistant", (), None, (call,)),
        Message("tool", (Text("T"),), None, (), "id1"),
        Message("assistant", (Text("A"),)),
    ]
    assert exchanged(messages) == [{"role": "assistant", "content": "U"}, {"role": "user", "content": "A"}]


def test_a_user_without_a_persona_has_none() -> None:
    """The prompt leaves out what is not given."""
    assert "Who you are" not in user_prompt(UserSpec(target="t", goal="g"))


def test_a_target_that_is_not_there_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    """A run does not begin without the one who plays the user."""
    project(tmp_path, s=suite([case("a", user={"target": "nobody", "goal": "g"})]))
    with pytest.raises(SuiteError, match="nobody"):
        run(tmp_path / "s.yaml")


def test_a_resumed_run_finds_the_player_again(tmp_path: Path) -> None:
    """The whole conversation is asked once more, player included."""
    player = mock("player", response="[[END]]")
    project(tmp_path, mock(), player, s=suite([case("a", user={"target": "player", "goal": "g"})]))
    first = Carried(tmp_path / "s.yaml")
    (first.folder / "results.jsonl").write_text("")
    again = Carried(first.folder, resume=True)
    assert [each["live"]["ended"] for each in (*first.records, *again.records)] == ["stop-word", "stop-word"]


def test_a_player_that_is_late_is_the_timeout_of_the_result(tmp_path: Path) -> None:
    """The time of one result holds for both sides; only what was sent to the model is an attempt."""
    player = mock("player", response="More", delay=5)
    project(tmp_path, mock(), player, s=suite([case("a", user={"target": "player", "goal": "g"})]))
    record = only(tmp_path, timeout=0.3)
    assert (record["error"]["kind"], record["attempts"], record["live"]["turns"]) == ("timeout", 1, 1)


def test_the_cases_of_a_dataset_share_the_suite_s_player(tmp_path: Path) -> None:
    """`user` and `turns` of the suite are for cases that have none of their own, wherever the cases stand."""
    lines = [case("a", "one"), case("b", "one", turns=[{"user": "three"}])]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, lines)))
    shared = {"turns": [{"user": "two"}], "user": {"target": "player", "goal": "g"}}
    project(tmp_path, mock(), mock("player", response="[[END]]"), s=suite("rows.jsonl", **shared))
    answers = {each["case_id"]: each["answer"] for each in journal(run(tmp_path / "s.yaml"))}
    assert answers == {"a": "two", "b": "three"}
