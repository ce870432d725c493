"""A run that lacks planned results is not whole, however often what it has is graded again."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import turnwise
from run_fixtures import case, mock, project, run, suite
from turnwise import RunOutcome
from turnwise.cli import cli


def again(folder: Path, **settings: Any) -> RunOutcome:
    """Grade a run again."""
    return asyncio.run(turnwise.grade(folder, **settings))


def lose(outcome: RunOutcome, *cases: str) -> Path:
    """Take the records of these cases from the run, as if it had been stopped before."""
    file = outcome.folder / "results.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if json.loads(line)["case_id"] not in cases))
    return outcome.folder


@pytest.fixture
def half(tmp_path: Path) -> Path:
    """A run of two cases, of which only `a` has a record."""
    root = project(tmp_path, s=suite([case("a", tags=["x"]), case("b")]))
    return lose(run(root / "s.yaml"), "b")


def said(folder: Path, what: str = "1 of 2 planned results has", command: str = "run") -> str:
    """The verdict on a grading that lacks results of the run."""
    return f"INCOMPLETE: {what} no record: go on with turnwise {command} --resume {folder.name} (exit 3)"


def test_a_run_that_lacks_results_does_not_pass(half: Path) -> None:
    """The verdict counts them among those that were planned, and says how to get them."""
    verdict = again(half).verdict
    assert (verdict.exit_code, verdict.text) == (3, said(half))


def test_a_whole_run_passes(tmp_path: Path) -> None:
    """Where every planned result has a record, nothing is said."""
    outcome = again(run(project(tmp_path, s=suite(2)) / "s.yaml").folder)
    assert (outcome.verdict.exit_code, outcome.verdict.text) == (0, "PASSED: 2 of 2 (exit 0)")
    assert "unrecorded" not in json.loads((outcome.folder / "run.json").read_text())["regrades"]


@pytest.mark.parametrize(
    ("selection", "exit_code"),
    [({"cases": ["a"]}, 0), ({"exclude": ["b"]}, 0), ({"tags": ["x"]}, 0), ({"cases": ["?"]}, 3)],
)
def test_only_what_is_selected_counts(half: Path, selection: dict[str, Any], exit_code: int) -> None:
    """A case that nobody asks for may lack its record."""
    verdict = again(half, **selection).verdict
    assert verdict.exit_code == exit_code
    assert verdict.text == (said(half) if exit_code else "PASSED: 1 of 1 (exit 0)")


def test_trials_of_a_selected_case_count(tmp_path: Path) -> None:
    """Of three trials, as the run was asked for, two have no record."""
    outcome = run(project(tmp_path, s=suite(2)) / "s.yaml", trials=3)
    file = outcome.folder / "results.jsonl"
    lines = [each for each in file.read_text().splitlines(keepends=True) if json.loads(each)["trial"] == 1]
    file.write_text("".join(lines))
    verdict = again(outcome.folder, cases=["c0"]).verdict
    assert verdict.text == said(outcome.folder, "2 of 3 planned results have")


def test_a_case_that_the_run_did_not_take_lacks_nothing(tmp_path: Path) -> None:
    """What was not planned has no record by right: here, `c` was left out from the start."""
    root = project(tmp_path, s=suite([case("a"), case("b"), case("c")]))
    folder = lose(run(root / "s.yaml", exclude=["c"]), "b")
    assert again(folder, cases=["a", "c"]).verdict.exit_code == 0


def test_a_target_without_any_record_is_missing(tmp_path: Path) -> None:
    """A target that was never reached counts, unless only others are asked for."""
    root = project(tmp_path, mock("one"), mock("two"), s=suite(1))
    outcome = run(root / "s.yaml", ["one", "two"])
    file = outcome.folder / "results.jsonl"
    lines = [each for each in file.read_text().splitlines(keepends=True) if json.loads(each)["target"] == "one"]
    file.write_text("".join(lines))
    assert again(outcome.folder).verdict.text == said(outcome.folder)
    assert again(outcome.folder, targets=["one"]).verdict.exit_code == 0


def test_a_grading_of_a_grading_lacks_the_same(half: Path) -> None:
    """The answers of the first run are still missing, and it is the one to go on with."""
    assert again(again(half).folder).verdict.text == said(half)


def test_a_grading_that_was_stopped_is_gone_on_with_as_one(tmp_path: Path) -> None:
    """What a grading lacks comes from `turnwise grade --resume`."""
    graded = again(run(project(tmp_path, s=suite(2)) / "s.yaml").folder)
    folder = lose(graded, "c1")
    assert again(folder).verdict.text == said(folder, command="grade")


def test_it_is_remembered(half: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The summary of the new run says it later, and so does the run if it is resumed."""
    monkeypatch.chdir(half.parents[2])
    graded = again(half)
    shown = CliRunner().invoke(cli, ["summary", str(graded.folder), "--exit-code"])
    assert (shown.exit_code, shown.stdout.splitlines()[-1]) == (3, said(half))
    assert asyncio.run(turnwise.grade(resume=graded.folder)).verdict.text == said(half)


def test_results_alone_say_nothing_of_a_plan(half: Path) -> None:
    """Without `run.json`, nobody knows what was planned."""
    (half / "run.json").unlink()
    assert again(half, suites=[half.parents[2] / "s.yaml"]).verdict.exit_code == 0
