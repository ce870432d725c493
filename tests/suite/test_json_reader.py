"""JSON with the promises of the YAML reader: no duplicate key is lost, nesting is bounded, places are known."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.suite.json_reader import index_json, locate_json, read_json
from turnwise.suite.text_problem import TextProblem

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=15,
)
STYLES = st.sampled_from([{}, {"indent": 2}, {"separators": (",", ":")}, {"indent": "\t", "ensure_ascii": False}])


def problem(text: str) -> tuple[str, int]:
    with pytest.raises(TextProblem) as caught:
        read_json(text)
    return caught.value.code, caught.value.offset


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every path of a value, with what stands there."""
    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from paths(inner, (*path, index))


@given(VALUES, STYLES)
def test_json_means_what_the_standard_library_says(value: Any, style: dict[str, Any]) -> None:
    """Well-formed JSON is read as `json` reads it."""
    assert read_json(json.dumps(value, **style)) == value


@pytest.mark.parametrize(
    ("text", "code", "wrong"),
    [
        ('{"a": 1, "b": 2, "a": 3}', "duplicate-key", '"a": 3'),
        ('{"x": [{"a": 1}, {"a": 1, "a": 2}]}', "duplicate-key", '"a": 2'),
        ('{"a": "a", "b": {"a": 1}, "c": ["a", "a"], "a": 0}', "duplicate-key", '"a": 0'),
        (r'{"\u0061": 1, "a": 2}', "duplicate-key", '"a": 2'),
        ('{"a": NaN}', "bad-number", "NaN"),
        ('{"NaN": "NaN, or NaN", "b": [1, -Infinity]}', "bad-number", "-Infinity"),
        ("[Infinity]", "bad-number", "Infinity"),
        ('{"a": "' + "1" * 5000 + '", "b": ' + "2" * 5000 + "}", "bad-number", "2222"),
        ('{"a": 1, 2}', "bad-json", "2"),
        ('{"a": 1', "bad-json", ""),
        ("", "bad-json", ""),
        ("[1] [2]", "bad-json", "[2]"),
        ("{'a': 1}", "bad-json", "'a'"),
        ('{"a": "b\nc"}', "bad-json", "\nc"),
        (r'{"a": "\ud83d\ude00", "b": "\ude00"}', "lone-surrogate", r'\ude00"}'),
        (r'{"a": "\\ud800 \ud800"}', "lone-surrogate", r'\ud800"}'),
        (r'{"\ud800": 1}', "lone-surrogate", r"\ud800"),
        (r'"\ud83d\u0041"', "lone-surrogate", r"\ud83d"),
    ],
)
def test_problems_have_a_code_and_a_place(text: str, code: str, wrong: str) -> None:
    """What cannot be read is one problem, at the character where the wrong thing starts."""
    found, offset = problem(text)
    assert found == code
    assert text[offset:].startswith(wrong)
    if not wrong:
        assert offset == len(text)


def test_surrogate_pairs_and_escaped_backslashes_are_text() -> None:
    """Both halves of a character are one character; an escaped backslash before `ud800` is no escape of it."""
    assert read_json(r'["\ud83d\ude00", "\\ud800"]') == ["😀", "\\ud800"]


@pytest.mark.parametrize("levels", [101, 500, 10_000, 200_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_deep_nesting_is_refused(levels: int, opening: str, closing: str) -> None:
    """More than a hundred levels are refused, at the first one that is too deep, as in YAML."""
    code, offset = problem(opening * levels + "0" + closing * levels)
    assert code == "too-deep"
    assert offset == 100 * len(opening)


def test_brackets_in_strings_are_not_nesting() -> None:
    """Only containers nest: brackets inside texts, and many short lists, are allowed."""
    text = json.dumps({"a": "[" * 1000, "b": [[]] * 1000})
    assert read_json(text) == {"a": "[" * 1000, "b": [[]] * 1000}


def test_nesting_up_to_the_bound_is_read() -> None:
    """The bound itself is allowed."""
    assert json.dumps(read_json("[" * 100 + "7" + "]" * 100)) == "[" * 100 + "7" + "]" * 100


@given(VALUES, STYLES, st.sampled_from(["", " ", "\n\t "]))
def test_every_value_and_key_is_located(value: Any, style: dict[str, Any], margin: str) -> None:
    """At the offset of a path stands its value, and at the offset of its key the key."""
    text = margin + json.dumps(value, **style)
    decoder = json.JSONDecoder()
    for path, expected in paths(value):
        found, _ = decoder.raw_decode(text, locate_json(index_json(text), path))
        assert found == expected
        assert type(found) is type(expected)
        if path and isinstance(path[-1], str):
            key, _ = decoder.raw_decode(text, locate_json(index_json(text), path, key=True))
            assert key == path[-1]


def test_a_path_that_is_not_there_leads_to_the_nearest_thing_above() -> None:
    """A missing key or item is shown at what should hold it."""
    text = '{"a": [1, {"b": 2}]}'
    assert locate_json(index_json(text), ("a", 1, "c")) == text.index('{"b"')
    assert locate_json(index_json(text), ("a", 5, "c")) == text.index("[1")
    assert locate_json(index_json(text), ("x", "y"), key=True) == 0
    assert locate_json(index_json(text), ("a", 0, "deeper")) == text.index("1")


@given(st.text(st.characters(codec="utf-8")) | st.text('{}[]",:\\u dDeE018-NaInfity\n', max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text makes the reader fail in a way of its own, and the place is in the text."""
    found: TextProblem | None = None
    value = None
    try:
        value = read_json(text)
    except TextProblem as problem_of_text:
        found = problem_of_text
    assert found is None or (0 <= found.offset <= len(text) and found.message)
    assert json.dumps(value, ensure_ascii=False).encode("utf-8")
