"""What an agent changed: every file, and a diff that people and graders can read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from turnwise.providers.agents import changes
from turnwise.providers.agents.changes import Change, changes_since, picture


def test_all_three_kinds_of_change(tmp_path: Path) -> None:
    """Files that are new, other or gone are told apart; those that stayed are not named."""
    for name in ("kept.txt", "other.txt", "gone.txt"):
        (tmp_path / name).write_text("one\ntwo\n")
    before = picture(tmp_path)
    (tmp_path / "other.txt").write_text("one\n2\n")
    (tmp_path / "gone.txt").unlink()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/new.txt").write_text("new\n")
    found = changes_since(before, tmp_path)
    assert found.files == (
        Change("gone.txt", "deleted"), Change("other.txt", "modified"), Change("sub/new.txt", "added"),
    )  # fmt: skip
    assert "--- a/other.txt\n+++ b/other.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n" in found.diff
    assert "--- /dev/null\n+++ b/sub/new.txt\n@@ -0,0 +1 @@\n+new\n" in found.diff
    assert "--- a/gone.txt\n+++ /dev/null\n" in found.diff
    assert found.note is None


def test_nothing_changed(tmp_path: Path) -> None:
    """A file that was only touched is no change."""
    (tmp_path / "a.txt").write_text("a")
    before = picture(tmp_path)
    os.utime(tmp_path / "a.txt", (0, 0))
    assert changes_since(before, tmp_path) == changes.Changes()


def test_what_cannot_be_shown_is_named(tmp_path: Path) -> None:
    """Binary and long files are changes too: their sizes are told instead of their lines."""
    before = picture(tmp_path)
    (tmp_path / "a.bin").write_bytes(b"\xff\0\x01")
    (tmp_path / "long.txt").write_text("x" * 100_000)
    found = changes_since(before, tmp_path)
    assert [each.path for each in found.files] == ["a.bin", "long.txt"]
    assert "+++ b/a.bin\n(not shown: nothing → 3 bytes)" in found.diff
    assert "(not shown: nothing → 100,000 bytes)" in found.diff


def test_a_long_diff_is_bounded(tmp_path: Path) -> None:
    """What does not fit is counted, and every changed file is still named."""
    before = picture(tmp_path)
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text(f"{number}\n" * 15_000)
    found = changes_since(before, tmp_path)
    assert len(found.files) == 5
    assert len(found.diff) <= 100_000
    assert found.note == "3 changed files are too long to be shown in the diff"


def test_missing_line_breaks_are_shown(tmp_path: Path) -> None:
    """A file that does not end with a line break gives a diff that other programs can read."""
    before = picture(tmp_path)
    (tmp_path / "a.txt").write_text("end")
    assert changes_since(before, tmp_path).diff.endswith("+end\n\\ No newline at end of file\n")


def test_repositories_and_packages_are_not_looked_at(tmp_path: Path) -> None:
    """What git and package managers write is no work of the agent's."""
    before = picture(tmp_path)
    for name in (".git", "node_modules", "__pycache__"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("x")
    assert changes_since(before, tmp_path).files == ()


def test_links_pipes_and_unreadable_names(tmp_path: Path) -> None:
    """A link is told by where it leads, and is not followed; a pipe does not stop us."""
    (tmp_path / "inside").mkdir()
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    before = picture(tmp_path / "inside")
    (tmp_path / "inside/link").symlink_to(secret)
    (tmp_path / "inside/folder").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "inside/pipe")
    found = changes_since(before, tmp_path / "inside")
    assert [each.path for each in found.files] == ["folder", "link"]
    assert "secret\n" not in found.diff.replace("secret.txt", "")


def test_many_files_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A workspace of too many files is looked at in part, and the note says so."""
    monkeypatch.setattr(changes, "_MOST_FILES", 3)
    for number in range(5):
        (tmp_path / f"{number}").write_text("")
    assert changes_since(picture(tmp_path), tmp_path).note == "only the first 3 files of the workspace were looked at"
