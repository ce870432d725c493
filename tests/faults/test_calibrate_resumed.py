"""Calibrations that were killed, stopped or changed, and what is left of them for later."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_fixtures import Turnwise
from fault_server import serving
from faults.calibrations import (
    asked_about,
    calibration_folder,
    calibration_process,
    figures_of,
    judge,
    make_calibration,
    samples_of,
)
from faults.runs import KEY, words
from replay_fixtures import write_lines

_COMMON = ("d.deck.md", "-m", "gpt", "--samples", "s.jsonl", "--format", "json")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key that targets name."""
    monkeypatch.setenv("RUN_KEY", KEY)


def _wait_for(enough: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not enough():
        assert time.monotonic() < until
        time.sleep(0.005)


def _journal(folder: Path) -> list[dict[str, Any]]:
    """The lines that are whole: whoever is killed may leave a torn one."""
    path = folder / "results.jsonl"
    lines = path.read_text("utf-8").splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def test_a_killed_calibration_goes_on_where_it_was(turnwise: Turnwise, tmp_path: Path) -> None:
    """After `kill -9`, only what has no answer is asked, and the report is that of one that was never killed."""
    with serving(judge, delay=0.01) as server:
        make_calibration(tmp_path, server.url, 60)
        with calibration_process(tmp_path, *_COMMON, "--workers", "4", "--seed", "7") as process:
            _wait_for(lambda: len(server.received) >= 20)
            process.send_signal(signal.SIGKILL)
            process.wait(20)
        folder = calibration_folder(tmp_path)
        done = {each["case_id"] for each in _journal(folder)}
        assert 0 < len(done) < 60
        server.received.clear()
        resumed = turnwise("calibrate", "--resume", folder.name, "--format", "json")
        assert resumed.code == 0, resumed.err
        assert asked_about(server.received) == sorted(set(words(60)) - done)
        whole = turnwise("calibrate", *_COMMON, "--seed", "7")
    assert figures_of(json.loads(resumed.out)) == figures_of(json.loads(whole.out))


def test_an_interrupted_calibration_ends_with_130_and_says_how_to_go_on(turnwise: Turnwise, tmp_path: Path) -> None:
    """Ctrl-C keeps what is there, prints no report, and names the command that goes on."""
    with serving(judge, delay=0.01) as server:
        make_calibration(tmp_path, server.url, 200)
        with calibration_process(tmp_path, *_COMMON, "--workers", "2") as process:
            _wait_for(lambda: len(server.received) >= 5)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
        folder = calibration_folder(tmp_path)
        assert (process.returncode, out) == (130, "")
        assert f"turnwise calibrate --resume {folder.name}" in err
        assert "Traceback" not in err
        done = {each["case_id"] for each in _journal(folder)}
        server.received.clear()
        server.delay = 0.0
        assert turnwise("calibrate", "--resume", folder.name).code == 0
        assert asked_about(server.received) == sorted(set(words(200)) - done)


@pytest.mark.parametrize("changed", ["the deck", "the samples of", "the target"])
def test_a_changed_project_is_not_gone_on_with(turnwise: Turnwise, tmp_path: Path, changed: str) -> None:
    """Answers to another deck, about other samples or of another model must not be mixed: nothing is asked."""
    with serving(judge) as server:
        make_calibration(tmp_path, server.url, 10)
        turnwise("calibrate", *_COMMON, "--max-tokens-total", "20", "--workers", "1")
        before = len(server.received)
        if changed == "the deck":
            (tmp_path / "d.deck.md").write_text((tmp_path / "d.deck.md").read_text() + "Be strict.\n")
        elif changed == "the samples of":
            write_lines(tmp_path / "s.jsonl", [*samples_of(9), {**samples_of(10)[9], "expected": "pass"}])
        else:
            path = tmp_path / ".turnwise/targets.yaml"
            path.write_text(path.read_text().replace("m-gpt", "m-other"))
        said = turnwise("calibrate", "--resume", calibration_folder(tmp_path).name)
        assert len(server.received) == before
    assert said.code == 2
    assert "something has changed" in said.err
    assert changed in said.err


def test_a_calibration_can_be_replayed(turnwise: Turnwise, tmp_path: Path) -> None:
    """The folder of a calibration, replayed without any server, gives the same figures, repeats included."""
    with serving(judge) as server:
        make_calibration(tmp_path, server.url, 20)
        asked = turnwise("calibrate", *_COMMON, "--repeats", "2")
    folder = calibration_folder(tmp_path)
    replayed = turnwise("calibrate", "d.deck.md", "--samples", "s.jsonl", "--replay", str(folder), "--format", "json")
    assert replayed.code == 0, replayed.err
    live, again = json.loads(asked.out), json.loads(replayed.out)
    assert figures_of(again) == figures_of(live)
    assert again["models"][0]["usage"] == live["models"][0]["usage"]
    assert (live["replayed"], again["replayed"]) == (False, True)


def test_the_report_is_kept_beside_the_answers(turnwise: Turnwise, tmp_path: Path) -> None:
    """The folder holds the report that was printed, and an artefact bound to deck, samples and model."""
    with serving(judge) as server:
        make_calibration(tmp_path, server.url, 20)
        said = turnwise("calibrate", *_COMMON)
    folder = calibration_folder(tmp_path)
    printed = json.loads(said.out)
    assert json.loads((folder / "report.json").read_text("utf-8")) == printed
    [path] = [each for each in folder.glob("*.json") if "artefacts" in each.read_text("utf-8")]
    [kept] = json.loads(path.read_text("utf-8"))["artefacts"]
    kappa = printed["models"][0]["statistics"]["kappa"]
    assert (kept["deck"], kept["deck_hash"]) == ("d.deck.md", printed["deck"]["hash"])
    assert (kept["samples_hash"], kept["model"]) == (printed["samples"]["hash"], "gpt")
    assert [kept[name] for name in ("statistic", "value", "lo", "hi", "n")] == [
        "kappa", *(kappa[name] for name in ("value", "lo", "hi", "n")),
    ]  # fmt: skip


def _codes(said: Any) -> list[str]:
    return [each["code"] for each in json.loads(said.out)["warnings"]]


def test_changed_labels_are_warned_of_next_time(turnwise: Turnwise, tmp_path: Path) -> None:
    """The first calibration and one on the same labels do not warn; one on other labels does."""
    with serving(judge) as server:
        make_calibration(tmp_path, server.url, 10)
        assert "labels_changed" not in _codes(turnwise("calibrate", *_COMMON))
        assert "labels_changed" not in _codes(turnwise("calibrate", *_COMMON))
        write_lines(tmp_path / "s.jsonl", [*samples_of(9), {**samples_of(10)[9], "expected": "pass"}])
        assert "labels_changed" in _codes(turnwise("calibrate", *_COMMON))
        write_lines(tmp_path / "s.jsonl", [*samples_of(9), {**samples_of(10)[9], "expected": "pass"}][::-1])
        assert "labels_changed" not in _codes(turnwise("calibrate", *_COMMON))


def test_secrets_are_nowhere(turnwise: Turnwise, tmp_path: Path) -> None:
    """The key is sent to the server, and stands in no file and in no output."""
    with serving(judge) as server:
        make_calibration(tmp_path, server.url, 3)
        said = turnwise("calibrate", *_COMMON)
        assert {each.headers["authorization"] for each in server.received} == {f"Bearer {KEY}"}
    assert KEY not in said.out + said.err
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if KEY.encode() in path.read_bytes()]


def test_an_unknown_calibration_cannot_be_resumed(turnwise: Turnwise, tmp_path: Path) -> None:
    """The message says that there is none of that name."""
    make_calibration(tmp_path, "http://127.0.0.1:1", 3)
    said = turnwise("calibrate", "--resume", "nothing-of-this-name")
    assert said.code == 2
    assert "nothing-of-this-name" in said.err
