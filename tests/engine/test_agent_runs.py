"""Agents in runs: what they did is graded and kept, and what they leave behind is not."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import turnwise
from run_fixtures import ECHO, case, journal, project, run, suite
from turnwise.engine.result_format import ResultSpec

# Speaks like Codex: one command, one answer. The prompt decides what it does.
FAKE_CODEX = r"""
import json, os, pathlib, sys, time
if "--version" in sys.argv:
    print("codex-cli 9.9.9"); sys.exit()
prompt = sys.stdin.read()
def say(event): print(json.dumps(event), flush=True)
say({"type": "thread.started", "thread_id": "t-1"})
if "crash" in prompt:
    print("it went wrong", file=sys.stderr); sys.exit(7)
if "slow" in prompt:
    time.sleep(60)
if "limited" in prompt:
    pathlib.Path(sys.argv[0]).with_name("starts").open("a").write("x")
    say({"type": "turn.failed", "error": {"message": "429 Too Many Requests: this API key has reached its rate limit"}})
    sys.exit(1)
pathlib.Path("made.txt").write_text(prompt)
call = {"id": "i1", "type": "command_execution", "command": "touch made.txt", "aggregated_output": "", "exit_code": 0}
say({"type": "item.completed", "item": call})
say({"type": "item.completed", "item": {"id": "i2", "type": "agent_message", "text": "hello from " + os.getcwd()}})
say({"type": "turn.completed", "usage": {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 3}})
"""
LOOKS_AT_IT = r"""
import json, pathlib, sys
given = json.load(sys.stdin)
made = pathlib.Path(given["workspace"], "made.txt").read_text()
good = made == "hello" and "+++ b/made.txt" in given["diff"]
print(json.dumps({"score": 1.0 if good else 0.0, "reason": made}))
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with an agent that speaks like Codex; workspaces that are kept go with the test."""
    (tmp_path / "temp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    program = tmp_path / "fake-codex"
    program.write_text(f"#!{sys.executable}\n{FAKE_CODEX}")
    program.chmod(0o755)
    (tmp_path / "look.py").write_text(LOOKS_AT_IT)
    return tmp_path


def agent(**settings: Any) -> dict[str, Any]:
    """The target."""
    return {"name": "coder", "provider": "codex", "executable": "./fake-codex", "max_retries": 0, **settings}


def run_agent(
    root: Path, cases: list[Any], target: dict[str, Any] | None = None, **fields: Any
) -> list[dict[str, Any]]:
    """The results of a suite that is asked of the agent."""
    project(root, target or agent(), s=suite(cases, target="coder", **fields))
    results = {result["case_id"]: result for result in journal(run(root / "s.yaml"))}
    return [results[each["id"]] for each in cases]


def test_what_an_agent_did_is_graded(root: Path) -> None:
    """Graders see its answer, its tool calls, its changes, and its workspace while it is there."""
    graders = [
        {"contains": "hello"},
        {"type": "tool_calls", "expected": [{"name": "shell"}]},
        {"type": "code", "command": [sys.executable, "look.py"]},
    ]
    [result] = run_agent(root, [case("a")], graders=graders)
    assert [(grade["score"], grade["error"]) for grade in result["grades"]] == [(1.0, None)] * 3
    workspace = Path(result["answer"].removeprefix("hello from "))
    assert not workspace.exists()
    assert result["usage"]["input_tokens"] == 10


def test_what_an_agent_did_is_kept(root: Path) -> None:
    """The record says which version ran, how it ended and what it changed; its output is in the run's folder."""
    [result] = run_agent(root, [case("a")])
    ResultSpec.model_validate(result)
    kept = result["agent"]
    assert kept["agent"] == "Codex"
    assert kept["version"] == "9.9.9"
    assert kept["exit_code"] == 0
    assert kept["changes"] == [{"path": "made.txt", "change": "added"}]
    assert kept["diff"].endswith("+hello\n\\ No newline at end of file\n")
    log = Path(kept["log"])
    assert log.is_relative_to(root / ".turnwise/runs")
    assert json.loads(log.read_text().splitlines()[0])["type"] == "thread.started"
    assert result["raw_request"]["messages"] == [{"role": "user", "content": "hello"}]


def test_a_crash_is_an_error_and_no_score(root: Path) -> None:
    """An agent that fails has no answer and no score; what it said last is in the error, and others go on."""
    broken, sound = run_agent(root, [case("a", "crash"), case("b")])
    ResultSpec.model_validate(broken)
    assert (broken["status"], broken["score"], broken["grades"]) == ("error", None, [])
    assert broken["error"]["kind"] == "application"
    assert "exit code 7; the end of its stderr: it went wrong" in broken["error"]["message"]
    assert broken["agent"]["exit_code"] == 7
    assert sound["status"] == "passed"


def test_an_agent_is_not_started_again(root: Path) -> None:
    """It has tried again by itself: a rate limit is its error, and no reason for a second session."""
    [result] = run_agent(root, [case("a", "limited")], agent(max_retries=3))
    assert (result["error"]["kind"], result["error"]["retryable"]) == ("rate_limit", False)
    assert (root / "starts").read_text() == "x"


def test_a_slow_agent_is_ended(root: Path) -> None:
    """A time limit of the target ends it; the run does not hang, and it is not started again."""
    began = time.monotonic()
    [result] = run_agent(root, [case("a", "slow")], agent(timeout=1, max_retries=3))
    assert time.monotonic() - began < 15
    assert (result["error"]["kind"], result["attempts"]) == ("timeout", 1)


def test_a_limit_of_the_run_ends_it_in_order(root: Path) -> None:
    """With `--timeout`, all that is known of the agent is kept as with the target's own limit."""
    project(root, agent(keep_workspaces="failed"), s=suite([case("a", "slow")], target="coder"))
    [result] = journal(run(root / "s.yaml", timeout=3))
    assert result["error"]["kind"] == "timeout"
    assert "thread.started" in Path(result["agent"]["log"]).read_text()
    assert Path(result["agent"]["workspace"]).is_dir()


def test_workspaces_of_cases_that_failed(root: Path) -> None:
    """With `keep_workspaces: failed`, that of a case whose graders failed stays, and the record says where."""
    graders = [{"type": "code", "command": [sys.executable, "look.py"], "required": True}]
    cases = [case("good"), case("bad", "other"), case("broken", "crash")]
    good, bad, broken = run_agent(root, cases, agent(keep_workspaces="failed"), graders=graders)
    assert good["agent"]["workspace"] is None
    for failed in (bad, broken):
        folder = Path(failed["agent"]["workspace"])
        assert folder.is_dir()
        assert (folder / "made.txt").exists() == (failed is bad)


def test_few_agents_at_once(root: Path) -> None:
    """Where nothing is said, four agents run at once, not sixteen."""
    project(root, agent(), s=suite(1, target="coder"))
    events: list[Any] = []
    run(root / "s.yaml", events=events)
    run(root / "s.yaml", events=events, workers=7)
    assert [each.workers for each in events if hasattr(each, "workers")] == [4, 7]


def test_graded_again(root: Path) -> None:
    """What an agent changed is there for graders that come later; its workspace only if it was kept."""
    looks = "import json, sys; g = json.load(sys.stdin); print(json.dumps({'score': 1, 'reason': g['diff'][:13]}))"
    project(root, agent(), s=suite([case("a")], target="coder"))
    first = run(root / "s.yaml")
    graders = [{"type": "code", "command": [sys.executable, "-c", looks]}]
    (root / "more.yaml").write_text(json.dumps({"graders": graders}))
    again = asyncio.run(turnwise.grade(first.folder, graders=root / "more.yaml"))
    [before], [after] = journal(first), journal(again)
    assert after["grades"][0]["reason"] == "--- /dev/null"
    assert after["agent"] == before["agent"]


def test_a_masked_answer_is_not_graded_again(root: Path) -> None:
    """Secrets are taken out of what is kept: that is no longer what was said, and no grader may judge it."""
    key = "sk-0123456789abc"
    (root / "fake-codex").write_text((root / "fake-codex").read_text().replace("hello from", f"hello {key} from"))
    project(root, agent(api_key=key), s=suite([case("a")], target="coder", graders=[{"contains": key}]))
    first = run(root / "s.yaml")
    [kept] = journal(first)
    assert (kept["status"], kept["masked"], key in kept["answer"]) == ("passed", True, False)
    [again] = journal(asyncio.run(turnwise.grade(first.folder)))
    assert (again["status"], again["score"], again["masked"]) == ("ungraded", None, True)
    assert again["grades"][0]["error"]["kind"] == "masked-answer"


def test_an_agent_as_a_judge_leaves_no_workspace(root: Path) -> None:
    """An agent may judge, and what it worked in goes at once: a long run does not fill the disk with it."""
    verdict = '{"score": 1, "reason": "fine"}'
    program = (root / "fake-codex").read_text().replace('"hello from " + os.getcwd()', repr(verdict))
    (root / "fake-codex").write_text(program)
    judge = {"type": "llm_judge", "target": "coder"}
    seen = "import json, os, sys; print(json.dumps({'score': 1, 'reason': str(os.listdir(sys.argv[1]))}))"
    looks = {"type": "code", "command": [sys.executable, "-c", seen, str(root / "temp")]}
    project(root, agent(), ECHO, s=suite([case("a")], target="echo", graders=[judge, looks]))
    [result] = journal(run(root / "s.yaml"))
    assert result["grades"][0]["score"] == 1.0
    assert "turnwise-agent" not in result["grades"][1]["reason"]
