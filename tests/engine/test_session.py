"""Beginning a run, and going on with one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from run_fixtures import case, journal, keys, mock, project, run, suite
from turnwise import RunOutcome
from turnwise.engine.events import Started
from turnwise.engine.options import Execution, PlanOptions
from turnwise.engine.resuming import failed_in, go_on
from turnwise.engine.session import begin
from turnwise.errors import RunError, UsageError

# Holds a run until its standard input ends.
HOLD = """
import sys
from turnwise.engine.resuming import go_on
with go_on(sys.argv[1], {}):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunOutcome]:
    """A run of three cases, two of them errors until there is a file `well`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "resumed_app.py").write_text(APPLICATION)
    project(tmp_path, APP, mock("other"), s=suite(3))
    yield run("s.yaml", "app")
    sys.modules.pop("resumed_app", None)


APP = {"name": "app", "provider": "python", "function": "resumed_app:answer", "path": ".", "max_retries": 0}
# Fails while there is no file `well`; counts what it is asked.
APPLICATION = """
from pathlib import Path

def answer(request):
    with open("asked", "a") as file:
        print(request.case_id, file=file)
    if request.case_id != "c0" and not Path("well").exists():
        raise RuntimeError("not well")
    return "hello"
"""


def asked() -> list[str]:
    """The cases that the application was asked, in their order."""
    return Path("asked").read_text().split()


def test_only_what_is_missing_or_an_error_is_done(begun: RunOutcome) -> None:
    """Answers are not asked for again; the summary counts each piece of work once, as it ended."""
    assert (begun.verdict.exit_code, sorted(asked())) == (3, ["c0", "c1", "c2"])
    Path("well").touch()
    events: list[Any] = []
    again = run(resume=begun.run_id, events=events)
    assert sorted(asked()) == ["c0", "c1", "c1", "c2", "c2"]
    assert (again.run_id, again.passed, again.summary.results, again.left) == (begun.run_id, True, 3, 0)
    (group,) = again.summary.targets
    assert (group.passed, group.errors) == (3, 0)
    (started,) = [each for each in events if isinstance(each, Started)]
    assert (started.results, started.done) == (3, 1)
    assert sorted((each.case_id, each.status) for each in again.results()) == [
        ("c0", "passed"), ("c1", "passed"), ("c2", "passed")
    ]  # fmt: skip


def test_a_run_that_is_whole_asks_nothing(begun: RunOutcome) -> None:
    """Resumed once more, it says again what came of it."""
    Path("well").touch()
    run(resume=begun.run_id)
    before = asked()
    again = run(resume=begun.run_id)
    assert (asked(), again.passed, again.summary.results) == (before, True, 3)


def test_a_line_that_is_lost_is_done_again(begun: RunOutcome) -> None:
    """The journal is what counts: a case that is not in it was not done."""
    Path("well").touch()
    path = begun.folder / "results.jsonl"
    path.write_text("".join(line for line in path.read_text().splitlines(True) if '"c0"' not in line))
    again = run(resume=begun.run_id)
    assert (again.passed, again.summary.results) == (True, 3)


def test_a_run_without_any_result_can_be_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was stopped before its first one."""
    monkeypatch.chdir(project(tmp_path))
    begin(PlanOptions(suites=("s.yaml",)), Execution()).folder.close()
    (folder,) = (tmp_path / ".turnwise" / "runs").iterdir()
    assert run(resume=folder.name).passed


@pytest.mark.parametrize(
    "again",
    [{"suites": "s.yaml"}, {"suites": "."}, {"target": "app"}, {"suites": ["s.yaml"], "target": ["app"], "workers": 2}],
)
def test_what_is_repeated_may_be_the_same(begun: RunOutcome, again: dict[str, Any]) -> None:
    """The command that began the run, with --resume added, goes on with it."""
    Path("well").touch()
    assert run(resume=begun.run_id, **again).passed


@pytest.mark.parametrize(
    ("again", "said"),
    [
        ({"target": "other"}, "--target other is not what the run asks, which is app"),
        ({"suites": "second.yaml"}, r"differ in s\.yaml, second\.yaml"),
    ],
)
def test_what_is_repeated_must_not_be_another(begun: RunOutcome, again: dict[str, Any], said: str) -> None:
    """It would be another run."""
    Path("second.yaml").write_text(json.dumps(suite(1)))
    with pytest.raises(UsageError, match=said) as caught:
        run(resume=begun.run_id, **again)
    assert "leave" in (caught.value.hint or "")


def test_a_plan_cannot_change(begun: RunOutcome) -> None:
    """Neither which cases, nor how often."""
    for setting in ({"trials": 2}, {"cases": ["c1"]}, {"graded": False}, {"variants": ["x"]}):
        with pytest.raises(UsageError, match="does not go with `resume`"):
            run(resume=begun.run_id, **setting)


def test_an_unknown_run_is_an_error(begun: RunOutcome) -> None:
    """The latest are named."""
    with pytest.raises(UsageError, match="no run 'nope'") as caught:
        run(resume="nope")
    assert begun.run_id in (caught.value.hint or "")


def test_a_run_is_found_from_anywhere_by_its_path(begun: RunOutcome, monkeypatch: pytest.MonkeyPatch) -> None:
    """The project is where the run says, wherever it is resumed from."""
    Path("well").touch()
    folder = Path.cwd()
    (folder / "sub").mkdir()
    monkeypatch.chdir(folder / "sub")
    again = run(resume=begun.folder)
    assert {each["suite"] for each in journal(again)} == {"s.yaml"}
    assert again.summary.results == 3


def test_one_process_at_a_time(begun: RunOutcome) -> None:
    """The second is told who the first is, and changes nothing."""
    before = journal(begun)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, begun.run_id], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(os.environ)
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(RunError, match=f"the process {holder.pid} is writing"):
            run(resume=begun.run_id)
        holder.stdin.close()
        assert holder.wait(10) == 0
    assert journal(begun) == before
    Path("well").touch()
    assert run(resume=begun.run_id).passed


def test_what_failed_can_be_run_again_as_a_new_run(begun: RunOutcome) -> None:
    """Suite, case, target and variant, with the suites and options of that run; not if everything has passed."""
    failures = failed_in(begun.run_id)
    assert failures.results == {("s.yaml", "c1", "app", None), ("s.yaml", "c2", "app", None)}
    assert failures.cases == {("s.yaml", "c1"), ("s.yaml", "c2")}
    assert (failures.options.suites, failures.options.targets) == (("s.yaml",), ("app",))
    Path("well").touch()
    run(resume=begun.run_id)
    with pytest.raises(UsageError, match=r"no result of the run .* has failed"):
        failed_in(begun.run_id)


def test_options_survive_the_disk() -> None:
    """What is saved and read again is the same plan."""
    from turnwise.engine.selection import Selection

    chosen = Selection(cases=("a*",), tags=("x",), only=frozenset({("s", "a"), ("s", "b")}), sample=3, seed=4)
    options = PlanOptions(
        suites=("s",), targets=("t", "u"), selection=chosen, variants=("v",), as_written=True, trials=2, threshold=0.5
    )
    assert PlanOptions.of(("s",), json.loads(json.dumps(options.saved()))) == options


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"trials": 0}, "--trials"), ({"threshold": 1.5}, "--threshold"), ({"threshold": -1}, "found -1")],
)
def test_a_number_that_means_nothing_is_refused(wrong: dict[str, Any], said: str) -> None:
    """With the option's name, and what was found."""
    with pytest.raises(UsageError, match=said):
        PlanOptions(suites=("s",), **wrong)


@pytest.mark.parametrize("name", ["workers", "timeout", "budget_usd", "max_tokens_total"])
@pytest.mark.parametrize("number", [0, -1, float("inf"), float("nan")])
def test_a_bound_must_be_a_number_above_zero(name: str, number: float) -> None:
    """Nothing would be done, or no bound would hold."""
    with pytest.raises(UsageError, match=f"--{name.replace('_', '-')} must be above 0"):
        Execution(**{name: number})  # type: ignore[arg-type]


def test_a_budget_in_dollars_needs_prices(tmp_path: Path) -> None:
    """Said before a folder is made."""
    unpriced = {
        "name": "gpt",
        "provider": "openai",
        "model": "m",
        "base_url": "http://127.0.0.1:9/v1",
        "api_key": "kkkk",
    }
    project(tmp_path, unpriced)
    with pytest.raises(UsageError, match="--budget-usd needs prices"):
        begin(PlanOptions(suites=(str(tmp_path / "s.yaml"),), targets=("gpt",)), Execution(budget_usd=1.0))
    assert not (tmp_path / ".turnwise" / "runs").exists()


def test_a_run_that_cannot_be_resumed_is_not_locked(begun: RunOutcome) -> None:
    """Whatever was wrong: mended, it goes on."""
    with pytest.raises(UsageError):
        go_on(begun.run_id, {}, targets=("other",))
    with go_on(begun.run_id, {"workers": 5}) as session:
        assert (session.execution.workers, len(session.done)) == (5, 1)


def test_a_case_that_could_not_be_made_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing attachment makes one error result, the others run; the run itself says so before."""
    monkeypatch.chdir(tmp_path)
    parts = [{"type": "file", "value": "gone.txt"}]
    cases = [case("a"), {"id": "b", "input_messages": [{"role": "user", "content": parts}]}, case("c")]
    project(tmp_path, s=suite(cases))
    outcome = run("s.yaml")
    statuses = {each["case_id"]: each["status"] for each in journal(outcome)}
    assert statuses == {"a": "passed", "b": "error", "c": "passed"}
    assert outcome.verdict.exit_code == 3
    (line,) = [each for each in journal(outcome) if each["case_id"] == "b"]
    assert (line["error"]["kind"], "gone.txt" in line["error"]["message"]) == ("case", True)
    assert len(set(keys(journal(outcome)))) == 3
