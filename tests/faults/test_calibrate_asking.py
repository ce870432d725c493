"""What `turnwise calibrate` asks of a server: who is asked, how often, in which order, and with which settings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command_fixtures import Turnwise
from fault_server import FaultServer, serving
from faults.calibrations import body_of, judge, make_calibration
from faults.runs import KEY, word_of
from replay_fixtures import deck_text

_SCALE = 'kind = "binary"\nlabels = ["fail", "pass"]\npass = "pass"'
_COMMON = ("--samples", "s.jsonl", "--format", "json")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    """A judge that is right on four of five samples."""
    monkeypatch.setenv("RUN_KEY", KEY)
    with serving(judge) as serves:
        yield serves


def _bodies(server: FaultServer) -> list[dict[str, Any]]:
    return [body_of(each) for each in server.received]


def test_every_deck_asks_every_model_about_every_sample_as_often_as_wanted(
    turnwise: Turnwise, tmp_path: Path, server: FaultServer
) -> None:
    """Two decks, two models, three repeats and five samples are 60 requests, each of its kind three times."""
    decks = {name: deck_text(_SCALE, f"You are grader {name}.") for name in ("one", "two")}
    make_calibration(tmp_path, server.url, 5, decks, big={}, small={})
    said = turnwise("calibrate", "one.deck.md", "two.deck.md", "-m", "big,small", "--repeats", "3", *_COMMON)
    assert said.code == 0, said.err
    asked = Counter(
        (body["model"], body["messages"][0]["content"].strip(), word_of(each))
        for each, body in zip(server.received, _bodies(server), strict=True)
    )
    assert len(asked) == 20
    assert set(asked.values()) == {3}
    reports = json.loads(said.out)["reports"]
    assert [report["deck"]["path"] for report in reports] == ["one.deck.md", "two.deck.md"]
    for report in reports:
        assert [model["model"] for model in report["models"]] == ["big", "small"]
        # Of w00000 to w00004 the judge has the last one wrong.
        figures = [model["statistics"]["agreement"] for model in report["models"]]
        assert [(each["k"], each["n"]) for each in figures] == [(4, 5)] * 2
        assert all(model["repeats"]["outputs"] == 15 for model in report["models"])


def test_decks_and_models_take_turns(turnwise: Turnwise, tmp_path: Path, server: FaultServer) -> None:
    """Long before one deck or model is through, the others have been asked."""
    decks = {name: deck_text(_SCALE, f"You are grader {name}.") for name in ("one", "two")}
    make_calibration(tmp_path, server.url, 20, decks, big={}, small={})
    assert turnwise("calibrate", ".", "-m", "big,small", "--workers", "2", *_COMMON).code == 0
    first = _bodies(server)[:20]
    assert {body["model"] for body in first} == {"m-big", "m-small"}
    assert len({body["messages"][0]["content"] for body in first}) == 2


@pytest.mark.parametrize(
    ("options", "deck", "target", "expected"),
    [
        ((), "", {}, 0),
        (("--temperature", "0.5"), "", {}, 0.5),
        (("--temperature", "default"), "", {}, None),
        ((), "temperature = 0.7", {}, 0.7),
        (("--temperature", "0.5"), "temperature = 0.7", {}, 0.7),
        (("--temperature", "default"), "temperature = 0.7", {}, 0.7),
        ((), "", {"temperature": 0.3}, 0.3),
        (("--temperature", "0.5"), "", {"temperature": 0.3}, 0.3),
    ],
)
def test_temperature(
    turnwise: Turnwise, tmp_path: Path, server: FaultServer,
    options: tuple[str, ...], deck: str, target: dict[str, Any], expected: float | None,
) -> None:  # fmt: skip
    """It is 0 unless deck, target or command say otherwise; `default` sends none where those two set none."""
    make_calibration(tmp_path, server.url, 2, {"d": deck_text(_SCALE, more=deck)}, gpt=target)
    assert turnwise("calibrate", "d.deck.md", "-m", "gpt", *options, *_COMMON).code == 0
    assert [body.get("temperature") for body in _bodies(server)] == [expected] * 2
    assert all(("temperature" in body) == (expected is not None) for body in _bodies(server))


def test_the_form_of_the_answer_is_asked_for(turnwise: Turnwise, tmp_path: Path, server: FaultServer) -> None:
    """The request has a schema with the scale's labels; `--plain` has none."""
    make_calibration(tmp_path, server.url, 1)
    turnwise("calibrate", "d.deck.md", "-m", "gpt", *_COMMON)
    turnwise("calibrate", "d.deck.md", "-m", "gpt", "--plain", *_COMMON)
    asked, plain = _bodies(server)
    schema = asked["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["label"]["enum"] == ["fail", "pass"]
    assert "response_format" not in plain


def test_the_judge_never_sees_the_label(turnwise: Turnwise, tmp_path: Path, server: FaultServer) -> None:
    """A deck that never mentions the conversation still shows it, as the last message; front matter and label stay."""
    deck = deck_text(_SCALE, "Grade it.", "[meta]\nsecret = 'front-matter'")
    make_calibration(tmp_path, server.url, 1, {"d": deck})
    rows = json.loads((tmp_path / "s.jsonl").read_text())
    rows["expected"] = {"label": "pass", "reason": "the-human-reason"}
    (tmp_path / "s.jsonl").write_text(json.dumps(rows) + "\n")
    assert turnwise("calibrate", "d.deck.md", "-m", "gpt", *_COMMON).code == 0
    [body] = _bodies(server)
    assert [each["role"] for each in body["messages"]] == ["system", "user"]
    assert "Say w00000" in body["messages"][1]["content"]
    assert "It is w00000" in body["messages"][1]["content"]
    text = json.dumps(body)
    assert "the-human-reason" not in text
    assert "front-matter" not in text


def test_the_cache_answers_a_second_calibration(turnwise: Turnwise, tmp_path: Path, server: FaultServer) -> None:
    """With `--cache`, the same questions are asked once; repeats are questions of their own."""
    make_calibration(tmp_path, server.url, 4)
    arguments = ("calibrate", "d.deck.md", "-m", "gpt", "--cache", "--repeats", "2", *_COMMON)
    first = turnwise(*arguments)
    assert len(server.received) == 8
    second = turnwise(*arguments)
    assert len(server.received) == 8
    one, other = (json.loads(said.out)["models"][0]["statistics"] for said in (first, second))
    assert one == other


def test_a_dry_run_asks_nothing(turnwise: Turnwise, tmp_path: Path, server: FaultServer) -> None:
    """It says how many answers would be wanted, and writes no calibration."""
    make_calibration(tmp_path, server.url, 4)
    said = turnwise("calibrate", "d.deck.md", "-m", "gpt", "--repeats", "2", "--dry-run", *_COMMON)
    assert said.code == 0
    assert json.loads(said.out)["answers"] == 8
    assert server.received == []
    assert not (tmp_path / ".turnwise/calibrations").exists()


def test_a_bad_gate_of_a_deck_is_found_before_anybody_is_asked(
    turnwise: Turnwise, tmp_path: Path, server: FaultServer
) -> None:
    """What is wrong with a deck must not be found when all answers are paid for."""
    make_calibration(tmp_path, server.url, 2, {"d": deck_text(_SCALE, more='gates = ["kapa>=0.5"]')})
    assert turnwise("calibrate", "d.deck.md", "-m", "gpt", *_COMMON).code == 2
    assert server.received == []
