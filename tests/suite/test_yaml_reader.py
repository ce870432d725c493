"""YAML 1.2 core values plus merge keys, and one clear problem, at its place, for what cannot be read."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from turnwise.diagnostics import Place
from turnwise.suite.text_problem import TextProblem
from turnwise.suite.yaml_reader import MAX_ALIASED_NODES, MAX_DEPTH, read_yaml

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=20)
)
BASIC_PLANE = st.text(st.characters(max_codepoint=0xD7FF), max_size=20)


def trees(leaves: st.SearchStrategy[Any], keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=12
    )


def problem(text: str) -> tuple[str, int | None, int | None]:
    """The code, line and column of the problem of a text."""
    with pytest.raises(TextProblem) as caught:
        read_yaml(text)
    place = Place.at(text, caught.value.offset)
    return caught.value.code, place.line, place.column


@pytest.mark.parametrize(
    "word",
    [
        "yes", "no", "on", "off", "y", "n", "Yes", "NO",
        "1:30", "12:30:45", "2024-01-01", "2001-12-14T21:59:43Z",
        "1_000", "0b11", "-0o17", "0o8", "0x", "0xg", "1.2.3", "1e", "e5", "..5",
        "nUll", "tRUE", "Nan", "inf", "NaN", "=", "<<", "+", "-a", ".", "0x-1",
    ],
)  # fmt: skip
def test_words_of_yaml_1_1_stay_text(word: str) -> None:
    """What only YAML 1.1 takes for something else is text."""
    assert read_yaml(f"a: {word}") == {"a": word}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0", 0), ("7", 7), ("-7", -7), ("+7", 7), ("017", 17), ("0o17", 15), ("0xFf", 255), ("08", 8),
        ("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("1e3", 1000.0), ("-1.5E-3", -0.0015), ("+.5", 0.5), ("0.0", 0.0),
        ("true", True), ("True", True), ("TRUE", True), ("false", False), ("False", False), ("FALSE", False),
        ("null", None), ("Null", None), ("NULL", None), ("~", None), ("", None),
    ],
)  # fmt: skip
def test_core_scalars(written: str, value: Any) -> None:
    """Plain scalars follow the core schema: numbers, booleans and null, each of its own type."""
    read = read_yaml(f"a: {written}")["a"]
    assert read == value
    assert type(read) is type(value)


def test_numbers_that_json_cannot_hold_are_refused() -> None:
    """What JSON cannot hold is refused at its place: infinities, not-a-number, and numbers too large for a float."""
    for word in (".nan", ".NaN", ".inf", "+.Inf", "-.INF", "1e999", "-1.5e400"):
        with pytest.raises(TextProblem) as caught:
            read_yaml(f"a: {word}")
        assert (caught.value.code, caught.value.offset) == ("bad-number", 3)
        assert read_yaml(f"a: '{word}'") == {"a": word}


@pytest.mark.parametrize("written", ["'5'", '"5"', "|-\n  5", ">-\n  5", "!!str 5", "! 5"])
def test_quoted_scalars_are_text(written: str) -> None:
    """A quoted, block or `!!str` scalar is text, whatever it looks like."""
    assert read_yaml(f"a: {written}") == {"a": "5"}


@pytest.mark.parametrize(
    ("written", "value"), [("!!int '5'", 5), ("!!float 5", 5.0), ("!!bool true", True), ("!!null ''", None)]
)
def test_core_tags_are_understood(written: str, value: Any) -> None:
    """The tags of the core schema mean what they say."""
    read = read_yaml(f"a: {written}")["a"]
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n", "---\n...\n"])
def test_empty_document_is_none(text: str) -> None:
    """A file without content is null, not an error of the reader."""
    assert read_yaml(text) is None


def test_literal_blocks_keep_their_text_and_crlf_is_a_line_break() -> None:
    """A literal block keeps every character; Windows line ends read as line ends."""
    assert read_yaml("a: |\n  one\n    two \n\n  three\n") == {"a": "one\n  two \n\nthree\n"}
    assert read_yaml("a: |\r\n  one\r\n  two\r\nb: 1\r\n") == {"a": "one\ntwo\n", "b": 1}


def test_aliases_repeat_their_anchor() -> None:
    """An alias has the value of the anchor before it, scalar or container; a later anchor of the name wins."""
    text = "a: &x 5\nb: *x\nc: &x [1, {d: 2}]\ne: *x\n"
    assert read_yaml(text) == {"a": 5, "b": 5, "c": [1, {"d": 2}], "e": [1, {"d": 2}]}


@pytest.mark.parametrize(
    ("text", "merged"),
    [
        ("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}", {"x": 1, "y": 3}),
        ("a: &a {x: 1, y: 2}\nb: {y: 3, <<: *a}", {"x": 1, "y": 3}),
        ("a: &a {x: 1}\nc: &c {x: 2, z: 2}\nb: {<<: [*a, *c]}", {"x": 1, "z": 2}),
        ("a: &a {x: 1}\nc: &c {<<: *a, z: 2}\nb: {<<: *c}", {"x": 1, "z": 2}),
        ("b: {<<: {x: 1}}", {"x": 1}),
        ("b: {<<: []}", {}),
        ("b: {'<<': 1}", {"<<": 1}),
    ],
)
def test_merge_keys(text: str, merged: dict[str, Any]) -> None:
    """Own keys win wherever `<<` stands, then the earlier of several merges; a quoted `<<` is a key like any other."""
    assert read_yaml(text)["b"] == merged


def test_a_merge_leaves_its_anchor_alone() -> None:
    """Merging copies: the mapping merged from keeps its own values."""
    assert read_yaml("a: &a {x: 1}\nb: {<<: *a, x: 2}")["a"] == {"x": 1}


def test_an_anchored_merge_key_gives_plain_values() -> None:
    """An alias of the key `<<` itself is the text `<<`."""
    assert read_yaml("&m <<: {x: 1}\nb: *m") == {"x": 1, "b": "<<"}


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("a: 1\nb:\n  c: 1\n  c: 2\n", "duplicate-key", 4, 3),
        ("a: 1\n'a': 2\n", "duplicate-key", 2, 1),
        ("{a: 1, b: 2, a: 3}", "duplicate-key", 1, 14),
        ("<<: {a: 1}\n<<: {b: 1}\n", "duplicate-key", 2, 1),
        ("a: 1\n---\nb: 2\n", "second-document", 2, 1),
        ("a: 1\n...\n---\n", "second-document", 3, 1),
        ("a: !!python/object/apply:os.system [ls]", "yaml-tag", 1, 4),
        ("a:\n  - !secret x\n", "yaml-tag", 2, 5),
        ("a: !!int x", "yaml-tag", 1, 4),
        ("a: !!binary aGk=", "yaml-tag", 1, 4),
        ("!!set {a}", "yaml-tag", 1, 1),
        ("? [a]\n: b\n", "bad-key", 1, 3),
        ("{{a: 1}: 2}", "bad-key", 1, 2),
        ("a: 1\n5: 2\n", "bad-key", 2, 1),
        ("true: 2", "bad-key", 1, 1),
        ("~: 2", "bad-key", 1, 1),
        ("a: &x k\n*x : 2\n", "bad-key", 2, 1),
        ("a: *x", "yaml-alias", 1, 4),
        ("a: &x [*x]", "yaml-alias", 1, 8),
        ("a: &x\n  b:\n    - *x\n", "yaml-alias", 3, 7),
        ("a: 1\n<<: 5\nb: 2\n", "bad-merge", 2, 5),
        ("a: 1\n<<: [{b: 1}, 2]\nc: 3\n", "bad-merge", 2, 5),
        ("a:\n\t- b\n", "bad-yaml", 2, 1),
        ("a: b: c\n", "bad-yaml", 1, 5),
        ("a: 1\n b: 2\n", "bad-yaml", 2, 3),
        ("a: [1, 2\nb: 3\n", "bad-yaml", 2, 2),
        ('a: 1\nb: "x\nc: 2\n', "bad-yaml", 2, 4),
        ('a: "\\q"', "bad-yaml", 1, 5),
        ("a: @b", "bad-yaml", 1, 4),
        ("a: b\nc: \x01", "bad-yaml", 2, 4),
        ("é: 😀\x07", "bad-yaml", 1, 5),
        ("a: b\0c", "bad-yaml", 1, 5),
        ("a:\n  b: " + "9" * 5000, "bad-number", 2, 6),
        ("a: 0x" + "f" * 5000, "bad-number", 1, 4),
        ("a: 0o" + "7" * 5000, "bad-number", 1, 4),
        ("a: !!float 1" + "0" * 400, "bad-number", 1, 4),
    ],
)
def test_problems_have_a_code_and_a_place(text: str, code: str, line: int, column: int) -> None:
    """What cannot be read is one problem, at the line and column of the thing that is wrong."""
    assert problem(text) == (code, line, column)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a:\n\t- b\n", "tabs"),
        ("a: b: c\n", "quote"),
        ('a: "b\n', "never closed"),
        ("a: 1\na: 2\n", "remove one"),
        ("5: a\n", "quote it"),
        ("a: \x01", "escape"),
    ],
)
def test_problems_say_what_to_do(text: str, hint: str) -> None:
    """The usual slips come with a hint."""
    with pytest.raises(TextProblem) as caught:
        read_yaml(text)
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\x85"])
def test_lines_are_counted_as_editors_count_them(odd: str) -> None:
    """Separators that no editor shows as a new line do not shift the places after them."""
    assert problem(f'a: "x{odd}y"\nb: 1\nb: 2\n') == ("duplicate-key", 3, 1)


@pytest.mark.parametrize(
    ("text", "column"),
    [("[" * 10_000, MAX_DEPTH + 1), ("{a: " * 10_000, 4 * MAX_DEPTH + 1), ("- " * 10_000 + "x", 2 * MAX_DEPTH + 1)],
)
def test_deep_nesting_on_one_line(text: str, column: int) -> None:
    """Ten thousand levels are refused at the first one that is too deep."""
    assert problem(text) == ("too-deep", 1, column)


def test_deep_nesting_of_blocks() -> None:
    """Indented mappings are bounded too."""
    text = "".join(" " * depth + "a:\n" for depth in range(3_000))
    assert problem(text) == ("too-deep", MAX_DEPTH + 1, MAX_DEPTH + 1)


def test_nesting_up_to_the_bound_is_read() -> None:
    """The bound itself is allowed."""
    value = read_yaml("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    for _ in range(MAX_DEPTH - 1):
        (value,) = value
    assert value == []


LAUGHS = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 10)
)
MERGED_LAUGHS = "a0: &a0 {a: 1, b: 2, c: 3, d: 4, e: 5}\n" + "".join(
    f"a{level}: &a{level}\n  <<: [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 10)
)
NESTED_LAUGHS = "a0: &a0 {a: 1}\n" + "".join(
    f"a{level}: &a{level} {{{', '.join(f'k{n}: *a{level - 1}' for n in range(10))}}}\n" for level in range(1, 10)
)
WIDE_LAUGHS = f"a: &a [{', '.join(['1'] * 1_000)}]\nb: [{', '.join(['*a'] * 1_100)}]\n"


@pytest.mark.parametrize("text", [LAUGHS, MERGED_LAUGHS, NESTED_LAUGHS, WIDE_LAUGHS])
def test_alias_bombs_are_refused_at_once(text: str) -> None:
    """Aliases that expand to a billion nodes, in lists, mappings or merges, are refused before they expand."""
    start = time.perf_counter()
    code, _, _ = problem(text)
    assert code == "yaml-bomb"
    assert time.perf_counter() - start < 2


def test_many_honest_aliases_are_read() -> None:
    """Below the bound, aliases are free to repeat."""
    uses = 2_000
    assert uses * 4 < MAX_ALIASED_NODES
    value = read_yaml("a: &a {x: 1}\nb:\n" + "  - *a\n" * uses)
    assert value["b"] == [{"x": 1}] * uses


@given(trees(SCALARS, st.text(st.characters(codec="utf-8"), max_size=20)))
def test_what_pyyaml_writes_quoted_is_read_back(value: Any) -> None:
    """Every value survives being written with all scalars quoted and tagged."""
    assert read_yaml(yaml.safe_dump(value, default_style='"', allow_unicode=False)) == value


@given(
    trees(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | BASIC_PLANE,
        BASIC_PLANE,
    )
)
def test_json_is_yaml(value: Any) -> None:
    """A JSON text means the same to the YAML reader."""
    assert read_yaml(json.dumps(value)) == value


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text makes the reader fail in a way of its own, and the place is in the text."""
    found: TextProblem | None = None
    try:
        read_yaml(text)
    except TextProblem as problem_of_text:
        found = problem_of_text
    assert found is None or (0 <= found.offset <= len(text) and found.message)


@pytest.mark.parametrize("character", ["\x85", "\u2028", "\u2029"])
@pytest.mark.parametrize("form", ["a: x{}y", "a: 'x{}y'", 'a: "x{}y"', "a: |-\n  x{}y", "a: >-\n  x{}y", "a: [x{}y]"])
def test_characters_that_are_no_line_breaks_stay_in_their_text(form: str, character: str) -> None:
    """YAML 1.2 breaks lines at LF and CR alone; other breaks of Unicode are part of the text."""
    assert read_yaml(form.format(f"  {character}  ") + "\n") in (
        {"a": f"x  {character}  y"},
        {"a": [f"x  {character}  y"]},
    )


def test_characters_that_stand_in_for_breaks_are_free_ones() -> None:
    """A text that holds both such a break and a character of the private range keeps both."""
    text = "".join(chr(code) for code in range(0xE000, 0xE010))
    assert read_yaml(f"a: '{text}\u2028'\nb: 1") == {"a": f"{text}\u2028", "b": 1}
