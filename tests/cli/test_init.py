"""`turnwise init`: a project that works, and nothing that is overwritten."""

from __future__ import annotations

import json
from pathlib import Path

from helpers import run_turnwise


def test_the_new_project_is_clean_and_prompts(tmp_path: Path) -> None:
    """Right after `init`, `validate` says nothing and `prompt` shows a multi-turn case with a guideline."""
    assert run_turnwise("init", "p", cwd=tmp_path).returncode == 0
    done = run_turnwise("validate", "p", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    (record,) = json.loads(run_turnwise("prompt", "--format", "json", "p/evals", cwd=tmp_path).stdout)
    assert [message["role"] for message in record["messages"]] == ["system", "user", "assistant", "user"]
    assert len(record["guidelines"]) == 1


def test_the_promised_files_are_there(tmp_path: Path) -> None:
    """Config, targets, a suite, `.env.example`, and schemas that the files' first lines lead to."""
    run_turnwise("init", ".", cwd=tmp_path)
    for name in (".turnwise/config.yaml", ".turnwise/targets.yaml", "evals/support.yaml"):
        first = (tmp_path / name).read_text(encoding="utf-8").split("\n")[0]
        assert first.startswith("# yaml-language-server: $schema=")
        schema = (tmp_path / name).parent / first.split("$schema=")[1]
        assert json.loads(schema.read_text(encoding="utf-8"))["type"] == "object"
    assert (tmp_path / ".env.example").is_file()


def test_the_new_suite_can_be_asked_and_graded_at_once(tmp_path: Path) -> None:
    """Its target needs no model, no key and no network, and its graders pass the answer."""
    import asyncio

    from turnwise.graders.base import Submission
    from turnwise.graders.scoring import score_case
    from turnwise.graders.specs import make_graders
    from turnwise.suite.suite import load_suite

    run_turnwise("init", ".", cwd=tmp_path)
    (case,) = load_suite(tmp_path / "evals" / "support.yaml").cases
    assert case.target is not None
    done = run_turnwise("ask", case.target, "evals/support.yaml", "--case", case.id, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    graders, problems = make_graders(case.graders)
    assert problems == []
    submission = Submission(question="", text=done.stdout)
    grades = [asyncio.run(grader.grade(submission)) for grader in graders]
    assert score_case(grades).score == 1


def test_what_runs_leave_behind_is_ignored_by_git(tmp_path: Path) -> None:
    """Runs, the cache and keys are in `.turnwise/`, and so is the file that keeps them out of version control."""
    run_turnwise("init", ".", cwd=tmp_path)
    ignored = (tmp_path / ".turnwise" / ".gitignore").read_text(encoding="utf-8").split("\n")
    assert {"runs/", "cache.sqlite3*", ".env"} <= set(ignored)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A file that exists stays as it is, and is named."""
    mine = tmp_path / "evals" / "support.yaml"
    mine.parent.mkdir()
    mine.write_text("mine", encoding="utf-8")
    done = run_turnwise("init", ".", cwd=tmp_path)
    assert done.returncode == 0
    assert mine.read_text(encoding="utf-8") == "mine"
    assert "kept  evals/support.yaml" in done.stdout
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    run_turnwise("init", ".", cwd=tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_file_in_the_way_is_said(tmp_path: Path) -> None:
    """A file where a folder must be is a clear error."""
    (tmp_path / "evals").write_text("", encoding="utf-8")
    done = run_turnwise("init", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert "evals is in the way" in done.stderr
