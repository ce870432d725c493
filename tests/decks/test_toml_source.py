"""Places in TOML texts, and TOML that cannot be read."""

from __future__ import annotations

import pytest

from turnwise.decks.toml_source import TomlSource, read_toml
from turnwise.diagnostics import Diagnostic
from turnwise.errors import InputError

TEXT = '''# [not.a.table]
title = "a # b"
text = """
[[samples]]
id = "inside a string"
"""
"quoted key".'and.dot' = 1
point = { x = 1, "y z" = [10, 20] }
list = [
  "one", # comment ]
  { name = "two" },
]

[[samples]]
id = 'first'

[[samples]]
id = 'second'
messages = [
  { role = "user", content = "Hi" },
  { role = "assistant", content = "Ho" },
]

[samples.expected]
score = 1

[keyed.a-1]
[[keyed.a-1.messages]]
role = "user"
[[keyed.a-1.messages]]
role = "assistant"
'''


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        ((), 1, 1),
        (("title",), 2, 9),
        (("text",), 3, 8),
        (("quoted key",), 7, 1),
        (("quoted key", "and.dot"), 7, 26),
        (("point", "x"), 8, 15),
        (("point", "y z", 1), 8, 31),
        (("list", 0), 10, 3),
        (("list", 1, "name"), 11, 12),
        (("samples", 0), 14, 1),
        (("samples", 0, "id"), 15, 6),
        (("samples", 1, "id"), 18, 6),
        (("samples", 1, "messages", 1, "content"), 21, 35),
        (("samples", 1, "expected"), 24, 1),
        (("samples", 1, "expected", "score"), 25, 9),
        (("keyed", "a-1"), 27, 1),
        (("keyed", "a-1", "messages", 1, "role"), 31, 8),
    ],
)
def test_places(path: tuple[str | int, ...], line: int, column: int) -> None:
    """Every value is found at its line and column, whatever way of writing was chosen."""
    place = TomlSource("a.toml", TEXT).place(path)
    assert (place.line, place.column) == (line, column)


def test_scan_knows_every_path() -> None:
    """Every path of the parsed data has a place of its own."""
    data, source = read_toml(TEXT, "a.toml")
    waiting: list[tuple[object, tuple[str | int, ...]]] = [(data, ())]
    while waiting:
        value, path = waiting.pop()
        assert not path or path in source._places
        if isinstance(value, dict):
            waiting += [(child, (*path, key)) for key, child in value.items()]
        elif isinstance(value, list):
            waiting += [(child, (*path, index)) for index, child in enumerate(value)]


def test_key_place() -> None:
    """A key has its own place, beside that of its value."""
    source = TomlSource("a.toml", "[a]\nb.c = 1")
    assert source.place(("a", "b", "c"), key=True).column == 3
    assert source.place(("a", "b", "c")).column == 7
    assert source.place(("a",), key=True).column == 2


def test_nearest_ancestor() -> None:
    """What is not there is placed at the nearest thing above it."""
    source = TomlSource("a.toml", "\n[[samples]]\nid = 1")
    assert source.place(("samples", 0, "messages", 3)).line == 2
    assert source.place(("nothing",)).line == 1


def test_first_line() -> None:
    """Front matter that begins at line 2 has its places counted from there."""
    place = TomlSource("a.deck.md", "[scale]\r\nkind = 'x'", 2).place(("scale", "kind"))
    assert (place.line, place.column, place.source) == (3, 8, "kind = 'x'")


def problem(text: str, first_line: int = 1) -> Diagnostic:
    with pytest.raises(InputError) as caught:
        read_toml(text, "a.toml", first_line)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def test_syntax_error() -> None:
    """A syntax error is said in one sentence, with line and column."""
    found = problem("a = 1\nb : 2")
    assert (found.code, found.place.line, found.place.column, found.place.source) == ("bad-toml", 2, 3, "b : 2")
    assert found.message == "not valid TOML: expected '=' after a key in a key/value pair"
    assert problem("a = 1\nb : 2", 2).place.line == 3


def test_syntax_error_at_the_end() -> None:
    """An error at the end of the document points to its last line."""
    found = problem('a = 1\nb = """x')
    assert (found.place.line, found.place.column) == (2, 9)


def test_duplicate_key() -> None:
    """A key that is given twice is an error at its line."""
    found = problem("a = 1\na = 2")
    assert (found.code, found.place.line) == ("bad-toml", 2)


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 5000,
        "a = " + "[" * 200 + "]" * 200,
        ".".join("a" * 300) + " = 1",
        "[" + ".".join("a" * 300) + "]",
    ],
)
def test_deep_nesting(text: str) -> None:
    """Nesting has a bound; beyond it there is an error, not a crash."""
    assert problem(text).code in ("too-deep", "bad-toml")
    TomlSource("a.toml", text).place(("a", "a"))


def test_endless_integer() -> None:
    """An integer of thousands of digits is an error with its place."""
    found = problem("a = 1\nb = " + "9" * 5000)
    assert (found.code, found.place.line) == ("bad-number", 2)


def test_dates_are_text() -> None:
    """Dates and times become text, so that every value can be written as JSON."""
    data, _ = read_toml("a = [2024-05-01, 07:30:00]\nb = 2024-05-01T07:30:00Z", "a.toml")
    assert data == {"a": ["2024-05-01", "07:30:00"], "b": "2024-05-01T07:30:00+00:00"}
