"""Datasets: a case a line or a row, streamed, with every line looked at before any is used."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import turnwise
from turnwise.diagnostics import Diagnostic
from turnwise.errors import SuiteError
from turnwise.suite.datasets import MAX_LINE_BYTES, read_rows
from turnwise.suite.suite import Suite, read_suite


@pytest.fixture(autouse=True)
def _project(tmp_path: Path) -> None:
    (tmp_path / ".turnwise").mkdir()


def row(case_id: str, content: str = "Hello", **more: Any) -> str:
    return json.dumps({"id": case_id, "input_messages": [{"role": "user", "content": content}], **more})


def read(path: Path, data: str | bytes) -> tuple[Suite | None, list[Diagnostic]]:
    path.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
    return read_suite(path)


def spots(diagnostics: list[Diagnostic]) -> list[tuple[str, int | None, int | None]]:
    return [(diagnostic.code, diagnostic.place.line, diagnostic.place.column) for diagnostic in diagnostics]


def table(folder: Path, data: str | bytes, template: str = "{{ q }}") -> tuple[Suite | None, list[Diagnostic]]:
    """A suite over a CSV file, with one message that shows a column."""
    (folder / "rows.csv").write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
    message = json.dumps({"role": "user", "content": template})
    return read(folder / "suite.yaml", f"cases: rows.csv\ninput_messages: [{message}]\n")


def rows_of(folder: Path, data: str | bytes) -> list[tuple[str, str | None]]:
    """Id and question of each case of a good table."""
    suite, diagnostics = table(folder, data)
    assert suite is not None, diagnostics
    return [(case.id, case.conversation.transcript()) for case in suite.cases]


def test_a_suite_over_a_dataset(tmp_path: Path) -> None:
    """The suite's settings are the defaults of every line."""
    (tmp_path / "rows.jsonl").write_text(row("a") + "\n" + row("b", system_prompt="Own") + "\n")
    suite, diagnostics = read(tmp_path / "suite.yaml", "name: s\nsystem_prompt: Suite\ntags: [t]\ncases: rows.jsonl\n")
    assert diagnostics == []
    assert suite is not None
    assert len(suite.cases) == 2
    assert [(case.id, case.system_prompt, case.tags) for case in suite.cases] == [
        ("a", "Suite", ("t",)),
        ("b", "Own", ("t",)),
    ]
    assert suite.cases[1].place.line == 2
    assert suite.dataset == tmp_path / "rows.jsonl"


def test_files_are_looked_up_from_the_dataset(tmp_path: Path) -> None:
    """A path in a case is relative to the file that holds the case."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "note.txt").write_text("near the dataset")
    (tmp_path / "note.txt").write_text("near the suite")
    message = {"role": "user", "content": [{"type": "file", "value": "note.txt"}]}
    (tmp_path / "data" / "rows.jsonl").write_text(json.dumps({"id": "a", "input_messages": [message]}))
    suite, _ = read(tmp_path / "suite.yaml", "cases: data/rows.jsonl\n")
    assert suite is not None
    assert suite.cases[0].conversation.transcript() == "=== note.txt ===\nnear the dataset"


def test_a_dataset_outside_the_project_is_refused(tmp_path: Path) -> None:
    """A dataset is a file reference like any other."""
    inner = tmp_path / "inner"
    (inner / ".turnwise").mkdir(parents=True)
    (tmp_path / "rows.jsonl").write_text(row("a"))
    suite, diagnostics = read(inner / "suite.yaml", "cases: ../rows.jsonl\n")
    assert suite is None
    assert spots(diagnostics) == [("file-outside", 1, 8)]


def test_blank_lines_are_passed_over_and_counted(tmp_path: Path) -> None:
    """Blank lines are no cases, but they are lines."""
    suite, diagnostics = read(tmp_path / "rows.jsonl", f"\n{row('a')}\n  \t\n\r\n{row('b')}\n\n")
    assert diagnostics == []
    assert suite is not None
    assert [(case.id, case.place.line) for case in suite.cases] == [("a", 2), ("b", 5)]


@pytest.mark.parametrize("data", ["", "\n\n", "\ufeff"])
def test_an_empty_dataset_is_an_error(tmp_path: Path, data: str) -> None:
    """A dataset without a case is not silently a run of nothing."""
    suite, (found,) = read(tmp_path / "rows.jsonl", data)
    assert (suite, found.severity, found.code) == (None, "error", "empty")


def test_every_line_is_checked(tmp_path: Path) -> None:
    """Each bad line is one error at its place; the lines after it are still looked at."""
    lines = [
        row("a").encode(),
        b'{"id": "b", "input_messages": [}',
        b'{"id": "c", "input_messges": [], "input_messages": [{"role": "user", "content": "x"}]}',
        b'{"id": "\xc3\xa9\xff"}',
        b'{"id": "\xc3\xa9\x00"}',
        b"[1, 2]",
        b'{"id": "d", "id": "e"}',
        b'{"id": "f"}',
        b'{"id": "g", "input_messages": [{"role": "user", "content": NaN}]}',
        b'"\\ud800"',
    ]
    suite, diagnostics = read(tmp_path / "rows.jsonl", b"\n".join(lines))
    assert suite is None
    assert spots(diagnostics) == [
        ("bad-json", 2, 32),
        ("unknown-key", 3, 13),
        ("not-utf8", 4, 10),
        ("nul-byte", 5, 10),
        ("wrong-type", 6, 1),
        ("duplicate-key", 7, 13),
        ("missing-key", 8, 1),
        ("bad-number", 9, 60),
        ("lone-surrogate", 10, 2),
    ]


def test_duplicate_ids_name_the_first_line(tmp_path: Path) -> None:
    """Each repetition of an id is an error at the id that says where it stood first."""
    lines = [row("a"), row("b"), "", row("a"), row("b"), row("a")]
    suite, diagnostics = read(tmp_path / "rows.jsonl", "\n".join(lines))
    assert suite is None
    assert spots(diagnostics) == [("duplicate-id", 4, 8), ("duplicate-id", 5, 8), ("duplicate-id", 6, 8)]
    assert ["line 1" in found.message for found in diagnostics] == [True, False, True]
    assert "line 2" in diagnostics[1].message


def test_a_line_that_is_too_long_is_one_error(tmp_path: Path) -> None:
    """A line of 11 MB is refused without being kept, and the lines after it are still checked."""
    long = row("long", "x" * (11 * 1024 * 1024))
    suite, diagnostics = read(tmp_path / "rows.jsonl", "\n".join([row("a"), long, '{"id": 5}', row("a")]))
    assert suite is None
    codes = [(found.code, found.place.line) for found in diagnostics]
    assert codes[0] == ("line-too-long", 2)
    assert {line for _, line in codes[1:]} == {3, 4}
    assert ("duplicate-id", 4) in codes


def test_the_longest_line_is_read(tmp_path: Path) -> None:
    """The bound itself is allowed, with or without a line end."""
    short = row("a", "")
    line = row("a", "x" * (MAX_LINE_BYTES - len(short)))
    assert len(line) == MAX_LINE_BYTES
    for end in ("", "\n"):
        suite, diagnostics = read(tmp_path / "rows.jsonl", line + end)
        assert suite is not None, diagnostics


def test_a_line_of_100_megabytes_is_one_error(tmp_path: Path) -> None:
    """However long a line is, it costs one error."""
    path = tmp_path / "rows.jsonl"
    with open(path, "wb") as stream:
        stream.truncate(100 * 1024 * 1024)
    suite, diagnostics = read_suite(path)
    assert suite is None
    assert spots(diagnostics) == [("line-too-long", 1, 1)]


def test_a_large_dataset_is_not_kept(tmp_path: Path) -> None:
    """Thirty thousand cases are validated and walked in memory that could not hold their texts."""
    path = tmp_path / "rows.jsonl"
    count, size = 30_000, 500
    with open(path, "w") as stream:
        stream.writelines(row(f"case-{number}", "x" * size) + "\n" for number in range(count))
    (tmp_path / "small.jsonl").write_text(row("a"))
    turnwise.load_suite(tmp_path / "small.jsonl")  # what is imported and compiled once is not counted
    tracemalloc.start()
    try:
        suite = turnwise.load_suite(path)
        tracemalloc.reset_peak()
        seen = sum(1 for _ in suite.cases)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert seen == len(suite.cases) == count
    assert most < count * size / 2


def grown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Suite]:
    """A dataset that is too large to be kept, for a bound of three."""
    monkeypatch.setattr("turnwise.suite.streaming._KEPT_CASES", 3)
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(row(f"c{number}") + "\n" for number in range(5)))
    return path, turnwise.load_suite(path)


def test_a_large_dataset_is_read_again_for_each_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pass gives the same cases."""
    _, suite = grown(tmp_path, monkeypatch)
    expected = [f"c{number}" for number in range(5)]
    assert [case.id for case in suite.cases] == expected
    assert [case.id for case in suite.cases] == expected
    assert suite.cases[-1].place.line == 5


@pytest.mark.parametrize("data", ['{"id": 5}\n', "", row("c0") + "\n", row("c0") + "\n" + row("c0") + "\n"])
def test_a_dataset_that_changes_after_validation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: str) -> None:
    """What was not validated is not used: a changed file is an error, whatever it holds now."""
    path, suite = grown(tmp_path, monkeypatch)
    path.write_text(data)
    with pytest.raises(SuiteError) as caught:
        list(suite.cases)
    assert caught.value.diagnostics[0].file == str(path)


def test_a_dataset_that_vanishes_after_validation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deleted dataset is an error of the suite."""
    path, suite = grown(tmp_path, monkeypatch)
    path.unlink()
    with pytest.raises(SuiteError):
        list(suite.cases)


def test_a_changed_dataset_is_refused_before_its_first_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even the first row of a file that has changed is used."""
    path, suite = grown(tmp_path, monkeypatch)
    path.write_text(path.read_text() + row("c5") + "\n")
    with pytest.raises(SuiteError) as caught:
        next(iter(suite.cases))
    assert [found.code for found in caught.value.diagnostics] == ["file-changed"]


def test_a_dataset_that_changes_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that has become bad is not passed over as one that was bad before: nothing after it is used."""
    monkeypatch.setattr("turnwise.suite.streaming._KEPT_CASES", 3)
    path = tmp_path / "rows.jsonl"
    rows = [row(f"c{number}", "x" * 500_000) for number in range(5)]  # longer than what is read ahead
    path.write_text("\n".join(rows))
    cases = iter(turnwise.load_suite(path).cases)
    assert next(cases).id == "c0"
    path.write_text("\n".join([rows[0], "{" * len(rows[1]), *rows[2:]]))
    os.utime(path, ns=(0, 0))
    seen: list[str] = []
    with pytest.raises(SuiteError) as caught:
        seen.extend(case.id for case in cases)
    assert [found.code for found in caught.value.diagnostics] == ["file-changed"]
    assert seen == []


def test_a_dataset_that_changes_after_its_last_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass that has given every case still ends in an error, if the file is no longer what was checked."""
    path, suite = grown(tmp_path, monkeypatch)
    cases = iter(suite.cases)
    assert [next(cases).id for _ in range(5)] == [f"c{number}" for number in range(5)]
    os.utime(path, ns=(0, 0))
    with pytest.raises(SuiteError) as caught:
        next(cases)
    assert [found.code for found in caught.value.diagnostics] == ["file-changed"]


@pytest.mark.parametrize(("count", "size"), [(8_001, 1), (3, 3 * 1024 * 1024)])
def test_a_dataset_of_many_cases_or_many_bytes_is_not_kept(tmp_path: Path, count: int, size: int) -> None:
    """More than 8,000 cases, or more than 8 MB of a few, are read again from the file, which must still be there."""
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(row(f"c{number}", "x" * size) for number in range(count)))
    suite = turnwise.load_suite(path)
    assert len(suite.cases) == count
    path.unlink()
    with pytest.raises(SuiteError):
        next(iter(suite.cases))


@pytest.mark.parametrize(("bound", "most"), [("_KEPT_CASES", 2), ("_KEPT_BYTES", 2 * len(row("a")) + 1)])
def test_what_is_within_the_bounds_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, most: int
) -> None:
    """The bound itself is kept; one case or one byte more is not."""
    monkeypatch.setattr(f"turnwise.suite.streaming.{bound}", most)
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join([row("a"), row("b")]))
    kept = turnwise.load_suite(path)
    path.unlink()
    assert [case.id for case in kept.cases] == ["a", "b"]
    path.write_text("\n".join([row("a"), row("b"), row("c")]))
    read_again = turnwise.load_suite(path)
    path.unlink()
    with pytest.raises(SuiteError):
        list(read_again.cases)


def test_a_small_dataset_is_kept(tmp_path: Path) -> None:
    """A small dataset is read once."""
    path = tmp_path / "rows.jsonl"
    path.write_text(row("a"))
    suite = turnwise.load_suite(path)
    path.unlink()
    assert [case.id for case in suite.cases] == ["a"]


def test_a_hopeless_dataset_is_given_up(tmp_path: Path) -> None:
    """After a thousand bad lines the rest is not looked at, and that is said."""
    suite, diagnostics = read(tmp_path / "rows.jsonl", "{\n" * 5_000)
    assert suite is None
    assert len(diagnostics) == 1_001
    assert diagnostics[-1].code == "too-many"


def test_warnings_do_not_stop_a_dataset(tmp_path: Path) -> None:
    """However many warnings there are, the suite loads, and no more of them are kept than anybody reads."""
    lines = (row(f"c{number}", system_prompt="a", metadata={"systemPrompt": "b"}) for number in range(1_500))
    suite, diagnostics = read(tmp_path / "rows.jsonl", "\n".join(lines))
    assert suite is not None
    assert len(suite.cases) == 1_500
    assert {found.severity for found in diagnostics} == {"warning"}
    assert len(diagnostics) <= 1_000


def test_thousands_of_duplicates_are_bounded(tmp_path: Path) -> None:
    """Duplicates count among the problems after which a dataset is given up."""
    suite, diagnostics = read(tmp_path / "rows.jsonl", (row("same") + "\n") * 3_000)
    assert suite is None
    assert len(diagnostics) == 1_001
    assert {found.code for found in diagnostics} == {"duplicate-id", "too-many"}


def test_columns_of_a_table_are_variables(tmp_path: Path) -> None:
    """Each row is a case: its cells fill the suite's messages, its `id` column names it."""
    assert rows_of(tmp_path, "id,q\na,One?\nb,Two?\n") == [("a", "One?"), ("b", "Two?")]


def test_rows_without_an_id_are_numbered(tmp_path: Path) -> None:
    """Without an `id` column, or with an empty cell in it, a row is called by its number."""
    assert rows_of(tmp_path, "q\nOne?\nTwo?\n") == [("row-1", "One?"), ("row-2", "Two?")]
    assert rows_of(tmp_path, "id,q\n,One?\nb,Two?\n") == [("row-1", "One?"), ("b", "Two?")]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ('id,q\na,"One, two"\n', "One, two"),
        ('id,q\na,"say ""hi"""\n', 'say "hi"'),
        ('id,q\na,"one\ntwo\n\nthree"\n', "one\ntwo\n\nthree"),
        ("\ufeffid,q\na,One\n", "One"),
        ("id,q\r\na,One\r\n", "One"),
        ("id , q\na,One\n", "One"),
        ("\nid,q\n\na,One\n\n", "One"),
        ("id,q\na,{{ q }}\n", "{{ q }}"),
        ("id,q\na,yes\n", "yes"),
        ("id,q\na,0012\n", "0012"),
        ("id,q\na, x \n", " x "),
    ],
)
def test_cells_are_kept_as_written(tmp_path: Path, data: str, expected: str) -> None:
    """Quoting, line breaks in cells, a byte-order mark and CRLF are understood; every cell is text."""
    assert rows_of(tmp_path, data) == [("a", expected)]


def test_a_row_is_shown_at_the_line_where_it_starts(tmp_path: Path) -> None:
    """Cells of several lines do not shift the places of the rows after them."""
    suite, diagnostics = table(tmp_path, 'id,q\na,"one\ntwo"\nb,"x\ny"\nb,z\nc\n')
    assert suite is None
    assert [(found.code, found.place.line) for found in diagnostics] == [("bad-csv", 7), ("duplicate-id", 6)]
    assert "line 4" in diagnostics[1].message
    assert {Path(found.file).name for found in diagnostics} == {"rows.csv"}


@pytest.mark.parametrize(
    ("data", "code", "line", "words"),
    [
        ("id,q\na,b,c\n", "bad-csv", 2, "3 cells"),
        ("id,q\na\n", "bad-csv", 2, "1 cells"),
        ("q,id,q\na,b,c\n", "bad-csv", 1, "'q' appears twice"),
        ("id,,q\na,b,c\n", "bad-csv", 1, "no name"),
        ('id,q\na,"never closed\n', "bad-csv", 2, "not valid CSV"),
        ('id,q\na,"x"y\n', "bad-csv", 2, "not valid CSV"),
        ("id,p\na,b\n", "unknown-variable", 2, "`q`"),
        ("", "empty", None, "no case"),
        ("id,q\n", "empty", None, "no case"),
        ("\n\n", "empty", None, "no case"),
    ],
)
def test_a_bad_table_gets_one_error(tmp_path: Path, data: str, code: str, line: int | None, words: str) -> None:
    """Ragged rows, a header that is no header and broken quotes are errors with the line of the row."""
    suite, (found,) = table(tmp_path, data)
    assert suite is None
    assert (found.code, found.place.line) == (code, line)
    assert words in found.message


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (b"id,q\na,\xff\n", "not-utf8", 2),
        (b"id,q\na,\x00\n", "nul-byte", 2),
        (b'id,q\na,"one\ntw\x00o\nthree"\nb,c\n', "nul-byte", 3),
        (b"id\xff,q\n", "not-utf8", 1),
        (b"id,q\na," + b"x" * (MAX_LINE_BYTES + 1) + b"\n", "line-too-long", 2),
    ],
)
def test_a_table_that_is_not_text(tmp_path: Path, data: bytes, code: str, line: int) -> None:
    """A line of a table that is not text is one error, also in the middle of a cell."""
    suite, (found,) = table(tmp_path, data)
    assert suite is None
    assert (found.code, found.place.line) == (code, line)


def test_every_ragged_row_is_named(tmp_path: Path) -> None:
    """A row with the wrong number of cells does not hide the next one."""
    _, diagnostics = table(tmp_path, "id,q\na\nb,c\nd,e,f\n")
    assert [found.place.line for found in diagnostics] == [2, 4]


def test_a_table_needs_messages_to_fill(tmp_path: Path) -> None:
    """Rows of variables are no conversation: without messages in the suite each row lacks them."""
    suite, (found,) = read(tmp_path / "rows.csv", "id,q\na,b\n")
    assert (suite, found.code, found.place.line) == (None, "missing-key", 2)


def test_rows_can_be_read_on_their_own(tmp_path: Path) -> None:
    """Reading rows yields values and problems side by side, in order."""
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n{\n[2]\n')
    rows = list(read_rows(path, "rows.jsonl"))
    assert [each.value for each in rows] == [{"a": 1}, None, [2]]
    assert [each.problem is None for each in rows] == [True, False, True]


@pytest.mark.slow
def test_memory_does_not_grow_with_the_dataset(tmp_path: Path) -> None:
    """Ten times the cases take no more memory to walk."""
    most: list[int] = []
    for count in (20_000, 200_000):
        path = tmp_path / f"rows-{count}.jsonl"
        with open(path, "w") as stream:
            stream.writelines(row(f"case-{number}", "x" * 200) + "\n" for number in range(count))
        suite = turnwise.load_suite(path)
        tracemalloc.start()
        assert sum(1 for _ in suite.cases) == count
        most.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert most[1] < most[0] + 5_000_000
