"""A dataset that a suite of the same folder uses is part of that suite, and not looked at on its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers import run_turnwise

TEMPLATE = 'input_messages: [{role: user, content: "{{ city }}"}]\n'
ROWS = '{"id": "a", "vars": {"city": "Oslo"}}\n{"id": "b", "vars": {"city": "Rome"}}\n'


def folder_with(tmp_path: Path, suite: str, name: str = "suite.yaml", rows: str = ROWS) -> Path:
    """A suite and its dataset, whose rows need the suite's template; the dataset comes first in the alphabet."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rows.jsonl").write_text(rows)
    (tmp_path / name).write_text(suite)
    return tmp_path


@pytest.mark.parametrize("paths", [["."], ["data", "suite.yaml"], ["data/*.jsonl", "suite.yaml"], ["**/*"]])
def test_a_dataset_of_a_good_suite_is_checked_with_it(tmp_path: Path, paths: list[str]) -> None:
    """Rows that are only good with their suite's template are good, however the two files were found."""
    folder = folder_with(tmp_path, f"cases: data/rows.jsonl\n{TEMPLATE}")
    done = run_turnwise("validate", *paths, cwd=folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert "1 file checked: 0 errors, 0 warnings" in done.stderr
    done = run_turnwise("prompt", "--format", "json", *paths, cwd=folder)
    assert [record["id"] for record in json.loads(done.stdout)] == ["a", "b"]
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("suite", "code"),
    [
        (f"nmae: x\ncases: data/rows.jsonl\n{TEMPLATE}", "unknown-key"),
        ("cases: data/rows.jsonl\ninput_messages: [{role: user}]\n", "no-content"),
        ("cases: data/rows.jsonl\ninput_messages: [{role: user, content: '{{ town }}'}]\n", "unknown-variable"),
    ],
)
def test_a_dataset_of_a_broken_suite_is_checked_with_it(tmp_path: Path, suite: str, code: str) -> None:
    """What is wrong with the suite is said once, and its rows are not blamed for lacking it."""
    folder = folder_with(tmp_path, suite)
    done = run_turnwise("validate", "--format", "json", ".", cwd=folder)
    assert [(item["file"], item["code"]) for item in json.loads(done.stdout)] == [("suite.yaml", code)]
    assert "1 file checked: 1 error," in done.stderr
    done = run_turnwise("prompt", ".", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("error:") == 1


def test_a_bad_row_is_said_once(tmp_path: Path) -> None:
    """A row that is bad in itself is one error, with a suite around it too."""
    folder = folder_with(tmp_path, f"cases: data/rows.jsonl\n{TEMPLATE}", rows=ROWS + '{"id": 5}\n')
    done = run_turnwise("validate", "--format", "json", ".", cwd=folder)
    assert [(item["file"], item["line"]) for item in json.loads(done.stdout)] == [("data/rows.jsonl", 3)]
    done = run_turnwise("prompt", ".", cwd=folder)
    assert done.stderr.count("error:") == 1


def test_a_dataset_of_no_suite_is_checked_alone(tmp_path: Path) -> None:
    """A dataset that nothing uses is a suite of its own."""
    folder = folder_with(tmp_path, "cases: [{id: a, input_messages: [{role: user, content: Hi}]}]\n")
    done = run_turnwise("validate", "--format", "json", ".", cwd=folder)
    assert [(item["line"], item["code"]) for item in json.loads(done.stdout)] == [
        (1, "missing-key"),
        (2, "missing-key"),
    ]
    assert "2 files checked" in done.stderr
