"""`turnwise summary`: of a run, of its folder, and of any file of results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from turnwise.cli.summary import command
from turnwise.errors import RunError, UsageError

RUN_ID = "20261116-090507-3fa2c1"


def line(case_id: str, score: float | None = 1.0, **fields: Any) -> str:
    """One line of a file of results."""
    return json.dumps({"case_id": case_id, "target": "gpt", "trial": 1, "score": score, **fields}) + "\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, as the current folder."""
    (tmp_path / ".turnwise" / "runs").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return tmp_path


def write_run(project: Path, journal: str | None, **description: Any) -> Path:
    """A run in the project; without a journal, it has not begun to write one."""
    folder = project / ".turnwise" / "runs" / RUN_ID
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps(description))
    if journal is not None:
        (folder / "results.jsonl").write_text(journal)
    return folder


def summary(*arguments: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(command, arguments)


def verdict_of(*arguments: str) -> tuple[int, str]:
    """The exit code that the verdict gives, and the last line."""
    result = summary(*arguments, "--exit-code")
    return result.exit_code, result.stdout.splitlines()[-1]


def test_any_file_of_results_has_a_summary(project: Path) -> None:
    """Four keys a line are enough, and the last line needs no line break."""
    Path("mine.jsonl").write_text(line("a") + line("b", 0.2).rstrip())
    result = summary("mine.jsonl")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[0].split() == ["target", "passed", "failed", "n", "mean", "score", "pass", "rate"]
    assert result.stdout.endswith("FAILED: gpt: 1 of 2 failed (exit 1)\n")


def test_the_exit_code_is_that_of_the_verdict_on_request(project: Path) -> None:
    """Without --exit-code a summary that could be made is a success."""
    Path("mine.jsonl").write_text(line("a") + line("b", 0.2))
    assert summary("mine.jsonl").exit_code == 0
    assert verdict_of("mine.jsonl")[0] == 1
    assert verdict_of("mine.jsonl", "--threshold", "0.5") == (0, "PASSED: 1 of 2 (exit 0)")


def test_json_holds_everything(project: Path) -> None:
    """Unrounded, with the verdict."""
    Path("mine.jsonl").write_text(line("a", 1.0) + line("b", 0.2) + line("c", 0.0))
    data = json.loads(summary("mine.jsonl", "--format", "json").stdout)
    (group,) = data["targets"]
    assert group["pass_rate"]["value"] == 1 / 3
    assert group["suite"] is None
    assert data["verdict"] == {"exit_code": 1, "text": "FAILED: gpt: 2 of 3 failed (exit 1)"}


@pytest.mark.parametrize(
    "written",
    [RUN_ID, f".turnwise/runs/{RUN_ID}", f".turnwise/runs/{RUN_ID}/", f".turnwise/runs/{RUN_ID}/results.jsonl"],
)
def test_a_run_is_named_by_id_folder_or_journal(project: Path, written: str) -> None:
    """All of them find what the run has to reach."""
    lines = line("a", suite="s.yaml") + line("b", 0.0, suite="s.yaml")
    write_run(project, lines, suites=[{"file": "s.yaml", "min_pass_rate": 0.5}], results=2)
    assert verdict_of(written) == (0, "PASSED: 1 of 2 (exit 0)")
    assert summary(written).stdout.startswith(f"run {RUN_ID}\n")


def test_the_command_line_is_above_the_run(project: Path) -> None:
    """--threshold takes the place of the run's own, which takes that of the suites."""
    lines = line("a", suite="s.yaml") + line("b", 0.0, suite="s.yaml")
    suites = [{"file": "s.yaml", "min_pass_rate": 0.5}]
    write_run(project, lines, suites=suites, options={"threshold": 0.9}, results=2)
    assert verdict_of(RUN_ID)[1] == "FAILED: s.yaml on gpt: pass rate 0.50 is below 0.9 (exit 1)"
    assert verdict_of(RUN_ID, "--threshold", "0.4")[0] == 0


def test_what_the_plan_holds_and_the_journal_does_not_is_missing(project: Path) -> None:
    """A line that was redone is one result."""
    write_run(project, line("a", None, error={"kind": "timeout"}) + line("a"), results=3)
    assert verdict_of(RUN_ID) == (3, "INCOMPLETE: 2 not run (exit 3)")


def test_a_run_that_was_not_to_be_graded_is_fine(project: Path) -> None:
    """Its description says so."""
    write_run(project, line("a", None), options={"graded": False}, results=1)
    assert verdict_of(RUN_ID) == (0, "DONE: 1 answer, not graded (exit 0)")


@pytest.mark.parametrize("journal", ["", None])
def test_a_run_without_results_says_so(project: Path, journal: str | None) -> None:
    """An empty journal, or none yet, is no error, but no success either."""
    write_run(project, journal, results=4)
    result = summary(RUN_ID)
    assert (result.exit_code, result.stdout.splitlines()[:2]) == (0, [f"run {RUN_ID}", "no results"])
    assert verdict_of(RUN_ID) == (3, "INCOMPLETE: there are no results; 4 not run (exit 3)")


def test_an_empty_file_says_so(project: Path) -> None:
    """The same for a file that is no run's."""
    Path("mine.jsonl").touch()
    assert verdict_of("mine.jsonl") == (3, "INCOMPLETE: there are no results (exit 3)")


def test_a_torn_line_of_a_journal_is_told_once(project: Path) -> None:
    """It is passed over, with a warning."""
    write_run(project, line("a") + line("b")[:20], results=2)
    result = summary(RUN_ID)
    assert result.stderr.count("the last line is torn") == 1
    assert result.stdout.endswith("INCOMPLETE: 1 not run (exit 3)\n")


def test_a_bad_line_is_named_by_file_and_line(project: Path) -> None:
    """Empty lines count, as they do in an editor; the file may be a run's or another."""
    lines = line("a") + "\n" + line("b", 7)
    Path("mine.jsonl").write_text(lines)
    write_run(project, lines)
    for written, file in (("mine.jsonl", "mine.jsonl"), (RUN_ID, f".turnwise/runs/{RUN_ID}/results.jsonl")):
        error = summary(written).exception
        assert isinstance(error, RunError)
        assert str(error).startswith(f"{file}:3: `score` must be a number from 0 to 1")
        assert error.hint == "correct the line, or remove it"


def own_line(case_id: str, score: float = 1.0, run_id: str = RUN_ID) -> str:
    """One line of a run's own journal."""
    return line(case_id, score, run_id=run_id, schema_version=1)


@pytest.mark.parametrize(
    "description", [None, "{nope", "[]", '{"schema_version": 99}', '{"options": 7}', '{"results": "many"}']
)
@pytest.mark.parametrize("written", [RUN_ID, f".turnwise/runs/{RUN_ID}", f".turnwise/runs/{RUN_ID}/results.jsonl"])
def test_the_journal_of_a_run_is_enough(project: Path, written: str, description: str | None) -> None:
    """Without a description that can be read, the results are summed up, and it is said what is not known."""
    folder = write_run(project, own_line("a") + own_line("b")[:20])
    (folder / "run.json").unlink() if description is None else (folder / "run.json").write_text(description)
    result = summary(written)
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "PASSED: 1 of 1 (exit 0)")
    assert result.stdout.startswith(f"run {RUN_ID}\n")
    assert result.stderr.count("run.json cannot be read: bars and the planned number are not known") == 1
    assert "the last line is torn" in result.stderr


def test_a_damaged_run_without_a_journal_is_an_error(project: Path) -> None:
    """Then there is nothing to sum up, and nothing that says so but the description."""
    folder = write_run(project, None)
    (folder / "run.json").write_text("{nope")
    assert isinstance(summary(RUN_ID).exception, RunError)


def test_a_file_of_others_may_have_the_name_of_a_journal(project: Path) -> None:
    """It is read as what it is: its last line is not torn, and no description is missed."""
    Path("mine").mkdir()
    Path("mine", "results.jsonl").write_text(line("a") + line("b").rstrip())
    for written in ("mine", "mine/results.jsonl"):
        result = summary(written)
        assert (result.stdout.splitlines()[-1], result.stderr) == ("PASSED: 2 of 2 (exit 0)", "")


def test_a_line_that_replaces_another_is_told(project: Path) -> None:
    """In a file of others that is rarely meant: the warning has the number of such lines, and the first one's place."""
    Path("mine.jsonl").write_text(line("a") + "\n" + line("a", 0.0))
    (warning,) = summary("mine.jsonl").stderr.splitlines()
    assert warning.startswith("warning: mine.jsonl:3 takes the place of an earlier line of the same suite, case")
    Path("mine.jsonl").write_text(line("a") + line("b") + line("a") + line("c") + line("b"))
    (warning,) = summary("mine.jsonl").stderr.splitlines()
    assert warning.startswith("warning: 2 lines take the place of earlier ones")
    assert "the first is mine.jsonl:3;" in warning


def test_lines_that_a_run_did_again_are_not_told(project: Path) -> None:
    """A run does results again on purpose; two runs in one file are two answers, of which one is lost."""
    Path("copy.jsonl").write_text(own_line("a", 0.0) + own_line("a"))
    assert summary("copy.jsonl").stderr == ""
    Path("both.jsonl").write_text(own_line("a", 0.0) + own_line("a", run_id="another"))
    assert "both.jsonl:2 takes the place" in summary("both.jsonl").stderr


def test_a_run_that_is_not_there_is_an_error(project: Path) -> None:
    """The error says which runs there are."""
    write_run(project, "")
    error = summary("nope").exception
    assert isinstance(error, UsageError)
    assert RUN_ID in (error.hint or "")


@pytest.mark.parametrize(("threshold", "message"), [("1.5", "1.5 is not in the range"), ("nan", "not a number")])
def test_a_threshold_is_a_rate(project: Path, threshold: str, message: str) -> None:
    """Anything but a number from 0 to 1 is refused."""
    Path("mine.jsonl").write_text(line("a"))
    result = summary("mine.jsonl", "--threshold", threshold)
    assert result.exit_code != 0
    assert message in f"{result.stderr}{result.exception}"
