"""What the commands show of agents: what they need, what they left behind, and what can be done about errors."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from helpers import run_turnwise
from run_fixtures import case, project, suite
from turnwise.cli import cli

FAKE_CODEX = f"""#!{sys.executable}
import json, pathlib, sys
if "--version" in sys.argv:
    sys.exit("codex-cli 9.9.9")
prompt = sys.stdin.read()
if "crash" in prompt:
    sys.exit(7)
pathlib.Path("made.txt").write_text("made")
for event in (
    {{"type": "thread.started", "thread_id": "t"}},
    {{"type": "item.completed", "item": {{"id": "i", "type": "agent_message", "text": "hello"}}}},
    {{"type": "turn.completed", "usage": {{"input_tokens": 10, "output_tokens": 3}}}},
):
    print(json.dumps(event))
"""
CODER = {"name": "echo", "provider": "codex", "executable": "./fake-codex", "api_key": "${{ A_KEY }}"}
CAT = {"name": "echo", "provider": "cli", "command": ["cat"], "prompt_by": "stdin"}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an agent that speaks like Codex; workspaces that are kept go with the test."""
    (tmp_path / "temp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    monkeypatch.setenv("A_KEY", "sk-secret-0123456789")
    (tmp_path / "fake-codex").write_text(FAKE_CODEX)
    (tmp_path / "fake-codex").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def turnwise(*arguments: str) -> Result:
    """What a command comes to."""
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def test_a_run_says_how_to_install_what_is_missing(root: Path) -> None:
    """The command is shown while the run goes on, in its summary, and by `turnwise summary`; results keep it."""
    project(root, {**CODER, "executable": "no-such-program"}, s=suite(3))
    done = turnwise("run", "s.yaml")
    install = "install it with `npm install -g @openai/codex`"
    assert done.exit_code == 3
    assert (done.stderr.count(install), done.stdout.count(install)) == (1, 1)
    (folder,) = (root / ".turnwise" / "runs").iterdir()
    assert turnwise("summary", folder.name).stdout.count(install) == 1
    results = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    assert all(install in result["error"]["hint"] for result in results)


def test_a_run_says_where_logs_and_workspaces_are(root: Path) -> None:
    """The folder of the logs stands below that of the results, and what did not pass names its own."""
    project(root, {**CODER, "keep_workspaces": "failed"}, s=suite([case("a"), case("b", "crash")]))
    done = turnwise("run", "s.yaml")
    (folder,) = (root / ".turnwise" / "runs").iterdir()
    assert f"logs of agents: .turnwise/runs/{folder.name}/agents" in done.stderr.splitlines()
    results = {each["case_id"]: each for each in map(json.loads, (folder / "results.jsonl").read_text().splitlines())}
    lines = done.stdout.splitlines()
    assert f"  log: {Path(results['b']['agent']['log']).relative_to(root)}" in lines
    assert sum("workspace: " in line for line in lines) == 1
    assert results["b"]["agent"]["workspace"] is not None


def test_a_run_without_agents_names_no_logs(root: Path) -> None:
    """There are none."""
    project(root)
    assert "agents" not in turnwise("run", "s.yaml").stderr


def test_prices_are_not_asked_for_before_an_agent_has_answered(root: Path) -> None:
    """Whether it counts tokens, or tells a cost itself, is not known before; afterwards the summary says so."""
    project(root, CAT, s=suite(1))
    done = turnwise("run", "s.yaml")
    assert done.exit_code == 0
    assert "prices" not in done.output
    assert "cost: not known of 1 answer; no tokens were counted" in done.stdout


def test_a_dry_run_guesses_nothing_of_an_agent(root: Path) -> None:
    """It asks its model as often as it likes: its tokens and cost are unknown, in both forms."""
    project(root, CODER, s=suite(2))
    text = turnwise("run", "s.yaml", "--dry-run").stdout
    assert "an agent asks its model as often as it likes" in text
    assert "256" not in text
    estimate = json.loads(turnwise("run", "s.yaml", "--dry-run", "--json").stdout)["estimate"]
    (coder,) = estimate["targets"]
    assert (coder["requests"], coder["input_tokens"], coder["output_tokens"], coder["cost_usd"]) == (
        2,
        None,
        None,
        None,
    )
    assert estimate["cost_usd"] is None


def test_ask_keeps_what_an_agent_did(root: Path) -> None:
    """The JSON form has the agent's work, and a workspace that is kept is named on standard error."""
    project(root, {**CODER, "keep_workspaces": "always"})
    done = turnwise("ask", "echo", "hi", "--format", "json")
    agent: dict[str, Any] = json.loads(done.stdout)["agent"]
    assert agent["changes"] == [{"path": "made.txt", "change": "added"}]
    assert (Path(agent["workspace"]) / "made.txt").read_text() == "made"
    assert f"workspace: {agent['workspace']}" in done.stderr.splitlines()


def test_ask_names_no_workspace_that_is_gone(root: Path) -> None:
    """It is removed unless the target keeps it."""
    project(root, CODER)
    done = turnwise("ask", "echo", "hi", "--format", "json")
    assert json.loads(done.stdout)["agent"]["workspace"] is None
    assert "workspace" not in done.stderr
    assert list((root / "temp").iterdir()) == []


def test_ask_names_the_workspace_of_an_agent_that_failed(root: Path) -> None:
    """It is what there is to look at."""
    project(root, {**CODER, "keep_workspaces": "failed"})
    done = run_turnwise("ask", "echo", "crash", "--format", "json", cwd=root, TMPDIR=str(root / "temp"))
    assert done.returncode == 1
    kept = json.loads(done.stdout)["error"]["agent"]["workspace"]
    assert Path(kept).is_dir()
    assert f"workspace: {kept}" in done.stderr.splitlines()


@pytest.mark.parametrize(
    ("target", "state"),
    [
        (CODER, "ready"),
        ({**CODER, "executable": "no-such-program"}, "not installed: npm install -g @openai/codex"),
        ({"name": "echo", "provider": "codex", "executable": "./fake-codex"}, "no key"),
        ({**CAT, "command": ["no-such-program"]}, "not found: there is no program 'no-such-program' on the PATH"),
        (
            {"name": "echo", "provider": "vscode", "executable": "no-code"},
            "not found: there is no program 'no-code' on",
        ),
        (CAT, "ready"),
    ],
)
def test_targets_say_what_an_agent_lacks(root: Path, target: dict[str, Any], state: str) -> None:
    """Without starting anything: its program, or a key."""
    project(root, target)
    done = turnwise("targets")
    assert done.exit_code == 0
    assert state in done.stdout.splitlines()[0]
    (listed,) = json.loads(turnwise("targets", "--format", "json").stdout)
    assert listed["ready"] is (state == "ready")
    assert (listed["needs"] is None) == listed["ready"]


def test_a_live_case_is_not_asked_of_an_agent_of_the_command_line(root: Path) -> None:
    """Neither `run` nor `prompt` shows what can never happen: both say so and end with 2, and no run is begun."""
    live = case("a", turns=[{"user": "hello again"}])
    project(root, CODER, {"name": "other", "provider": "mock", "echo": True}, s={**suite([live]), "target": "other"})
    for verb in ("run", "prompt"):
        done = run_turnwise(verb, "s.yaml", "--target", "echo", cwd=root)
        assert done.returncode == 2
        assert "agents cannot have live conversations" in done.stdout + done.stderr
        assert "sent after reply" not in done.stdout
    assert not (root / ".turnwise" / "runs").exists()
    assert turnwise("run", "s.yaml").exit_code == 0


def test_what_nobody_waits_for_is_not_asked_again(root: Path) -> None:
    """A dry run of VS Code sends nothing, and resuming it would end in the same way."""
    target = {"name": "echo", "provider": "vscode", "dry_run": True, "agent_root": str(root / "agents")}
    project(root, target)
    done = turnwise("run", "s.yaml")
    (folder,) = (root / ".turnwise" / "runs").iterdir()
    result = json.loads((folder / "results.jsonl").read_text())
    assert (result["error"]["kind"], result["attempts"]) == ("not_awaited", 0)
    assert "--resume" not in done.output
