"""`turnwise run`: what is printed where, and what the exit codes say."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import turnwise.suite.streaming as streaming
from command_fixtures import Turnwise, runs
from run_fixtures import Server, case, hello, journal, keys, mock, openai, project, suite
from turnwise.providers import ProviderRequest, ProviderResponse


def test_all_good_is_0(turnwise: Turnwise) -> None:
    """The summary goes to the output, how it went to the other stream, with the place of the results."""
    project(Path.cwd(), s=suite(3))
    done = turnwise("run", "s.yaml")
    assert (done.code, done.out.splitlines()[-1]) == (0, "PASSED: 3 of 3 (exit 0)")
    assert f"results: {runs()[0]}" in done.err
    assert "Traceback" not in done.err


def test_below_the_bar_is_1(turnwise: Turnwise) -> None:
    """Every graded result must pass, unless a bar is set."""
    project(Path.cwd(), s=suite([case("good"), case("bad", "no")]))
    done = turnwise("run", "s.yaml")
    assert (done.code, done.out.splitlines()[-1].startswith("FAILED")) == (1, True)
    assert "bad" in done.err


@pytest.mark.parametrize(
    ("options", "min_pass_rate", "code"),
    [
        ([], 0.5, 0),
        ([], 0.6, 1),
        (["--threshold", "0.5"], None, 0),
        (["--threshold", "0.6"], None, 1),
        (["--threshold", "0.4"], 0.9, 0),
        (["--threshold", "1.0"], 0.1, 1),
    ],
)
def test_a_bar_decides(turnwise: Turnwise, options: list[str], min_pass_rate: float | None, code: int) -> None:
    """The suite's `min_pass_rate`, and before it --threshold; half of the cases pass."""
    project(Path.cwd(), s=suite([case("good"), case("bad", "no")], min_pass_rate=min_pass_rate))
    assert turnwise("run", "s.yaml", *options).code == code


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run"], "name at least one suite"),
        (["run", "missing.yaml"], "missing.yaml"),
        (["run", "s.yaml", "-t", "nobody"], "nobody"),
        (["run", "s.yaml", "--case", "x"], "no case has an id like"),
        (["run", "bad.yaml"], "contians"),
        (["run", "s.yaml", "--json", "--quiet"], "exclude each other"),
        (["run", "s.yaml", "--threshold", "2"], "--threshold"),
        (["run", "--resume", "nope"], "no run 'nope'"),
        (["run", "s.yaml", "--variant", "x"], "no variant is named 'x'"),
    ],
)
def test_what_cannot_start_is_2(turnwise: Turnwise, arguments: list[str], said: str) -> None:
    """One message, no traceback, and nothing is asked or written."""
    project(Path.cwd(), s=suite(1), bad=suite(1, graders=[{"contians": "x"}]))
    done = turnwise(*arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "Traceback" not in done.err
    assert runs() == []


def test_errors_are_3_and_say_how_to_go_on(turnwise: Turnwise) -> None:
    """Resumed, only the error is done again, in the same folder."""
    project(Path.cwd(), mock(script=[{"case": "c1", "status": 400}]), s=suite(2))
    first = turnwise("run", "s.yaml")
    (folder,) = runs()
    assert first.code == 3
    assert f"1 error; go on with: turnwise run --resume {folder.name}" in first.err
    again = turnwise("run", "--resume", folder.name)
    assert (again.code, len(runs())) == (3, 1)
    statuses = [(each["case_id"], each["status"]) for each in journal(folder)]
    assert sorted(statuses) == [("c0", "passed"), ("c1", "error"), ("c1", "error")]


def test_a_budget_that_is_used_up_is_3(turnwise: Turnwise) -> None:
    """What is missing is counted, and can be run."""
    project(Path.cwd(), s=suite([case(f"c{number}", "hello " * 40) for number in range(20)]))
    first = turnwise("run", "s.yaml", "--max-tokens-total", "500", "-w", "1")
    assert (first.code, "budget" in first.out.splitlines()[-1]) == (3, True)
    assert "not run; go on with" in first.err
    last = turnwise("run", "--resume", runs()[0].name, "--max-tokens-total", "50000")
    assert (last.code, len(set(keys(journal(runs()[0]))))) == (0, 20)


@pytest.mark.parametrize("passing", [True, False])
def test_quiet_is_one_line(turnwise: Turnwise, passing: bool) -> None:
    """The verdict alone; nothing else where all is well."""
    project(Path.cwd(), s=suite([case("a", "hello" if passing else "no")]))
    done = turnwise("run", "s.yaml", "--quiet")
    assert len(done.out.splitlines()) == 1
    assert done.out.endswith(f"(exit {done.code})\n")
    assert (done.code, done.err) == (0 if passing else 1, "")


@pytest.mark.parametrize("code", [0, 1, 3])
def test_json_is_events_and_then_the_summary(turnwise: Turnwise, code: int) -> None:
    """Every line is JSON, in the order of events; the verdict of the last is the exit code."""
    cases = [case("a"), case("b", "no" if code == 1 else "hello"), case("c")]
    project(Path.cwd(), mock(script=[{"case": "c", "status": 400 if code == 3 else 500, "times": 1}]), s=suite(cases))
    done = turnwise("run", "s.yaml", "--json", "-w", "1")
    kinds = [each["event"] for each in done.events]
    assert (kinds[0], kinds[-2:], kinds.count("result")) == ("start", ["end", "summary"], 3)
    assert [each["case_id"] for each in done.events if each["event"] == "result"] == ["a", "b", "c"]
    assert done.events[-1]["summary"]["verdict"]["exit_code"] == done.code == code
    assert kinds.count("retry") == (0 if code == 3 else 1)


def test_json_is_not_garbled_by_what_a_program_under_test_prints(turnwise: Turnwise) -> None:
    """It goes to the other stream."""
    Path("printing_app.py").write_text("def answer(request):\n    print('noise')\n    return 'hello'\n")
    app = {"name": "app", "provider": "python", "function": "printing_app:answer", "path": "."}
    project(Path.cwd(), app, s=suite(2))
    done = turnwise("run", "s.yaml", "-t", "app", "--json")
    sys.modules.pop("printing_app", None)
    assert (done.code, done.events[-1]["event"], "noise" in done.err) == (0, "summary", True)


def test_answers_can_be_collected_without_grading(turnwise: Turnwise) -> None:
    """Nothing fails, not even a grader that does not exist."""
    project(Path.cwd(), s=suite(2, graders=[{"contians": "x"}]))
    done = turnwise("run", "s.yaml", "--no-grade")
    assert (done.code, done.out.splitlines()[-1]) == (0, "DONE: 2 answers, not graded (exit 0)")
    assert {each["status"] for each in journal(runs()[0])} == {"ungraded"}


@pytest.mark.parametrize("as_json", [True, False])
def test_a_dry_run_asks_and_writes_nothing(turnwise: Turnwise, monkeypatch: pytest.MonkeyPatch, as_json: bool) -> None:
    """It needs no key, and says what would be asked and about what it would cost."""
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    target = openai("http://127.0.0.1:9", api_key="${{ NO_SUCH_KEY }}", prices={"input": 1.0, "output": 1.0})
    project(Path.cwd(), target, s=suite(3, trials=2))
    before = sorted(Path.cwd().rglob("*"))
    done = turnwise("run", "s.yaml", "-t", "gpt", "--dry-run", *(["--json"] if as_json else []))
    assert (done.code, sorted(Path.cwd().rglob("*"))) == (0, before)
    if as_json:
        plan = json.loads(done.out)
        assert (plan["cases"], plan["results"], plan["targets"]) == (3, 6, ["gpt"])
        assert plan["estimate"]["cost_usd"] > 0
    else:
        assert "6 results of 3 cases, asked of gpt" in done.out
    assert turnwise("run", "s.yaml", "-t", "gpt").code == 2


@pytest.mark.parametrize(
    "option",
    [["--trials", "2"], ["--case", "c0"], ["--seed", "1"], ["--no-grade"], ["--dry-run"], ["--threshold", "1"]],
)
def test_a_plan_option_does_not_go_with_resume(turnwise: Turnwise, option: list[str]) -> None:
    """The option is named."""
    project(Path.cwd())
    turnwise("run", "s.yaml")
    done = turnwise("run", "--resume", runs()[0].name, *option)
    assert done.code == 2
    assert f"{option[0]} does not go with --resume" in done.err


@pytest.mark.parametrize("option", [["--seed", "0"], ["--threshold", "0"]])
def test_a_plan_option_of_zero_does_not_go_with_resume_either(turnwise: Turnwise, option: list[str]) -> None:
    """A zero is a value, not nothing."""
    project(Path.cwd())
    turnwise("run", "s.yaml")
    assert turnwise("run", "--resume", runs()[0].name, *option).code == 2


def test_what_has_changed_is_shown(turnwise: Turnwise) -> None:
    """As a diff, with what to do."""
    project(Path.cwd(), s=suite(1))
    turnwise("run", "s.yaml")
    project(Path.cwd(), s=suite(2))
    done = turnwise("run", "--resume", runs()[0].name)
    assert done.code == 2
    assert "s.yaml has changed" in done.err
    assert "undo the change" in done.err
    assert '+{"target"' in done.err


def test_what_failed_is_run_again_with_its_suites_and_targets(turnwise: Turnwise) -> None:
    """Only that; a run that has passed has nothing to run again."""
    project(Path.cwd(), mock(), mock("other"), s=suite([case("good"), case("bad", "no")]))
    turnwise("run", "s.yaml", "-t", "other")
    first = runs()[0]
    done = turnwise("run", "--failed", first.name, "--json")
    results = [each for each in done.events if each["event"] == "result"]
    assert [(each["case_id"], each["target"]) for each in results] == [("bad", "other")]
    project(Path.cwd(), s=suite(1))
    passed = turnwise("run", "s.yaml", "--json").events[0]["run_id"]
    none = turnwise("run", "--failed", passed)
    assert (none.code, "has failed" in none.err) == (2, True)


def test_a_warning_of_the_plan_is_said_and_not_in_the_output(turnwise: Turnwise) -> None:
    """A missing attachment: the others run."""
    parts = [{"type": "file", "value": "gone.txt"}]
    project(Path.cwd(), s=suite([case("a"), {"id": "b", "input_messages": [{"role": "user", "content": parts}]}]))
    done = turnwise("run", "s.yaml", "--json")
    assert (done.code, "gone.txt" in done.err) == (3, True)
    assert {each.get("status") for each in done.events if each["event"] == "result"} == {"passed", "error"}


def started(root: Path, *arguments: str) -> subprocess.Popen[str]:
    """A process of its own, whose events can be read."""
    return subprocess.Popen(
        [sys.executable, "-m", "turnwise", "run", "s.yaml", "--json", *arguments],
        cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip


def until(process: subprocess.Popen[str], event: str) -> None:
    """Read up to an event."""
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["event"] == event:
            return
    raise AssertionError(f"there was no {event}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_finishes_what_is_under_way_and_is_130(tmp_path: Path, number: signal.Signals) -> None:
    """The rest is left, and the line to go on is said."""
    project(tmp_path, mock(delay=0.05), s=suite(200))
    with started(tmp_path, "-w", "2") as process:
        until(process, "result")
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    events = [json.loads(line) for line in out.splitlines()]
    assert process.returncode == 130
    assert [each["event"] for each in events][-2:] == ["end", "summary"]
    assert events[-1]["summary"]["verdict"]["exit_code"] == 130
    assert "go on with: turnwise run --resume" in err
    assert "Traceback" not in err
    (folder,) = (tmp_path / ".turnwise" / "runs").iterdir()
    assert 0 < len(journal(folder)) < 200
    assert events[-2]["left"] == 200 - len(journal(folder))


def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    """Nothing of what was under way is written."""
    project(tmp_path, mock(delay=60), s=suite(3))
    with started(tmp_path) as process:
        until(process, "start")
        process.send_signal(signal.SIGINT)
        until(process, "stopping")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, "Traceback" in err) == (130, False)
    assert json.loads(out.splitlines()[-2])["left"] == 3


def test_a_run_that_was_killed_goes_on_and_a_run_under_way_does_not(tmp_path: Path, turnwise: Turnwise) -> None:
    """Whoever resumes a run that is still written is told by whom; after a kill -9, nothing is lost or done twice."""
    project(tmp_path, mock(delay=0.02), s=suite(40))
    with started(tmp_path, "-w", "2") as process:
        until(process, "result")
        refused = turnwise("run", "--resume", runs()[0].name)
        process.send_signal(signal.SIGKILL)
    assert (refused.code, f"the process {process.pid} is writing" in refused.err) == (2, True)
    before = journal(runs()[0])
    done = turnwise("run", "--resume", runs()[0].name, "--quiet", "--workers", "16")
    after = journal(runs()[0])
    assert (done.code, after[: len(before)]) == (0, before)
    assert len(set(keys(after))) == len(after) == 40


@pytest.mark.parametrize("length", [10, 50_000])
def test_a_dataset_that_changes_in_the_middle_is_3(
    turnwise: Turnwise, monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    """The fault is said, what was answered is kept, and the run is not called good, however much of it was read."""
    rows = Path("rows.jsonl").absolute()

    async def changes(server: Server, request: ProviderRequest) -> ProviderResponse:
        rows.write_text("{}\n")
        return hello()

    monkeypatch.setattr(streaming, "_KEPT_BYTES", 0)  # as for a large one, which is read again
    rows.write_text("".join(json.dumps(case(f"c{number}", "x" * length)) + "\n" for number in range(30)))
    project(Path.cwd(), s=suite("rows.jsonl"))
    Server(changes).install(monkeypatch)
    done = turnwise("run", "s.yaml", "-w", "2")
    assert done.code == 3
    assert "a fault ended the run early" in done.out.splitlines()[-1]
    assert "rows.jsonl" in done.err
    assert "Traceback" not in done.err
    assert {each["status"] for each in journal(runs()[0])} == {"passed"}
