"""`turnwise targets --check` tells of agents what was found, in both forms."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from turnwise.cli import cli

KEY = "sk-secret-0123456789"
AGENT = f"""#!{sys.executable}
import sys
if "--version" in sys.argv:
    sys.exit("agent 1.2.3")
print('{{"type": "item.completed", "item": {{"type": "agent_message", "text": "OK"}}}}')
print('{{"type": "turn.completed", "usage": {{}}}}')
"""
TARGETS = """
targets:
  - {name: mine, provider: codex, executable: ./agent, api_key: "${{ MY_KEY }}"}
  - {name: gone, provider: pi, executable: no-such-program}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with an agent that answers, and one that is not installed."""
    (tmp_path / ".turnwise").mkdir()
    (tmp_path / ".turnwise" / "targets.yaml").write_text(TARGETS)
    (tmp_path / "agent").write_text(AGENT)
    (tmp_path / "agent").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MY_KEY", KEY)
    return tmp_path


def test_the_text_says_what_was_found(project: Path) -> None:
    """A line tells path, version, key and time; a missing program has its install command below it."""
    done = CliRunner().invoke(cli, ["targets", "--check"])
    mine, gone, hint = done.output.splitlines()
    assert f"found {project}/agent 1.2.3, key from MY_KEY, answered in " in mine
    assert gone.startswith("✗ gone")
    assert "npm install -g @mariozechner/pi-coding-agent" in hint
    assert done.exit_code == 1
    assert KEY not in done.output


def test_the_json_form_has_each_fact(project: Path) -> None:
    """Path, version and access are fields of `check.agent`, which only an agent that was found has."""
    done = CliRunner().invoke(cli, ["targets", "--check", "--format", "json"])
    mine, gone = (target["check"] for target in json.loads(done.output))
    assert mine["agent"] == {"program": f"{project}/agent", "version": "1.2.3", "access": "key from MY_KEY"}
    assert mine["ok"] is True
    assert gone["ok"] is False
    assert "agent" not in gone
    assert KEY not in done.output
