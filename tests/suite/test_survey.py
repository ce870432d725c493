"""One mistake does not hide another: a suite with errors is looked at as far as it goes."""

from __future__ import annotations

import json
from pathlib import Path

from turnwise.suite.suite import read_suite, survey_suite

GOOD = {"id": "good", "input_messages": [{"role": "user", "content": "Hello"}]}


def codes(path: Path) -> set[str]:
    return {diagnostic.code for diagnostic in survey_suite(path)[1]}


def test_good_cases_of_a_bad_suite_are_surveyed_but_not_loaded(tmp_path: Path) -> None:
    """`survey_suite` gives the good cases with their own places; `read_suite` gives no suite."""
    path = tmp_path / "suite.json"
    path.write_text(json.dumps({"nmae": "x", "cases": [{"id": "bad"}, GOOD]}))
    suite, diagnostics = survey_suite(path)
    assert suite is not None
    assert [(case.id, case.path) for case in suite.cases] == [("good", ("cases", 1))]
    assert {diagnostic.code for diagnostic in diagnostics} == {"unknown-key", "missing-key"}
    assert read_suite(path)[0] is None


def test_files_of_a_case_that_is_wrong_elsewhere_are_looked_for(tmp_path: Path) -> None:
    """A missing file and a malformed message of the same case are both named."""
    messages = [{"role": "user", "content": [{"type": "file", "value": "gone.txt"}]}, {"role": "user"}]
    path = tmp_path / "suite.json"
    path.write_text(json.dumps({"cases": [{"id": "a", "input_messages": messages}]}))
    assert codes(path) == {"no-content", "file-missing"}


def test_a_path_with_a_variable_is_not_looked_for_in_a_bad_case(tmp_path: Path) -> None:
    """Where variables cannot be filled yet, the path is not known, and nothing false is said about it."""
    messages = [{"role": "user", "content": [{"type": "file", "value": "{{ name }}.txt"}]}, {"role": "user"}]
    path = tmp_path / "suite.json"
    path.write_text(json.dumps({"vars": {"name": "x"}, "cases": [{"id": "a", "input_messages": messages}]}))
    assert codes(path) == {"no-content"}


def test_good_rows_of_a_large_bad_dataset_are_surveyed(tmp_path: Path) -> None:
    """A dataset that is read again passes over the rows that were found to be bad."""
    rows = [json.dumps({**GOOD, "id": f"c{number}"}) for number in range(9_000)]
    rows[4_500] = '{"id": "bad"}'
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(rows))
    suite, diagnostics = survey_suite(path)
    assert suite is not None
    assert [diagnostic.place.line for diagnostic in diagnostics] == [4_501]
    assert sum(1 for _ in suite.cases) == 8_999
