"""Names of targets that mean nothing are told where they are written; a target that sends nothing needs no program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_fixtures import Turnwise, runs

TARGETS = "targets:\n  - {name: m, provider: mock, echo: true}\n  - {name: v, provider: vscode, dry_run: true}\n"
CASES = "graders: [{contains: x}]\ncases:\n  - id: a\n    input_messages: [{role: user, content: x}]\n"


def project(suite: str) -> None:
    """Write a project into the current folder."""
    Path(".turnwise").mkdir()
    Path(".turnwise/targets.yaml").write_text(TARGETS)
    Path("suite.yaml").write_text(suite)


@pytest.mark.parametrize(
    ("suite", "where"),
    [
        (CASES + "    target: gone\n", "suite.yaml:5:13: case 'a': "),
        ("target: m\n" + CASES + "    target: gone\n", "suite.yaml:6:13: case 'a': "),
        ("target: gone\n" + CASES, "suite.yaml:1:9: "),
        ("targets: [m, gone]\n" + CASES, "suite.yaml:1:14: "),
    ],
)
def test_a_run_names_the_key_of_a_target_that_is_not_there(turnwise: Turnwise, suite: str, where: str) -> None:
    """File, line and column are those of the name, and the case is named if the name is its own."""
    project(suite)
    said = turnwise("run", "suite.yaml")
    assert said.code == 2
    assert f"error: {where}no target is named 'gone'" in said.err
    assert runs() == []


def test_a_run_does_not_blame_a_file_for_the_command_line(turnwise: Turnwise) -> None:
    """A name of the command line is in no file."""
    project("target: m\n" + CASES)
    assert "error: no target is named 'gone'" in turnwise("run", "suite.yaml", "--target", "gone").err


@pytest.mark.parametrize("verb", ["validate", "run"])
def test_a_judge_of_a_suite_is_no_template(turnwise: Turnwise, verb: str) -> None:
    """It is for all cases: `{{ }}`, which differs from case to case, is refused at the key, by every verb."""
    project('target: m\njudge: "{{ who }}"\n' + CASES)
    said = turnwise(verb, "suite.yaml")
    assert said.code == 2
    assert "suite.yaml:2:8: error: `judge` is for all cases" in said.out + said.err


def test_a_dry_run_needs_no_program(turnwise: Turnwise, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A VS Code to which nothing is sent need not be there: it is ready, and its check is passed."""
    project("target: m\n" + CASES)
    monkeypatch.setenv("PATH", str(tmp_path))
    listed = turnwise("targets", "v", "--format", "json")
    checked = turnwise("targets", "v", "--check")
    assert (listed.code, checked.code) == (0, 0), listed.out + listed.err + checked.out
    assert json.loads(listed.out)[0]["name"] == "v"
    assert "dry run: nothing is sent" in checked.out
