"""Live conversations under judges that need no deck, and under the graders of a later day."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fault_server import serving
from judge_fixtures import PRICE, graded, opinion, ticks
from live_fixtures import again
from run_fixtures import case, journal, project, run, suite
from turnwise.engine.recorded_question import asked_first

EACH = {"type": "contains", "value": "two", "scope": "turn", "aggregate": "mean"}


def test_a_judge_without_a_deck_is_asked_about_each_reply(tmp_path: Path) -> None:
    """The least score of the replies counts, and what all of them took is paid for."""
    with serving(lambda request: opinion(0.5 if b"Nairobi" in request.body else 1)) as server:
        judge = {"type": "llm_judge", "target": "judge", "scope": "turn"}
        line = graded(tmp_path, server, judge, cases=[case("a", "one", turns=[{"user": "Nairobi"}])])
        assert len(server.received) == 2
    assert [each["score"] for each in line["grades"][0]["evidence"]["turns"]] == [1.0, 0.5]
    assert (line["score"], line["judge_cost_usd"]) == (0.5, pytest.approx(2 * PRICE))


def test_a_line_among_the_graders_of_a_turn_is_a_rubric(tmp_path: Path) -> None:
    """The suite's judge is found for it, and asked about that reply alone."""
    turns = [{"user": "two", "graders": ["It says two."]}, {"user": "three"}]
    with serving(lambda _: ticks(True)) as server:
        line = graded(tmp_path, server, cases=[case("a", "one", turns=turns)], judge="judge")
        (asked,) = server.received
    assert b"three" not in asked.body
    assert [(each["name"], each["score"]) for each in line["grades"]] == [("turn 2: rubric", 1.0)]


def test_the_replies_of_a_recorded_conversation_are_graded_again(tmp_path: Path) -> None:
    """Each reply, its turn's graders and the account of the conversation are those of the record; nobody is asked."""
    turns: list[dict[str, Any]] = [{"user": "two"}, {"user": "three"}]
    root = project(tmp_path, s=suite([case("a", "one", turns=turns, graders=[])]))
    recorded = run(root / "s.yaml")
    (before,) = journal(recorded)
    turns[0]["graders"] = [{"equals": "two"}]
    turns[1]["graders"] = [{"equals": "two"}]
    content = suite([case("a", "one", turns=turns, graders=[EACH])], target="echo")
    (root / "s.yaml").write_text(json.dumps(content))
    line = again(recorded)
    assert [(each["name"], each["score"]) for each in line["grades"]] == [
        ("contains", pytest.approx(1 / 3)),
        ("turn 2: equals", 1.0),
        ("turn 3: equals", 0.0),
    ]
    assert (line["live"], line["output_messages"]) == (before["live"], before["output_messages"])


def test_a_turn_that_was_not_recorded_is_not_graded(tmp_path: Path) -> None:
    """A turn that the case has got since then has no reply: its grader leaves the case ungraded."""
    root = project(tmp_path, s=suite([case("a", "one")]))
    recorded = run(root / "s.yaml")
    turns = [{"user": "two", "graders": [{"contains": "two"}]}]
    (root / "s.yaml").write_text(json.dumps(suite([case("a", "one", turns=turns)], target="echo")))
    line = again(recorded)
    assert (line["status"], line["grades"][-1]["error"]["kind"]) == ("ungraded", "turn-not-reached")


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_file_of_graders_stands_in_for_those_of_turns(tmp_path: Path, is_gone: bool) -> None:
    """The replies are graded by the file alone, also where only the record of the case is left."""
    turns = [{"user": "two", "graders": [{"contains": "no"}]}]
    root = project(tmp_path, s=suite([case("a", "one", turns=turns)]))
    recorded = run(root / "s.yaml")
    if is_gone:
        (root / "s.yaml").write_text(json.dumps(suite([case("b")], target="echo")))
    file = root / "graders.yaml"
    file.write_text(json.dumps({"graders": [EACH]}))
    line = again(recorded, graders=file)
    assert [(each["name"], each["score"]) for each in line["grades"]] == [("contains", 0.5)]


def test_what_was_asked_first_is_known_from_the_last_request() -> None:
    """The messages that the conversation added before its last answer are no part of the case."""
    one, two, three = ({"role": role, "content": "x"} for role in ("user", "assistant", "user"))
    record = {"raw_request": {"chat_prompt": [one, two, three]}, "output_messages": [two, three, two], "live": {"a": 1}}
    assert asked_first(record)["chat_prompt"] == [one]
    assert asked_first({**record, "live": None})["chat_prompt"] == [one, two, three]
