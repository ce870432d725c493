"""Copies of a template: nothing in them leads back to the original, and each is the same as the first."""

from __future__ import annotations

import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from turnwise.errors import SetupError
from turnwise.programs.places import leave_place
from turnwise.programs.removal import removed
from turnwise.programs.strays import marked
from turnwise.providers.agents.template import TemplateCopy
from turnwise.providers.agents.workspace import WorkspaceMaker
from turnwise.targets.agents import CodexTarget


def maker(root: Path, **settings: str) -> WorkspaceMaker:
    """Makes workspaces of a target."""
    return WorkspaceMaker(CodexTarget(name="agent", provider="codex", **settings), root)  # type: ignore[arg-type]


def test_everything_is_copied(tmp_path: Path) -> None:
    """Files with their modes, folders that are empty or closed to writing, and links that are broken anyway."""
    source = tmp_path / "source"
    (source / "empty").mkdir(parents=True)
    (source / "run.sh").write_text("#!/bin/sh\n")
    (source / "run.sh").chmod(0o755)
    (source / "closed").mkdir()
    (source / "closed/file").write_text("x")
    (source / "closed").chmod(0o555)
    (source / "broken").symlink_to("nowhere")
    os.mkfifo(source / "pipe")
    TemplateCopy("t").copy(source, tmp_path / "copy", Event())
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == ["broken", "closed", "empty", "run.sh"]
    assert os.access(tmp_path / "copy/run.sh", os.X_OK)
    assert (tmp_path / "copy/closed/file").read_text() == "x"
    assert os.readlink(tmp_path / "copy/broken") == "nowhere"


def test_links_stay_within_the_copy(tmp_path: Path) -> None:
    """A link to a place in the template leads to that place of the copy; a file elsewhere is copied."""
    source, outside = tmp_path / "source", tmp_path / "outside.txt"
    (source / "sub").mkdir(parents=True)
    (source / "a.txt").write_text("a")
    outside.write_text("out")
    (source / "absolute").symlink_to(source / "a.txt")
    (source / "sub/up").symlink_to("../a.txt")
    (source / "elsewhere").symlink_to(outside)
    TemplateCopy("t").copy(source, tmp_path / "copy", Event())
    for name in ("absolute", "sub/up", "elsewhere"):
        (tmp_path / "copy" / name).write_text("changed")
    assert (source / "a.txt").read_text() == "a"
    assert outside.read_text() == "out"
    assert (tmp_path / "copy/a.txt").read_text() == "changed"


def test_a_folder_elsewhere_is_refused(tmp_path: Path) -> None:
    """Each case could change it for the next: the error names the link, and where it leads."""
    (tmp_path / "source").mkdir()
    (tmp_path / "shared").mkdir()
    (tmp_path / "source/link").symlink_to(tmp_path / "shared")
    with pytest.raises(SetupError, match=r"leads out of it: .*/source/link → .*/shared") as raised:
        TemplateCopy("t").copy(tmp_path / "source", tmp_path / "copy", Event())
    assert raised.value.hint


def test_a_link_to_what_is_not_there_yet_is_refused(tmp_path: Path) -> None:
    """The first case could make it, for all others to see."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source/link").symlink_to(tmp_path / "later")
    with pytest.raises(SetupError, match="leads out of it"):
        TemplateCopy("t").copy(tmp_path / "source", tmp_path / "copy", Event())


def test_a_link_to_itself_is_copied(tmp_path: Path) -> None:
    """It leads nowhere in the copy, too."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source/a").symlink_to("a")
    TemplateCopy("t").copy(tmp_path / "source", tmp_path / "copy", Event())
    assert (tmp_path / "copy/a").is_symlink()


def test_copying_can_be_ended(tmp_path: Path) -> None:
    """A copy that nobody waits for any more is not made to its end."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source/a").write_text("a")
    stop = Event()
    stop.set()
    with pytest.raises(SetupError, match="nobody waits"):
        TemplateCopy("t").copy(tmp_path / "source", tmp_path / "copy", stop)


def test_a_worktree_is_refused(tmp_path: Path) -> None:
    """What an agent commits in it would be in the user's own repository."""
    run = {"check": True, "capture_output": True, "cwd": tmp_path}
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    subprocess.run(["git", "init", "-q", "repo"], **run)  # type: ignore[call-overload]
    subprocess.run(["git", "-C", "repo", *identity, "commit", "-q", "--allow-empty", "-m", "x"], **run)  # type: ignore[call-overload]
    subprocess.run(["git", "-C", "repo", "worktree", "add", "-q", "../tree"], **run)  # type: ignore[call-overload]
    with pytest.raises(SetupError, match="belongs to a repository outside of it"):
        maker(tmp_path, workspace_template="tree").make()


def test_a_copy_that_was_changed_is_not_used(tmp_path: Path) -> None:
    """An agent that finds the copy from which workspaces are made cannot put anything into those of the next cases."""
    (tmp_path / "template").mkdir()
    (tmp_path / "template/a.txt").write_text("a")
    made = maker(tmp_path, workspace_template="template")
    first = made.make()
    assert made._pristine is not None
    (made._pristine / "template/a.txt").write_text("hacked")
    with pytest.raises(SetupError, match=r"was changed meanwhile: a\.txt"):
        made.make()
    leave_place(first.base)
    made.close()


def test_many_at_once_take_the_template_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workspaces are made by several threads, and nothing is left of the copy that they share."""
    (tmp_path / "temp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    (tmp_path / "template").mkdir()
    for number in range(50):
        (tmp_path / f"template/{number}").write_text("x" * 1000)
    made = maker(tmp_path, workspace_template="template")
    with ThreadPoolExecutor(8) as threads:
        spaces = list(threads.map(lambda _: made.make(), range(16)))
    assert {len(list(each.folder.iterdir())) for each in spaces} == {50}
    assert len(list((tmp_path / "temp").glob("turnwise-template-*"))) == 1
    for each in spaces:
        leave_place(each.base)
    made.close()
    assert list((tmp_path / "temp").iterdir()) == []


def test_a_workspace_that_cannot_be_made_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A template that is refused leaves neither half a workspace nor half a copy."""
    (tmp_path / "temp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    (tmp_path / "template").mkdir()
    (tmp_path / "template/link").symlink_to(tmp_path)
    with pytest.raises(SetupError):
        maker(tmp_path, workspace_template="template").make()
    assert list((tmp_path / "temp").iterdir()) == []


def test_git_can_be_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Making a working tree ends when nobody waits for it any more; hooks of the user's are not run."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "bin/git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    stop, began = Event(), time.monotonic()
    with ThreadPoolExecutor(1) as thread:
        made = thread.submit(maker(tmp_path, workspace_template=".", workspace_revision="main").make, stop)
        time.sleep(0.3)
        stop.set()
        with pytest.raises(SetupError):
            made.result(20)
    assert time.monotonic() - began < 10


def test_what_is_above_is_left_alone(tmp_path: Path) -> None:
    """Removing a folder that resists never changes the folder above it."""
    above = tmp_path / "above"
    (above / "base/closed").mkdir(parents=True)
    (above / "base/closed/file").write_text("x")
    (above / "base/closed").chmod(0o500)
    above.chmod(0o1777)
    assert removed(above / "base")
    assert above.stat().st_mode & 0o7777 == 0o1777


def test_a_file_that_comes_late_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who writes into the folder while it is removed does not keep it: it is tried again."""
    (tmp_path / "base").mkdir()
    rmdir, late = os.rmdir, [True]

    def slow_rmdir(path: str, **keywords: int) -> None:
        if late:
            late.clear()
            (tmp_path / "base/late").write_text("x")
        rmdir(path, **keywords)

    monkeypatch.setattr(os, "rmdir", slow_rmdir)
    assert removed(tmp_path / "base")
    assert not (tmp_path / "base").exists()


def test_nothing_is_marked_by_accident() -> None:
    """A mark that nobody has finds nobody."""
    assert marked("no-such-mark-anywhere") == []
