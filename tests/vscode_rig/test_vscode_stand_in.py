"""The stand-in for the `code` command leaves what it is asked for as files, and refuses what it does not know."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from vscode_rig.settings import write_profile
from vscode_rig.stand_in import RIG, main


@pytest.fixture
def rig(tmp_path: Path) -> Path:
    """The folder of a rig in which nothing runs."""
    write_profile(tmp_path / "rig", "http://127.0.0.1:1/v1")
    return tmp_path / "rig"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace file."""
    path = tmp_path / "agent-1.code-workspace"
    path.write_text('{"folders": [{"path": "."}]}', encoding="utf-8")
    return path


def chats(rig: Path) -> list[dict[str, Any]]:
    """The chats that were asked for, oldest first."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted((rig / "chats").glob("*.json"))]


def test_a_chat_goes_to_the_window_that_was_opened_last(rig: Path, workspace: Path) -> None:
    """After a workspace is opened, `-r chat` is for its window, with mode, files and the prompt as one text."""
    other = workspace.with_name("agent-2.code-workspace")
    other.write_bytes(workspace.read_bytes())
    for path in (workspace, other):
        assert main([str(path)], rig) == 0
    assert main(["-r", "chat", "-m", "brisk", "-a", str(workspace), "Two lines:\n(1) & 2"], rig) == 0
    assert chats(rig) == [
        {"workspace": str(other), "mode": "brisk", "files": [str(workspace)], "prompt": "Two lines:\n(1) & 2"}
    ]


def test_status_names_the_windows_that_are_open(rig: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A window is named by its workspace once it is open."""
    (rig / "windows").write_text("/x/agent-1/agent-1.code-workspace\n", encoding="utf-8")
    assert main(["--status"], rig) == 0
    assert "Window (agent-1 (Workspace) - Visual Studio Code)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-r", "chat", "-m", "agent", "hello"], "no window is open"),
        (["/nowhere/a.code-workspace"], "there is no workspace file /nowhere/a.code-workspace"),
        (["-r", "chat", "-a", "/nowhere/1_req.md", "hello"], "there is no file /nowhere/1_req.md"),
        (["--diff", "a", "b"], "does not know"),
    ],
)
def test_what_cannot_be_done_is_refused(
    arguments: list[str], said: str, rig: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is left for VS Code to do, and the message says why."""
    assert main(arguments, rig) == 1
    assert said in capsys.readouterr().err
    assert chats(rig) == []


def test_the_command_works_with_an_empty_path(rig: Path, workspace: Path) -> None:
    """The executable needs nothing from its surroundings but the rig's variable."""
    done = subprocess.run([rig / "bin" / "code", workspace], env={RIG: str(rig), "PATH": ""}, check=True)
    assert done.returncode == 0
    assert (rig / "active").read_text(encoding="utf-8") == str(workspace)
