"""The commit of a project, as git itself says it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from turnwise.engine.git_commit import git_commit


def git(folder: Path, *arguments: str) -> str:
    """What git says."""
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of one commit, with a folder in it."""
    root = tmp_path / "repository"
    (root / "evals").mkdir(parents=True)
    git(root, "init", "-q")
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    return root


@pytest.mark.parametrize("where", [".", "evals"])
def test_the_commit_is_that_of_git(repository: Path, where: str) -> None:
    """At the root and below it."""
    assert git_commit(repository / where) == git(repository, "rev-parse", "HEAD")


def test_packed_refs_are_read(repository: Path) -> None:
    """A branch need not have a file of its own; one that has is newer than its packed state."""
    git(repository, "branch", "other")
    git(repository, "pack-refs", "--all", "--prune")
    first = git(repository, "rev-parse", "HEAD")
    assert not (repository / ".git/refs/heads/main").exists()
    assert git_commit(repository) == first
    git(repository, "commit", "-q", "--allow-empty", "-m", "second")
    assert git_commit(repository) == git(repository, "rev-parse", "HEAD") != first


def test_a_detached_head_is_a_commit(repository: Path) -> None:
    """There is no branch to follow."""
    git(repository, "checkout", "-q", "--detach")
    assert git_commit(repository) == git(repository, "rev-parse", "HEAD")


@pytest.mark.parametrize("packed", [False, True])
def test_a_work_tree_has_a_commit_of_its_own(repository: Path, tmp_path: Path, packed: bool) -> None:
    """Its `.git` is a file, and its branches are in the repository that it belongs to."""
    tree = tmp_path / "tree"
    git(repository, "worktree", "add", "-q", "-b", "side", str(tree))
    git(tree, "commit", "-q", "--allow-empty", "-m", "aside")
    if packed:
        git(repository, "pack-refs", "--all", "--prune")
    assert git_commit(tree) == git(tree, "rev-parse", "HEAD") != git(repository, "rev-parse", "HEAD")


def test_no_commit_is_none(tmp_path: Path) -> None:
    """Nowhere a repository, one without commits, or something that is none."""
    (tmp_path / "fresh").mkdir()
    git(tmp_path / "fresh", "init", "-q")
    assert git_commit(tmp_path / "fresh") is None
    (tmp_path / "odd" / ".git").mkdir(parents=True)
    assert git_commit(tmp_path / "odd") is None
    (tmp_path / "odd" / ".git" / "HEAD").write_text("ref: refs/heads/../../secret")
    assert git_commit(tmp_path / "odd") is None
    (tmp_path / "odd" / ".git" / "HEAD").write_bytes(b"\xff\xfe")
    assert git_commit(tmp_path / "odd") is None
