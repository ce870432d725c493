"""`turnwise calibrate --estimate`, from files to what is printed."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from command_fixtures import Turnwise
from estimate_fixtures import ORACLE, answer_rows, conversation, estimate_files, judged_rows, lines_to

_REPLAY = ("calibrate", "--samples", "s.jsonl", "--replay", "r.jsonl", "--estimate", "a.jsonl")
_DECK = '+++\n[scale]\nkind = "binary"\nlabels = ["fail", "pass"]\npass = "pass"\n+++\nGrade the answer.\n'
_TARGETS = """
targets:
  - name: judge
    provider: mock
    response: '{"label": "fail"}'
    script:
      - {pattern: 'Answer (s[0-9]|s1[01]|a[0-3])\\b', response: '{"label": "pass"}'}
"""


def _oracle_files() -> None:
    estimate_files(Path(), ORACLE, ["pass"] * 400 + ["fail"] * 600)


def _check_oracle(found: dict[str, Any]) -> None:
    assert [found["value"], found["lo"], found["hi"]] == pytest.approx([1 / 6, 0.056351, 0.262733], abs=5e-7)
    assert (found["raw"], found["n"], found["labels"]) == (0.4, 1000, 400)


def test_json(turnwise: Turnwise) -> None:
    """The JSON has the corrected rate under `estimate`, and the totals of the labelled samples alone."""
    _oracle_files()
    said = turnwise(*_REPLAY, "--format", "json")
    assert said.code == 0, said.err
    record = json.loads(said.out)
    _check_oracle(record["estimate"][0])
    assert record["samples"]["total"] == record["models"][0]["total"] == 400


def test_text_markdown_and_toml(turnwise: Turnwise) -> None:
    """People read the rate in percent below the report; the other forms have it too."""
    _oracle_files()
    sentence = "passes 40.0 % of 1,000 answers; corrected for its errors 16.7 %"
    assert f"m {sentence} [5.6, 26.3]" in " ".join(turnwise(*_REPLAY).out.split())
    assert sentence in turnwise(*_REPLAY, "--format", "md").out
    assert sentence in turnwise(*_REPLAY, "--quiet").out
    _check_oracle(tomllib.loads(turnwise(*_REPLAY, "--format", "toml").out)["estimate"][0])


def test_refused_is_exit_code_3(turnwise: Turnwise) -> None:
    """A rate that cannot be corrected is null with a reason, and the exit code says that something is unknown."""
    estimate_files(Path(), {("pass", "pass"): 50, ("fail", "fail"): 9}, ["pass"] * 5)
    said = turnwise(*_REPLAY, "--format", "json")
    (found,) = json.loads(said.out)["estimate"]
    assert said.code == 3
    assert (found["value"], found["raw"]) == (None, 1.0)
    assert "label more of the rarer kind" in found["refusal"]


def test_same_ids_are_an_error(turnwise: Turnwise) -> None:
    """Answers under the ids of samples end with the place and a way out."""
    _oracle_files()
    lines_to("a.jsonl", [conversation("s3")])
    said = turnwise(*_REPLAY)
    assert said.code == 2
    assert "a.jsonl:1" in said.err
    assert "--drawn" in said.err


def _live_files() -> None:
    samples, _ = judged_rows({("pass", "pass"): 12, ("fail", "fail"): 12})
    lines_to("s.jsonl", samples)
    lines_to("a.jsonl", answer_rows(["pass"] * 4 + ["fail"] * 6)[0])
    Path("d.deck.md").write_text(_DECK, encoding="utf-8")
    Path(".turnwise").mkdir()
    Path(".turnwise/targets.yaml").write_text(_TARGETS, encoding="utf-8")


def test_live_then_replayed(turnwise: Turnwise) -> None:
    """The judge is asked about answers in the same calibration; its folder replays to the same rate."""
    _live_files()
    asked = ("calibrate", "d.deck.md", "--samples", "s.jsonl", "--estimate", "a.jsonl", "--format", "json")
    live = turnwise(*asked, "-m", "judge")
    assert live.code == 0, live.err
    record = json.loads(live.out)
    (found,) = record["estimate"]
    assert (found["raw"], found["n"], found["value"], found["tpr"], found["tnr"]) == (0.4, 10, 0.4, 1.0, 1.0)
    assert record["models"][0]["total"] == 24
    (folder,) = [each for each in Path(".turnwise/calibrations").iterdir() if each.is_dir()]
    kept = json.loads((folder / "report.json").read_bytes())
    assert kept["estimate"] == record["estimate"]
    again = turnwise(*asked, "--replay", str(folder))
    assert json.loads(again.out)["estimate"] == record["estimate"]
    resumed = turnwise("calibrate", "--resume", folder.name, "--format", "json")
    assert json.loads(resumed.out)["estimate"] == record["estimate"]


def test_dry_run_counts_answers(turnwise: Turnwise) -> None:
    """What would be asked holds the answers, and asks about none."""
    _live_files()
    asked = ("calibrate", "d.deck.md", "--samples", "s.jsonl", "--estimate", "a.jsonl", "-m", "judge")
    said = turnwise(*asked, "--dry-run", "--format", "json")
    assert json.loads(said.out)["answers"] == 24 + 10
    assert not Path(".turnwise/calibrations").exists()
