"""Runs with graders of the user's own: a program and a function, from the suite's file to the journal."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from run_fixtures import case, journal, project, run, suite

PROGRAM = (
    "import json, sys\n"
    "given = json.load(sys.stdin)\n"
    "print(json.dumps({'score': float(given['answer'] == given['vars']['word']), 'evidence': given}))\n"
)


def graded(root: Path, *graders: Any, cases: list[dict[str, Any]], **fields: Any) -> list[dict[str, Any]]:
    """The results of a suite in the folder `evals`, in the order of their cases."""
    (root / "evals").mkdir(exist_ok=True)
    project(root, **{"evals/s": suite(cases, graders=list(graders), **fields)})
    outcome = run([str(root / "evals")])
    return sorted(journal(outcome), key=lambda each: (each["case_id"], each["variant"] or "", each["trial"]))


def test_a_program_grades_a_run(tmp_path: Path) -> None:
    """It runs in the suite's folder, knows what there is to know, and its score is the case's."""
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "check.py").write_text(PROGRAM)
    (tmp_path / "evals" / "note.txt").write_text("a note")
    (tmp_path / "evals" / "tone.instructions.md").write_text("be kind")
    files = [{"type": "file", "value": "note.txt"}, {"type": "file", "value": "tone.instructions.md"}]
    user = {"role": "user", "content": ["hello", *files]}
    first = case("a", vars={"word": "hello"}, metadata={"k": 1}, outcome="Greets.")
    second = {"id": "b", "vars": {"word": "other"}, "input_messages": [user]}
    grader = {"type": "code", "command": [sys.executable, "check.py"]}
    results = graded(tmp_path, grader, cases=[first, second], variants={"loud": {}}, trials=2)
    assert [each["status"] for each in results] == ["passed", "passed", "failed", "failed"]
    given = results[1]["grades"][0]["evidence"]
    assert (given["protocol"], given["case_id"], given["target"], given["variant"], given["trial"]) == (
        1, "a", "echo", "loud", 2
    )  # fmt: skip
    assert (given["outcome"], given["metadata"], given["answer"]) == ("Greets.", {"k": 1}, "hello")
    assert given["input_messages"][-1] == {"role": "user", "content": "hello"}
    assert given["output_messages"][-1]["content"] == "hello"
    with_files = results[2]["grades"][0]["evidence"]
    folder = os.path.realpath(tmp_path / "evals")
    assert with_files["files"] == with_files["input_files"] == [f"{folder}/note.txt"]
    assert with_files["guideline_paths"] == with_files["guideline_files"] == [f"{folder}/tone.instructions.md"]


def test_a_program_that_fails_leaves_its_cases_ungraded(tmp_path: Path) -> None:
    """The run goes on, the other grader's score is kept, and nothing is a 0."""
    broken = {"type": "code", "command": ["sh", "-c", "exit 3"]}
    results = graded(tmp_path, {"contains": "hello"}, broken, cases=[case("a"), case("b")])
    assert [(each["status"], each["score"]) for each in results] == [("ungraded", None)] * 2
    assert results[0]["grades"][1]["error"]["kind"] == "crash"
    assert results[0]["grades"][0]["score"] == 1


def test_a_function_grades_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a module beside the suite, with the same data that a program gets."""
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "run_checks_t.py").write_text(
        "def greets(given):\n    return {'score': float(given['answer'] == 'hello'), 'reason': given['case_id']}\n"
    )
    results = graded(tmp_path, {"python": "run_checks_t:greets"}, cases=[case("a"), case("b", "bye")])
    monkeypatch.delitem(sys.modules, "run_checks_t")
    assert [(each["status"], each["grades"][0]["reason"]) for each in results] == [("passed", "a"), ("failed", "b")]
