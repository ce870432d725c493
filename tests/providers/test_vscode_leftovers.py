"""What an agent of VS Code may leave in its folder, in the place of files of ours."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from turnwise.errors import ProtocolError
from turnwise.providers.agents.leftovers import read_at_most
from turnwise.providers.agents.vscode import calling
from turnwise.providers.agents.vscode.answers import read_answer
from turnwise.providers.agents.vscode.claiming import claim_folder
from turnwise.providers.agents.vscode.modes import Mode
from turnwise.providers.agents.vscode.preparing import Recipe, prepare


def sparse(path: Path) -> None:
    """A file of 8 TB that takes no room."""
    with path.open("wb") as file:
        file.truncate(8 << 40)


def link(path: Path) -> None:
    """A link to something endless."""
    path.symlink_to("/dev/zero")


LEFT = pytest.mark.parametrize("leave", [sparse, os.mkfifo, link, Path.mkdir])


@LEFT
def test_only_a_plain_file_is_read(tmp_path: Path, leave: Callable[[Path], None]) -> None:
    """What is too large, or no file, holds nothing."""
    leave(tmp_path / "x")
    assert read_at_most(tmp_path / "x", 100) is None
    with pytest.raises(ProtocolError):
        read_answer(tmp_path / "x")


def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    """A file of just the longest length is read whole, a longer one not at all."""
    (tmp_path / "x").write_bytes(b"12345")
    assert read_at_most(tmp_path / "x", 5) == b"12345"
    assert read_at_most(tmp_path / "x", 4) is None


@LEFT
def test_whatever_is_left_is_replaced(tmp_path: Path, leave: Callable[[Path], None]) -> None:
    """The workspace file, the mode and the note of a folder are ours again for the next request."""
    (tmp_path / "m.agent.md").write_text("mode")
    recipe = Recipe(template={}, mode=Mode("m", tmp_path / "m.agent.md"), is_kept=False, is_batch=True)
    claim = claim_folder(tmp_path / "agents")
    folder = claim.folder
    folder.modes.mkdir(parents=True)
    for path in (folder.workspace_file, folder.modes / "m.agent.md", folder.unanswered):
        leave(path)
    claim.release()
    again = claim_folder(tmp_path / "agents")
    assert again.folder == folder
    prepare(folder, [], recipe)
    assert (folder.modes / "m.agent.md").read_text() == "mode"
    assert folder.workspace_file.read_text().startswith("{")
    again.release()


def test_a_lock_is_out_of_the_agent_s_way(tmp_path: Path) -> None:
    """Whatever an agent does in its folder, nobody else gets the folder while it is claimed."""
    claim = claim_folder(tmp_path)
    for path in claim.folder.path.iterdir():
        path.unlink()
    (claim.folder.path / "agent.lock").touch()
    other = claim_folder(tmp_path)
    assert other.folder != claim.folder
    assert not claim.folder.lock.is_relative_to(claim.folder.path)
    claim.release()
    other.release()


def test_a_command_that_writes_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the `code` command writes is bounded, long before its time is over."""
    import asyncio

    monkeypatch.setattr(calling, "_MOST_WRITTEN", 100_000)
    flood = [sys.executable, "-c", "import os\nwhile True: os.write(1, b'x' * 4096)"]
    called = asyncio.run(asyncio.wait_for(calling.call(flood, tmp_path, {}, 60.0), 20))
    assert called.status is None
