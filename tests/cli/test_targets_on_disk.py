"""Folders and files that targets name are looked for before anything is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from command_fixtures import Turnwise, runs
from turnwise.targets.models import PROVIDERS
from turnwise.targets.on_disk import disk_problems

SUITE = "graders: [{contains: x}]\ncases:\n  - {id: a, input_messages: [{role: user, content: x}]}\n"


def project(*targets: dict[str, Any], asks: str = "") -> None:
    """Write a project into the current folder; its suite begins with `asks`."""
    Path(".turnwise").mkdir()
    Path(".turnwise/targets.yaml").write_text(yaml.safe_dump({"targets": list(targets)}, sort_keys=False))
    Path("suite.yaml").write_text(asks + SUITE)


@pytest.mark.parametrize(
    ("settings", "setting", "words"),
    [
        ({"provider": "codex", "workspace_template": "nope"}, "workspace_template", "does not exist"),
        ({"provider": "codex", "cwd": "plain.txt"}, "cwd", "is not a folder"),
        ({"provider": "replay", "sessions": "nope"}, "sessions", "does not exist"),
        ({"provider": "vscode", "workspace_template": "nope"}, "workspace_template", "does not exist"),
        ({"provider": "vscode", "mode": "modes/x.md"}, "mode", "there is no file"),
        ({"provider": "vscode", "agent_root": ".hidden/agents"}, "agent_root", "hidden folder '.hidden'"),
        ({"provider": "vscode", "agent_root": "plain.txt"}, "agent_root", "is not a folder"),
    ],
)
def test_what_is_not_there_is_told(tmp_path: Path, settings: dict[str, Any], setting: str, words: str) -> None:
    """Each names the setting, the path and what to do."""
    (tmp_path / "plain.txt").touch()
    target = PROVIDERS[settings["provider"]].model_validate({"name": "t", **settings})
    (found,) = disk_problems(target, tmp_path, {"HOME": str(tmp_path)})
    assert found.setting == setting
    assert words in found.message
    assert found.hint


@pytest.mark.parametrize(
    "settings",
    [
        {"provider": "codex", "workspace_template": "${{ WHERE }}"},
        {"provider": "codex", "workspace_template": "there"},
        {"provider": "cli", "command": ["a"], "cwd": "there"},
        {"provider": "vscode", "mode": "ask", "agent_root": "new/agents", "workspace_template": "there"},
        {"provider": "mock", "echo": True},
    ],
)
def test_what_is_there_or_not_known_is_no_problem(tmp_path: Path, settings: dict[str, Any]) -> None:
    """A setting with a variable is looked at when the variable is known."""
    (tmp_path / "there").mkdir()
    target = PROVIDERS[settings["provider"]].model_validate({"name": "t", **settings})
    assert list(disk_problems(target, tmp_path, {"HOME": str(tmp_path)})) == []


def test_validate_names_the_place(turnwise: Turnwise) -> None:
    """The diagnostic has file, line and column of the setting."""
    project({"name": "t", "provider": "codex", "cwd": "nope"}, asks="target: t\n")
    said = turnwise("validate", "suite.yaml")
    assert said.code == 2
    assert said.out.startswith(".turnwise/targets.yaml:4:8: error: `cwd` does not exist: ")


def test_a_target_that_no_suite_names_is_a_warning(turnwise: Turnwise) -> None:
    """What does not hold up a run is no error of a validation."""
    right = {"name": "right", "provider": "mock", "echo": True}
    project({"name": "t", "provider": "replay", "sessions": "nope"}, right, asks="target: right\n")
    said = turnwise("validate", "suite.yaml")
    assert said.code == 0
    assert said.out.startswith(".turnwise/targets.yaml:4:13: warning: `sessions` does not exist: ")


def test_the_judge_of_a_target_that_is_named_is_used_too(turnwise: Turnwise) -> None:
    """A target brings its judge along."""
    asked = {"name": "asked", "provider": "mock", "echo": True, "judge_target": "t"}
    project({"name": "t", "provider": "codex", "cwd": "nope"}, asked, asks="target: asked\n")
    said = turnwise("validate", "suite.yaml")
    assert said.code == 2
    assert ": error: `cwd` does not exist: " in said.out


def test_a_run_ends_before_it_begins(turnwise: Turnwise) -> None:
    """Nothing is asked and no run is left; another target of the file is not held up."""
    wrong = {"name": "wrong", "provider": "cli", "command": ["echo"], "cwd": "nope"}
    project(wrong, {"name": "right", "provider": "mock", "echo": True})
    said = turnwise("run", "suite.yaml", "--target", "wrong")
    assert said.code == 2
    assert "target 'wrong': `cwd` does not exist" in said.err
    assert runs() == []
    assert turnwise("run", "suite.yaml", "--target", "right").code == 0


def test_the_list_of_targets_says_so(turnwise: Turnwise) -> None:
    """A target whose folder is missing is not ready."""
    project({"name": "t", "provider": "replay", "sessions": "nope"})
    said = turnwise("targets")
    assert said.code == 2
    assert "`sessions` does not exist" in said.out + said.err
    assert "ready" not in said.out
