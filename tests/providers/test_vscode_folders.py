"""Folders of VS Code's agents: where they are, who has them, and what VS Code opens."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from turnwise.errors import SetupError
from turnwise.providers.agents.vscode import claiming
from turnwise.providers.agents.vscode.claiming import claim_folder
from turnwise.providers.agents.vscode.folders import AgentFolder, agent_root
from turnwise.providers.agents.vscode.locks import take_lock
from turnwise.providers.agents.vscode.modes import mode_of
from turnwise.providers.agents.vscode.workspace_file import template_of, workspace_text
from turnwise.targets.agents import VSCodeTarget

_CLAIM = """
import sys, time
from pathlib import Path
from turnwise.providers.agents.vscode.claiming import claim_folder
claim = claim_folder(Path(sys.argv[1]))
print(claim.folder.name, flush=True)
sys.stdin.read()
"""
_CONTEND = """
import os, sys, time
from pathlib import Path
from turnwise.providers.agents.vscode.claiming import claim_folder
root = Path(sys.argv[1])
for _ in range(40):
    claim = claim_folder(root)
    mark = claim.folder.path / "in-use"
    os.close(os.open(mark, os.O_CREAT | os.O_EXCL))  # fails if another is in here
    os.sched_yield()
    mark.unlink()
    claim.release()
print("done", flush=True)
"""


def target(**settings: Any) -> VSCodeTarget:
    """A target with these settings."""
    return VSCodeTarget.model_validate({"name": "editor", "provider": "vscode", **settings})


def holder(root: Path) -> tuple[subprocess.Popen[str], str]:
    """Another process that holds a folder, and the folder's name."""
    process = subprocess.Popen(
        [sys.executable, "-c", _CLAIM, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def test_folders_are_below_home_unless_told(tmp_path: Path) -> None:
    """The usual place is no hidden folder; a written one starts at the project, or at HOME."""
    known = {"HOME": str(tmp_path / "home")}
    assert agent_root(target(), tmp_path, known) == tmp_path / "home" / "turnwise-agents" / "vscode"
    assert agent_root(target(agent_root="agents"), tmp_path, known) == tmp_path / "agents"
    assert agent_root(target(agent_root="~/agents"), tmp_path, known) == tmp_path / "home" / "agents"


@pytest.mark.parametrize("written", ["~/.agents", "~/x/.y/z", "/srv/.agents"])
def test_a_hidden_folder_is_refused(tmp_path: Path, written: str) -> None:
    """VS Code would ask for permission for each edit there; the error says so and names a better one."""
    with pytest.raises(SetupError, match="VS Code asks for permission for each edit there") as info:
        agent_root(target(agent_root=written), tmp_path, {"HOME": str(tmp_path)})
    assert str(tmp_path / "turnwise-agents" / "vscode") in (info.value.hint or "")


def test_a_hidden_home_is_no_obstacle(tmp_path: Path) -> None:
    """Only what is below HOME counts."""
    home = tmp_path / ".home"
    assert agent_root(target(), tmp_path, {"HOME": str(home)}).is_relative_to(home)


def test_claims_take_the_first_free_folder(tmp_path: Path) -> None:
    """Where all are taken there is one more; a folder that is released is taken first."""
    first, second = claim_folder(tmp_path), claim_folder(tmp_path)
    first.release()
    third = claim_folder(tmp_path)
    names = [each.folder.name for each in (first, second, third)]
    first.release()  # a second time: it is another's now
    fourth = claim_folder(tmp_path)
    for each in (second, third, fourth):
        each.release()
    assert [*names, fourth.folder.name] == ["agent-1", "agent-2", "agent-1", "agent-3"]


def test_a_folder_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    """A folder without our lock file is never claimed, and so never emptied."""
    (tmp_path / "agent-1").mkdir()
    (tmp_path / "agent-2").symlink_to(tmp_path / "agent-1")
    claim = claim_folder(tmp_path)
    claim.release()
    assert claim.folder.name == "agent-3"
    assert list((tmp_path / "agent-1").iterdir()) == []


def test_many_processes_never_share_a_folder(tmp_path: Path) -> None:
    """Processes that claim and release as quickly as they can never meet in a folder."""
    processes = [
        subprocess.Popen([sys.executable, "-c", _CONTEND, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    ends = [process.communicate(timeout=60)[0].strip() for process in processes]
    assert Counter(ends) == {"done": 6}


def test_the_folder_of_a_killed_process_is_free_at_once(tmp_path: Path) -> None:
    """A lock ends with its process, and the two that want it next get one each."""
    process, name = holder(tmp_path)
    with process:
        assert name == "agent-1"
        taken = claim_folder(tmp_path)
        assert taken.folder.name == "agent-2"
        os.kill(process.pid, signal.SIGKILL)
    claims = [claim_folder(tmp_path), claim_folder(tmp_path)]
    for each in (taken, *claims):
        each.release()
    assert [each.folder.name for each in claims] == ["agent-1", "agent-3"]


def test_a_lock_says_who_holds_it(tmp_path: Path) -> None:
    """The file names process and host while it is held, and nothing afterwards; it is never removed."""
    lock = take_lock(tmp_path / "a.lock")
    assert lock is not None
    assert json.loads((tmp_path / "a.lock").read_text())["pid"] == os.getpid()
    assert take_lock(tmp_path / "a.lock") is None
    lock.release()
    assert (tmp_path / "a.lock").read_text() == ""


def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    """What an agent put in its place is not written to."""
    (tmp_path / "precious").write_text("keep")
    (tmp_path / "a.lock").symlink_to(tmp_path / "precious")
    with pytest.raises(SetupError, match="cannot be locked"):
        take_lock(tmp_path / "a.lock")
    assert (tmp_path / "precious").read_text() == "keep"


def test_a_folder_rests_until_its_answers_are_there_or_an_hour_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """VS Code cannot be stopped, so nobody is put where it may be at work; but not for ever."""
    claim = claim_folder(tmp_path)
    claim.expect([tmp_path / "answer.md"])
    claim.release()
    other = claim_folder(tmp_path)
    other.release()
    monkeypatch.setattr(claiming, "_REST_SECONDS", 0.0)
    late = claim_folder(tmp_path)
    late.release()
    assert (other.folder.name, late.folder.name) == ("agent-2", "agent-1")


@pytest.mark.parametrize("note", ["", "[]", '{"since": "x", "answers": []}', '{"answers": ["\\u0000"], "since": 1}'])
def test_a_note_that_makes_no_sense_stops_nobody(tmp_path: Path, note: str) -> None:
    """What is in an agent's folder may be anything."""
    claim = claim_folder(tmp_path)
    claim.release()
    claim.folder.unanswered.write_text(note)
    again = claim_folder(tmp_path)
    again.release()
    assert again.folder.name == "agent-1"


def test_what_an_agent_left_is_removed_and_no_more(tmp_path: Path) -> None:
    """Links go, not what they lead to; folders that cannot be written to go as well."""
    claim = claim_folder(tmp_path / "root")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("keep")
    folder = claim.folder
    (folder.path / "messages").symlink_to(outside)
    (folder.path / "closed").mkdir()
    (folder.path / "closed" / "file").write_text("x")
    (folder.path / "closed").chmod(0o500)
    folder.empty()
    claim.release()
    assert (outside / "file").read_text() == "keep"
    assert not (folder.path / "closed").exists()
    assert not folder.messages.is_symlink()


def test_a_template_folder_is_listed_beside_the_agents_own(tmp_path: Path) -> None:
    """The agent's own folder comes first."""
    (tmp_path / "code").mkdir()
    text = workspace_text(template_of(target(workspace_template="code"), tmp_path))
    assert json.loads(text) == {"folders": [{"path": "."}, {"path": str(tmp_path / "code")}]}


def test_a_template_file_keeps_its_settings_and_its_folders(tmp_path: Path) -> None:
    """Relative paths start at the template; comments and last commas are VS Code's way of writing JSON."""
    (tmp_path / "team").mkdir()
    (tmp_path / "team" / "x.code-workspace").write_text(
        '{ // ours\n"folders": [{"path": "../lib", "name": "Lib"}, {"uri": "ssh://h/x"},],\n'
        '"settings": {"a": "// no comment, ]"} /* end */ }'
    )
    text = workspace_text(template_of(target(workspace_template="team/x.code-workspace"), tmp_path))
    assert json.loads(text) == {
        "folders": [{"path": "."}, {"path": str(tmp_path / "lib"), "name": "Lib"}, {"uri": "ssh://h/x"}],
        "settings": {"a": "// no comment, ]"},
    }


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("none", None, "does not exist"),
        ("a.txt", "x", "neither a folder nor"),
        ("a.code-workspace", "{", "cannot be read"),
        ("a.code-workspace", '{"folders": "x"}', "has no list of `folders`"),
        ("a.code-workspace", "[" * 100_000, "cannot be read"),
    ],
)
def test_a_template_that_cannot_be_used_is_a_setup_error(
    tmp_path: Path, name: str, content: str | None, words: str
) -> None:
    """The error names the setting and what is wrong with it."""
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(SetupError, match=f"`workspace_template` .*{words}"):
        template_of(target(workspace_template=name), tmp_path)


def test_a_mode_is_new_only_when_its_file_changed(tmp_path: Path) -> None:
    """VS Code needs seconds to find a new file; one that is there stays, and what an agent made of it does not."""
    (tmp_path / "terse.md").write_text("Be terse.")
    mode, folder = mode_of(target(mode="terse.md"), tmp_path), AgentFolder(tmp_path / "agent-1")
    assert [mode.install(folder), mode.install(folder)] == [True, False]
    (folder.modes / "other.md").write_text("Be rude.")
    assert mode.install(folder)
    assert [path.name for path in folder.modes.iterdir()] == ["terse.agent.md"]
    assert not mode_of(target(), tmp_path).install(folder)
    assert list(folder.modes.iterdir()) == []


def test_our_own_files_are_no_work_of_the_agent(tmp_path: Path) -> None:
    """What we keep in the folder is not told as a change."""
    folder = AgentFolder(tmp_path / "agent-7")
    ours = ["woken", "unanswered.json", "messages/a.md", "kept/1/a.md", "agent-7.code-workspace"]
    assert [path for path in [*ours, "src/messages/a.md", "x.code-workspace"] if folder.is_work(path)] == [
        "src/messages/a.md",
        "x.code-workspace",
    ]
