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


def test_variables_are_filled_in_a_bad_case_too(tmp_path: Path) -> None:
    """The path that is looked for is the filled one, and an unknown variable is named."""
    messages = [{"role": "user", "content": [{"type": "file", "value": "{{ name }}.txt"}]}, {"role": "user"}]
    path = tmp_path / "suite.json"
    path.write_text(json.dumps({"vars": {"name": "x"}, "cases": [{"id": "a", "input_messages": messages}]}))
    assert codes(path) == {"no-content", "file-missing"}
    (tmp_path / "x.txt").write_text("")
    assert codes(path) == {"no-content"}
    path.write_text(json.dumps({"vars": {"nmae": "x"}, "cases": [{"id": "a", "input_messages": messages}]}))
    assert codes(path) == {"no-content", "unknown-variable"}


def test_the_id_of_a_bad_case_counts(tmp_path: Path) -> None:
    """A duplicate id is found whichever of the two cases is wrong elsewhere, in a list and in a dataset."""
    bad = {**GOOD, "outcom": "typo"}
    for cases in ([GOOD, bad], [bad, GOOD]):
        path = tmp_path / "suite.json"
        path.write_text(json.dumps({"cases": cases}))
        assert codes(path) == {"unknown-key", "duplicate-id"}
        path = tmp_path / "data.jsonl"
        path.write_text("\n".join(json.dumps(case) for case in cases))
        assert codes(path) == {"unknown-key", "duplicate-id"}


def test_a_mistake_in_what_cases_share_is_said_once_and_at_its_place(tmp_path: Path) -> None:
    """An unknown variable in the suite's template is the suite's problem, not that of every row."""
    (tmp_path / "rows.csv").write_text("city\nOslo\nRome\n")
    path = tmp_path / "suite.yaml"
    path.write_text('cases: rows.csv\ninput_messages:\n  - {role: user, content: "{{ town }}"}\n')
    (only,) = survey_suite(path)[1]
    assert (only.code, Path(only.file).name, only.place.line, only.case_id) == (
        "unknown-variable",
        "suite.yaml",
        3,
        None,
    )


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


def test_an_unknown_variable_does_not_hide_a_missing_file(tmp_path: Path) -> None:
    """Both are named, and nothing is said about a path that still holds a variable."""
    files = [{"type": "file", "value": value} for value in ("gone.txt", "{{ nope }}.txt")]
    case = {"id": "a", "vars": {}, "input_messages": [{"role": "user", "content": files}]}
    path = tmp_path / "suite.json"
    path.write_text(json.dumps({"cases": [case]}))
    found = [(item.code, item.path) for item in survey_suite(path)[1]]
    assert sorted(found) == [
        ("file-missing", "cases[0].input_messages[0].content[0].value"),
        ("unknown-variable", "cases[0].input_messages[0].content[1].value"),
    ]


def test_a_row_that_lacks_a_variable_of_the_template_is_named(tmp_path: Path) -> None:
    """The mistake stands in the suite, but the hint says which case met it first."""
    (tmp_path / "d.jsonl").write_text('{"id": "full", "vars": {"a": 1}}\n{"id": "lacking", "vars": {}}\n')
    path = tmp_path / "suite.yaml"
    path.write_text('cases: d.jsonl\ninput_messages:\n  - {role: user, content: "{{ a }}"}\n')
    (only,) = survey_suite(path)[1]
    assert "'lacking', line 2" in (only.hint or "")


def test_a_variable_of_metadata_is_named_where_it_stands(tmp_path: Path) -> None:
    """A prompt in a case's metadata is the case's own, not the suite's."""
    row = {**GOOD, "vars": {}, "metadata": {"systemPrompt": "{{ y }}"}}
    (tmp_path / "d.jsonl").write_text(json.dumps(row))
    path = tmp_path / "suite.yaml"
    path.write_text("name: x\ncases: d.jsonl\n")
    (only,) = survey_suite(path)[1]
    assert (Path(only.file).name, only.place.line) == ("d.jsonl", 1)


def test_mistakes_of_the_header_do_not_hide_each_other(tmp_path: Path) -> None:
    """An unknown key, two kinds of target and no cases are all named."""
    path = tmp_path / "suite.json"
    path.write_text(json.dumps({"target": "a", "targets": ["b"], "bogus": 1, "cases": []}))
    assert codes(path) == {"unknown-key", "two-targets", "empty"}
