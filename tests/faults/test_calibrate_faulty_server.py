"""Servers that fail: what is asked again, what is given up, and that no failure becomes a score."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_fixtures import Said, Turnwise
from fault_server import Fault, Received, answer, serving
from faults.calibrations import asked_about, calibration_folder, figures_of, judge, make_calibration
from faults.runs import KEY, completion, word_of, words

_COMMON = ("calibrate", "d.deck.md", "-m", "gpt", "--samples", "s.jsonl", "--format", "json")
Reply = Callable[[Received], Fault | bytes]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key that targets name."""
    monkeypatch.setenv("RUN_KEY", KEY)


def _failing_first(status: int) -> Reply:
    """Each sample's first request fails."""
    seen: Counter[str] = Counter()

    def reply(request: Received) -> bytes:
        seen[word_of(request)] += 1
        return judge(request) if seen[word_of(request)] > 1 else answer({"error": {"message": "not now"}}, status)

    return reply


def _failing_for(word: str, fault: Fault | bytes) -> Reply:
    """One sample's requests all fail."""
    return lambda request: fault if word_of(request) == word else judge(request)


def _model(said: Said) -> dict[str, Any]:
    model: dict[str, Any] = json.loads(said.out)["models"][0]
    return model


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_passes_is_asked_again(turnwise: Turnwise, tmp_path: Path, status: int) -> None:
    """A first failure of each sample leaves no trace in the report."""
    with serving(_failing_first(status)) as server:
        make_calibration(tmp_path, server.url, 4)
        said = turnwise(*_COMMON)
    assert said.code == 0, said.err
    assert asked_about(server.received) == sorted(words(4) * 2)
    assert (_model(said)["valid"], _model(said)["invalid"]) == (4, {})


@pytest.mark.parametrize(
    ("fault", "status", "options"),
    [
        (answer({"error": {"message": "broken"}}, 500), "api_error", ()),
        (answer({"error": {"message": "wrong"}}, 400), "api_error", ()),
        (Fault(then="hang"), "timeout", ("--timeout", "0.3")),
        (Fault(then="reset"), "api_error", ()),
        (completion(""), "empty", ()),
        (completion("I cannot help with that."), "refusal", ()),
        (completion("Well, hard to say."), "not_json", ()),
        (completion('{"label": "maybe"}'), "out_of_range", ()),
    ],
    ids=["500", "400", "timeout", "reset", "empty", "refusal", "prose", "other-word"],
)
def test_what_does_not_pass_is_a_status_and_in_no_figure(
    turnwise: Turnwise, tmp_path: Path, fault: Fault | bytes, status: str, options: tuple[str, ...]
) -> None:
    """The sample that has no verdict is counted under its status; figures are over the other nine."""
    with serving(_failing_for("w00003", fault)) as server:
        make_calibration(tmp_path, server.url, 10, gpt={"max_retries": 1})
        said = turnwise(*_COMMON, *options)
    assert "Traceback" not in said.err
    model = _model(said)
    assert (model["total"], model["valid"], model["invalid"]) == (10, 9, {status: 1})
    assert [each["id"] for each in model["invalid_outputs"]] == ["w00003"]
    # Wrong are w00004 and w00009.
    agreement = model["statistics"]["agreement"]
    assert (agreement["k"], agreement["n"]) == (7, 9)


def test_a_resumed_calibration_asks_again_what_failed(turnwise: Turnwise, tmp_path: Path) -> None:
    """An error is asked again by `--resume`, a verdict is not; then the report is that of a sound server."""
    with serving(_failing_for("w00003", answer({"error": {"message": "broken"}}, 500))) as broken:
        make_calibration(tmp_path, broken.url, 10, gpt={"max_retries": 0})
        first = turnwise(*_COMMON)
        broken.reply = judge
        broken.received.clear()
        second = turnwise("calibrate", "--resume", calibration_folder(tmp_path).name, "--format", "json")
        assert asked_about(broken.received) == ["w00003"]
        third = turnwise(*_COMMON)
    assert _model(first)["invalid"] == {"api_error": 1}
    assert second.code == 0, second.err
    assert figures_of(json.loads(second.out)) == figures_of(json.loads(third.out))


def test_a_refused_key_is_said_once_and_never_shown(turnwise: Turnwise, tmp_path: Path) -> None:
    """A server that echoes the key with its refusal cannot put it into the report, the folder, or the terminal."""
    refusal = answer({"error": {"message": f"bad key {KEY}"}}, 401)
    with serving(lambda _: refusal) as server:
        make_calibration(tmp_path, server.url, 3)
        said = turnwise(*_COMMON)
    assert said.code != 0
    assert "Traceback" not in said.err
    assert KEY not in said.out + said.err
    files = [path for path in (tmp_path / ".turnwise").rglob("*") if path.is_file()]
    assert not [path for path in files if KEY.encode() in path.read_bytes()]


def test_a_budget_of_tokens_stops_and_can_be_gone_on_with(turnwise: Turnwise, tmp_path: Path) -> None:
    """With five tokens a request, 20 tokens are not enough for ten samples: 3, and a hint how to go on."""
    with serving(judge) as server:
        make_calibration(tmp_path, server.url, 10)
        stopped = turnwise(*_COMMON, "--max-tokens-total", "20", "--workers", "1")
        done = asked_about(server.received)
        assert stopped.code == 3
        assert 0 < len(done) < 10
        assert f"--resume {calibration_folder(tmp_path).name}" in stopped.err
        assert _model(stopped)["invalid"] == {"missing": 10 - len(done)}
        server.received.clear()
        resumed = turnwise(
            "calibrate", "--resume", calibration_folder(tmp_path).name, "--max-tokens-total", "1000", "-f", "json"
        )
        assert sorted(done + asked_about(server.received)) == words(10)
    assert resumed.code == 0, resumed.err
    assert _model(resumed)["valid"] == 10
