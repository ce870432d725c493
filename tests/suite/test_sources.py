"""Where things stand in a file: the line and column of a path in its data."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.diagnostics import Diagnostic, Place
from turnwise.suite.paths import DataPath, shown_path
from turnwise.suite.sources import JsonSource, LineSource, Source, YamlSource

YAML = """\
name: a
base: &base
  role: user
  content: Hello
cases:
  - id: x
    input_messages:
      - *base
      - <<: *base
        content: Bye
      - <<: [{name: n}, *base]
  - {id: y, "quoted key": 1}
"""

JSON = """\
{
  "name": "a",
  "cases": [
    {"id": "x", "tags": ["é", "b"]},
    {"id": "y"}
  ]
}
"""


def spot(source: Source, path: DataPath, key: bool = False) -> tuple[int | None, int | None]:
    place = source.place(path, key)
    return place.line, place.column


@pytest.mark.parametrize(
    ("path", "key", "expected"),
    [
        ((), False, (1, 1)),
        (("name",), False, (1, 7)),
        (("name",), True, (1, 1)),
        (("cases",), False, (6, 3)),
        (("cases",), True, (5, 1)),
        (("cases", 0), False, (6, 5)),
        (("cases", 0, "id"), False, (6, 9)),
        (("cases", 1, "quoted key"), True, (12, 13)),
        (("cases", 1, "quoted key"), False, (12, 27)),
        # Through an alias: where the anchored mapping was written.
        (("cases", 0, "input_messages", 0, "role"), False, (3, 9)),
        # Through a merge: own keys first, then the merged mapping's, in a list the first that has it.
        (("cases", 0, "input_messages", 1, "content"), False, (10, 18)),
        (("cases", 0, "input_messages", 1, "role"), True, (3, 3)),
        (("cases", 0, "input_messages", 2, "name"), False, (11, 21)),
        (("cases", 0, "input_messages", 2, "content"), False, (4, 12)),
        # What is not there: the nearest thing above it.
        (("cases", 1, "outcome"), False, (12, 5)),
        (("cases", 7, "id"), False, (6, 3)),
        (("name", "deeper"), True, (1, 7)),
    ],
)
def test_places_in_yaml(path: DataPath, key: bool, expected: tuple[int, int]) -> None:
    """A YAML path is found by its nodes, also through aliases and merges, else at what should hold it."""
    assert spot(YamlSource("f.yaml", YAML), path, key) == expected


@pytest.mark.parametrize(
    ("path", "key", "expected"),
    [
        ((), False, (1, 1)),
        (("name",), True, (2, 3)),
        (("name",), False, (2, 11)),
        (("cases", 0, "tags", 1), False, (4, 31)),
        (("cases", 1, "id"), False, (5, 12)),
        (("cases", 1, "outcome"), False, (5, 5)),
    ],
)
def test_places_in_json(path: DataPath, key: bool, expected: tuple[int, int]) -> None:
    """A JSON path is found by walking the text; columns count characters, not bytes."""
    assert spot(JsonSource("f.json", JSON), path, key) == expected


def test_a_line_of_a_dataset_keeps_its_number() -> None:
    """In a JSONL file the line is the line of the file, not of the text that was parsed."""
    place = JsonSource("f.jsonl", '{"id": 5}', first_line=41).place(("id",))
    assert place == Place(41, 8, '{"id": 5}')


def test_a_row_of_a_table_has_only_its_line() -> None:
    """Every path of a CSV row is shown at the start of the row."""
    source = LineSource("f.csv", 7, "a,b")
    assert source.place(("vars", "a")) == source.place(()) == Place(7, 1, "a,b")


def test_the_source_line_comes_along() -> None:
    """A place shows its line, without the line end, Windows or not."""
    assert YamlSource("f.yaml", "a: 1\r\nb: 2\r\n").place(("b",)) == Place(2, 4, "b: 2")
    assert JsonSource("f.json", '{\r\n"b": 2\r\n}').place(("b",)) == Place(2, 6, '"b": 2')


def test_a_very_long_source_line_is_cut() -> None:
    """A line of megabytes is not kept for orientation, and a column beyond the cut has no line to stand in."""
    near = JsonSource("f.jsonl", '{"a": 1, "b": "' + "x" * 100_000 + '", "c": 2}').place(("a",))
    assert near.source is not None
    assert len(near.source) < 500
    far = JsonSource("f.jsonl", '{"b": "' + "x" * 100_000 + '", "c": 2}').place(("c",))
    assert (far.line, far.source) == (1, None)
    assert far.column == len('{"b": "' + "x" * 100_000 + '", "c": 2')


def test_an_empty_text_has_a_first_line() -> None:
    """Even an empty file can be pointed at."""
    assert YamlSource("f.yaml", "").place(("cases",)) == Place(1, 1, "")


def test_odd_separators_do_not_shift_places() -> None:
    """Lines are counted by line feeds, as editors count them."""
    assert YamlSource("f.yaml", 'a: "x\u2028y"\nb: 2\n').place(("b",)) == Place(2, 4, "b: 2")


@pytest.mark.parametrize(
    ("path", "shown"),
    [((), ""), (("a",), "a"), (("a", 0), "a[0]"), (("a", 0, "b", "c", 12), "a[0].b.c[12]"), ((3, "a"), "[3].a")],
)
def test_paths_are_shown_as_people_write_them(path: DataPath, shown: str) -> None:
    """Dots between keys, brackets around positions."""
    assert shown_path(path) == shown


@given(st.text(st.characters(codec="utf-8")), st.data())
def test_a_place_leads_back_to_its_offset(text: str, data: Any) -> None:
    """Line and column name exactly one character of a text."""
    offset = data.draw(st.integers(0, len(text)))
    place = Place.at(text, offset)
    assert place.line is not None
    assert place.column is not None
    lines = text.split("\n")
    assert sum(len(line) + 1 for line in lines[: place.line - 1]) + place.column - 1 == offset


def test_a_diagnostic_reads_as_file_line_column() -> None:
    """The text of a diagnostic starts with its place, as far as it is known."""
    assert str(Diagnostic("error", "x", "text", "f.yaml", Place(3, 4))) == "f.yaml:3:4: error: text"
    assert str(Diagnostic("warning", "x", "text", "f.yaml", Place(3))) == "f.yaml:3: warning: text"
    assert str(Diagnostic("error", "x", "text", "f.yaml")) == "f.yaml: error: text"
