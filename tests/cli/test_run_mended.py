"""`turnwise run` at its edges: full streams, early signals, budgets that were raised, and what failed before."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import turnwise.engine.session as session_module
from command_fixtures import Said, Turnwise, runs
from run_fixtures import case, journal, keys, mock, project, suite
from turnwise.engine.description import describe_run


def results(said: Said) -> list[tuple[Any, ...]]:
    """What was asked: case, target, variant and trial."""
    records = [each for each in said.events if each["event"] == "result"]
    return sorted((each["case_id"], each["target"], each["variant"], each["trial"]) for each in records)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_run_is_planned_leaves_nothing(
    turnwise: Turnwise, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    """It comes when the folder is made, but not yet described: the command is interrupted, and the folder gone."""
    seen: list[Path] = []

    def interrupted(plan: Any, execution: Any, folder: Path, **named: Any) -> dict[str, Any]:
        seen.append(folder)
        described = describe_run(plan, execution, folder, **named)
        os.kill(os.getpid(), number)
        return described

    monkeypatch.setattr(session_module, "describe_run", interrupted)
    project(Path.cwd(), s=suite(3))
    done = turnwise("run", "s.yaml")
    assert (done.code, done.out) == (130, "")
    assert "Traceback" not in done.err
    assert len(seen) == 1
    assert runs() == []


LONG = {"system_prompt": "x" * 4000}
"""About a thousand tokens for each request, which nobody counts."""


@pytest.mark.parametrize(
    ("options", "more"),
    [
        (["--budget-usd", "3.5"], "--budget-usd"),
        (["--max-tokens-total", "3500"], "--max-tokens-total"),
        (["--budget-usd", "3.5", "--max-tokens-total", "9999"], "--budget-usd"),
        (["--budget-usd", "9.9", "--max-tokens-total", "3500"], "--max-tokens-total"),
    ],
)
def test_a_budget_that_is_used_up_says_which_option_has_more(turnwise: Turnwise, options: list[str], more: str) -> None:
    """The line to go on with names the budget that is used up; a thousand tokens are a dollar."""
    project(Path.cwd(), mock(prices={"input": 1000.0, "output": 0.0}), s=suite(20, **LONG))
    done = turnwise("run", "s.yaml", "-w", "1", *options)
    (folder,) = runs()
    assert done.err.endswith(f"17 not run; go on with: turnwise run --resume {folder.name} {more} MORE\n")
    assert done.code == 3


def test_a_raised_budget_stays_raised(turnwise: Turnwise) -> None:
    """The next resume without an option has it, too, and does not fall back to that of the start."""
    project(Path.cwd(), s=suite(20, **LONG))
    turnwise("run", "s.yaml", "-w", "1", "--max-tokens-total", "3500")
    (folder,) = runs()
    assert len(journal(folder)) == 3
    turnwise("run", "--resume", folder.name, "--max-tokens-total", "7500")
    assert len(journal(folder)) == 7
    bare = turnwise("run", "--resume", folder.name)
    assert (bare.code, len(journal(folder))) == (3, 7)
    assert "7,500" in bare.err
    assert json.loads((folder / "run.json").read_text())["execution"]["max_tokens_total"] == 7500


@pytest.mark.parametrize(("more", "done"), [("2500", 3), ("5500", 6)])
def test_a_resumed_run_that_is_stopped_again_says_what_summary_says(turnwise: Turnwise, more: str, done: int) -> None:
    """Results of the first part count in both, also an error among them, whether it was done again or not."""
    broken = mock(script=[{"case": "c1", "status": 400}])
    project(Path.cwd(), broken, s=suite(20, **LONG))
    turnwise("run", "s.yaml", "-w", "1", "--max-tokens-total", "2500")
    (folder,) = runs()
    stopped = turnwise("run", "--resume", folder.name, "--max-tokens-total", more, "--json")
    own = stopped.events[-1]["summary"]
    told = json.loads(turnwise("summary", folder.name, "--format", "json").out)
    (group,) = own["targets"]
    assert (group["trials"], group["errors"], group["not_run"]) == (done, 1, 20 - done)
    assert len(set(keys(journal(folder)))) == done
    # Why it was stopped, and what the plan holds for each target, is known to the run itself alone.
    assert [_without(each, "planned", "not_run") for each in told["targets"]] == [_without(group, "planned", "not_run")]
    assert _without(own, "verdict", "targets") == _without(told, "verdict", "targets")


def _without(data: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name not in names}


def varied() -> None:
    """Two cases, one of which never passes, of two targets under two variants, twice each."""
    cases = [case("good"), case("bad", "no")]
    variants = {"plain": None, "terse": {"system_prompt": "Be terse."}}
    specs = mock("a"), mock("b"), mock("c")
    project(Path.cwd(), *specs, s=suite(cases, variants=variants))


def test_failed_takes_the_results_that_did_not_pass(turnwise: Turnwise) -> None:
    """Each with its target and variant, and as often as it was asked."""
    varied()
    first = turnwise("run", "s.yaml", "-t", "a", "-t", "b", "--variant", "terse", "--trials", "2", "--json")
    again = turnwise("run", "--failed", first.events[0]["run_id"], "--json")
    assert results(again) == [("bad", target, "terse", trial) for target in ("a", "b") for trial in (1, 2)]


def test_failed_takes_one_target_alone_where_the_other_has_passed(turnwise: Turnwise) -> None:
    """What has passed on one target is not asked again because it failed on the other."""
    project(Path.cwd(), mock("a"), mock("b", response="no"), s=suite([case("x"), case("y")]))
    first = turnwise("run", "s.yaml", "-t", "a", "-t", "b", "--json").events[0]["run_id"]
    assert results(turnwise("run", "--failed", first, "--json")) == [("x", "b", None, 1), ("y", "b", None, 1)]


def test_failed_with_another_target_asks_it_the_cases(turnwise: Turnwise) -> None:
    """It has not failed yet: it gets every case that did not pass, in all variants."""
    varied()
    first = turnwise("run", "s.yaml", "-t", "a", "--json").events[0]["run_id"]
    again = turnwise("run", "--failed", first, "-t", "c", "--json")
    assert results(again) == [("bad", "c", "plain", 1), ("bad", "c", "terse", 1)]


def test_failed_keeps_the_system_prompts_of_the_run(turnwise: Turnwise) -> None:
    """Also where the current folder is another one."""
    project(Path.cwd(), s=suite([case("good"), case("bad", "no")]))
    Path("kind.md").write_text("Be kind.")
    first = turnwise("run", "s.yaml", "--system-prompt", "kind.md", "--json").events[0]["run_id"]
    Path("below").mkdir()
    os.chdir("below")
    again = turnwise("run", "--failed", first, "--json")
    assert results(again) == [("bad", "echo", "kind", 1)]


def test_failed_of_a_run_without_results_says_so(turnwise: Turnwise) -> None:
    """Nothing has failed, but all is missing: it can be resumed."""
    project(Path.cwd(), s=suite(3))
    turnwise("run", "s.yaml")
    (folder,) = runs()
    (folder / "results.jsonl").write_text("")
    done = turnwise("run", "--failed", folder.name)
    assert done.code == 2
    assert f"3 results are missing: --resume {folder.name} does them" in done.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--no-grade", "--threshold", "0.5"], "--threshold goes with grades"),
        (["--no-grade", "--threshold", "0"], "--threshold goes with grades"),
        (["--seed", "3"], "--seed goes with --sample"),
        (["--seed", "0"], "--seed goes with --sample"),
    ],
)
def test_options_that_have_no_effect_are_refused(turnwise: Turnwise, options: list[str], said: str) -> None:
    """Rather than to be taken and passed over."""
    project(Path.cwd(), s=suite(3))
    done = turnwise("run", "s.yaml", *options)
    assert (done.code, said in done.err, runs()) == (2, True, [])


def test_a_system_prompt_and_a_variant_both_run(turnwise: Turnwise) -> None:
    """The variants that were named, and the prompt as one more."""
    varied()
    Path("kind.md").write_text("Be kind.")
    options = ("-t", "a", "--case", "good", "--variant", "terse", "--system-prompt", "kind.md")
    done = turnwise("run", "s.yaml", *options, "--json")
    assert results(done) == [("good", "a", "kind", 1), ("good", "a", "terse", 1)]


def on_full(root: Path, stream: str, *options: str) -> subprocess.CompletedProcess[str]:
    """A run one of whose streams takes nothing."""
    with open("/dev/full", "wb") as full:
        streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: full}
        return subprocess.run(
            [sys.executable, "-m", "turnwise", "run", "s.yaml", *options],
            cwd=root, text=True, timeout=30, check=False, **streams,
        )  # fmt: skip


@pytest.mark.parametrize("code", [0, 1])
def test_an_error_stream_that_is_full_changes_nothing(tmp_path: Path, code: int) -> None:
    """The summary is there, and the exit code is that of the verdict."""
    project(tmp_path, s=suite([case("a"), case("b", "no" if code else "hello")]))
    done = on_full(tmp_path, "stderr")
    assert done.returncode == code
    assert done.stdout.splitlines()[-1].endswith(f"(exit {code})")


@pytest.mark.parametrize("options", [(), ("--json",), ("--quiet",)])
def test_a_warning_that_cannot_be_shown_does_not_keep_the_run_from_starting(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    """A file is missing, and nobody can be told: the other case is asked all the same."""
    parts = [{"type": "file", "value": "gone.txt"}]
    missing = {"id": "b", "input_messages": [{"role": "user", "content": parts}]}
    project(tmp_path, s=suite([case("a"), missing]))
    done = on_full(tmp_path, "stderr", *options)
    (folder,) = (tmp_path / ".turnwise/runs").iterdir()
    assert {each["case_id"]: each["status"] for each in journal(folder)} == {"a": "passed", "b": "error"}
    assert (done.returncode, "(exit 3)" in done.stdout.splitlines()[-1]) == (3, True)


def test_events_that_cannot_be_written_are_74(tmp_path: Path) -> None:
    """Whoever reads them must know that they are not whole; the results are kept."""
    project(tmp_path, s=suite(3))
    done = on_full(tmp_path, "stdout", "--json")
    assert done.returncode == 74
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    (folder,) = (tmp_path / ".turnwise/runs").iterdir()
    assert len(journal(folder)) == 3


def test_an_error_of_the_machine_ends_the_run_and_is_said(
    turnwise: Turnwise, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is no lost output, which a run survives: its reason must not vanish with it."""
    project(tmp_path, s=suite(3))

    async def broken(self: Any) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("turnwise.engine.runner.Runner._carry_out", broken)
    said = turnwise("run", "s.yaml")
    assert said.code == 3
    assert "Too many open files" in said.err
    assert "--resume" in said.err
