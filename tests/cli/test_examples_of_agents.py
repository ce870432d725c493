"""The examples of agents run offline, each with its own targets."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from command_fixtures import Turnwise, runs
from helpers import ROOT


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """A copy, so that runs are not kept among the real ones."""
    shutil.copytree(ROOT / "examples", tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("runs"))
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (("agents",), 4),
        (("agents", "--target", "clerk"), 2),
        (("agents", "--target", "clerk-batch"), 2),
        (("sessions",), 2),
    ],
)
def test_each_offline_target_passes(turnwise: Turnwise, examples: Path, arguments: tuple[str, ...], count: int) -> None:
    """No target of the example fails for want of something that only another agent tells."""
    assert (examples / arguments[0]).is_dir()
    said = turnwise("run", *arguments, "--quiet")
    assert said.code == 0
    assert f"PASSED: {count} of {count}" in said.out


def test_without_a_workspace_the_grader_says_so(turnwise: Turnwise, examples: Path) -> None:
    """A target that is no agent leaves nothing to look into: an error of the grader, and not its traceback."""
    shown = yaml.safe_load((examples / "agents" / "suite.yaml").read_text(encoding="utf-8"))
    assert "codex" not in shown["targets"]
    said = turnwise("run", "agents", "--target", "mock", "--quiet")
    (run,) = runs()
    results = [json.loads(line) for line in (run / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    assert said.code == 3
    assert "no workspace" in json.dumps(results)
    assert "Traceback" not in json.dumps(results)


@pytest.mark.parametrize("name", ["clerk", "codex", "claude-code", "pi", "gemini-cli", "vscode", "recorded"])
def test_there_is_a_target_for_each_kind_of_agent(name: str) -> None:
    """Each agent has an example to start from."""
    targets = yaml.safe_load((ROOT / "examples" / ".turnwise" / "targets.yaml").read_text(encoding="utf-8"))["targets"]
    assert name in {target["name"] for target in targets}
