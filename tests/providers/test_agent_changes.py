"""What an agent changed: every file, and a diff that people and graders can read."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from turnwise.programs.removal import removed
from turnwise.providers.agents import changes
from turnwise.providers.agents import picture as pictures
from turnwise.providers.agents.changes import Change, Changes, changes_between
from turnwise.providers.agents.picture import Picture, picture


def changes_since(before: Picture, folder: Path) -> Changes:
    """What is other than in the picture."""
    return changes_between(before, picture(folder))


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
    assert found.note == "3 changed files do not fit into the diff"


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
    """Of a workspace with too many files, nothing is concluded from what was not looked at, and the note says so."""
    (tmp_path / "z.txt").write_text("kept")
    before = picture(tmp_path)
    for number in range(5):
        (tmp_path / f"{number}").write_text("")
    monkeypatch.setattr(pictures, "_MOST_FILES", 3)
    found = changes_since(before, tmp_path)
    assert [(each.path, each.kind) for each in found.files] == [("0", "added"), ("1", "added"), ("2", "added")]
    assert found.note == "only 3 files of the workspace were looked at"


def test_names_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A result does not grow with every file that an agent makes; how many there are is told."""
    monkeypatch.setattr(changes, "_MOST_NAMED", 2)
    before = picture(tmp_path)
    for number in range(5):
        (tmp_path / f"{number}").write_text("")
    found = changes_since(before, tmp_path)
    assert len(found.files) == 2
    assert found.note == "5 files changed, of which 2 are named"


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    """A file of terabytes, most of them holes, is a change like any other, and is named at once."""
    before = picture(tmp_path)
    with (tmp_path / "sparse").open("wb") as file:
        os.ftruncate(file.fileno(), 1 << 40)
    began = time.monotonic()
    found = changes_since(before, tmp_path)
    assert time.monotonic() - began < 10
    assert found.files == (Change("sparse", "added"),)
    assert "1,099,511,627,776 bytes" in found.diff


def test_shuffled_lines_take_no_time(tmp_path: Path) -> None:
    """Files that are costly to compare are named, and their lines are not shown."""
    lines = [f"{number * 7919 % 10007}\n" for number in range(10_000)]
    for number in range(20):
        (tmp_path / f"{number}.txt").write_text("".join(lines))
    before = picture(tmp_path)
    for number in range(20):
        (tmp_path / f"{number}.txt").write_text("".join(reversed(lines)))
    began = time.monotonic()
    found = changes_since(before, tmp_path)
    assert time.monotonic() - began < 30
    assert len(found.files) == 20
    assert "(not shown: 10,000 → 10,000 lines)" in found.diff


def test_it_can_be_ended(tmp_path: Path) -> None:
    """A picture that nobody waits for any more ends at once, and says that it is not whole."""
    (tmp_path / "a").write_text("a")
    taken = picture(tmp_path, lambda: True)
    assert taken.files == {}
    assert taken.missing is not None


def test_a_deep_tree(tmp_path: Path) -> None:
    """However deep folders are, looking at them and removing them ends without an error."""
    here = os.getcwd()
    (tmp_path / "w").mkdir()
    os.chdir(tmp_path / "w")
    try:
        for _ in range(1500):
            os.mkdir("d")
            os.chdir("d")
    finally:
        os.chdir(here)
    taken = picture(tmp_path / "w")
    assert taken.files == {}
    assert removed(tmp_path / "w")


def test_text_is_bounded_in_all(tmp_path: Path) -> None:
    """What is kept of a workspace to show differences has a bound; changes beyond it are named all the same."""
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text("x" * 100)
    book = pictures._Book(deadline=time.monotonic() + 5, text_left=150)
    with os.scandir(tmp_path) as found:
        kept = [book.seen(entry) for entry in sorted(found, key=lambda entry: entry.name)]
    assert [each is not None and each.text is not None for each in kept] == [True, False, False]


def test_a_link_in_the_place_of_the_workspace(tmp_path: Path) -> None:
    """An agent that puts a link to another folder where its workspace was has changed nothing there."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other/file").write_text("x")
    (tmp_path / "workspace").symlink_to(tmp_path / "other")
    assert picture(tmp_path / "workspace").files == {}
    assert removed(tmp_path / "workspace")
    assert (tmp_path / "other/file").exists()


def test_lines_are_parted_by_line_feeds_alone(tmp_path: Path) -> None:
    """Other separators of Unicode are part of a line."""
    before = picture(tmp_path)
    (tmp_path / "a.txt").write_text("one\u2028two\n", encoding="utf-8")
    assert changes_since(before, tmp_path).diff.endswith("@@ -0,0 +1 @@\n+one\u2028two\n")


def test_comparing_has_a_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is over, changed files are still named, and the note counts those that are not shown."""
    before = picture(tmp_path)
    (tmp_path / "a.txt").write_text("a\n")
    monkeypatch.setattr(changes, "_SECONDS", -1.0)
    found = changes_since(before, tmp_path)
    assert (found.files, found.diff) == ((Change("a.txt", "added"),), "")
    assert found.note == "1 changed file does not fit into the diff"


def test_looking_has_a_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A workspace that takes too long to look at is not taken for an empty one."""
    (tmp_path / "a.txt").write_text("a\n")
    before = picture(tmp_path)
    monkeypatch.setattr(pictures, "_SECONDS", -1.0)
    found = changes_since(before, tmp_path)
    assert found.files == ()
    assert found.note is not None


def test_a_link_that_was_just_put_there_is_not_followed(tmp_path: Path) -> None:
    """What was a file a moment ago may be a link to a secret when it is read."""
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(OSError, match="symbolic links"):
        pictures._Book(time.monotonic() + 5)._read(str(tmp_path / "link"), 6)
