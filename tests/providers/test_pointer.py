"""JSON pointers lead to values, or say how far they led."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.providers.pointer import PointerError, resolve_pointer

# The document and the pointers of RFC 6901, section 5.
DOCUMENT = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("", DOCUMENT),
        ("/foo", ["bar", "baz"]),
        ("/foo/0", "bar"),
        ("/", 0),
        ("/a~1b", 1),
        ("/c%d", 2),
        ("/e^f", 3),
        ("/g|h", 4),
        ("/i\\j", 5),
        ('/k"l', 6),
        ("/ ", 7),
        ("/m~0n", 8),
    ],
)
def test_the_examples_of_the_standard(pointer: str, value: Any) -> None:
    """Every example of RFC 6901 gives the value that the standard says."""
    assert resolve_pointer(DOCUMENT, pointer) == value


@pytest.mark.parametrize(
    ("data", "pointer", "words"),
    [
        ({"choices": [{"text": "x", "index": 0}]}, "/choices/0/message", ["`message`", "`/choices/0`", "`text`"]),
        ({"a": [1, 2]}, "/a/2", ["item `2`", "`/a`", "a list of 2"]),
        ({"a": [1, 2]}, "/a/-", ["item `-`"]),
        ({"a": [1, 2]}, "/a/01", ["item `01`"]),
        ({"a": [1, 2]}, "/a/" + "9" * 5000, ["a list of 2"]),
        ({"a": "text"}, "/a/b", ["`b`", "`/a`", "a text"]),
        ({"a": None}, "/a/b", ["null"]),
        ({"a": True}, "/a/b", ["true"]),
        ({"a": 1.5}, "/a/b", ["a number"]),
        ({}, "/a", ["the whole value", "an empty object"]),
        ({"a": 1}, "a", ["does not start with `/`"]),
        ({"a~2": 1}, "/a~2", ["`~`"]),
    ],
)
def test_a_pointer_that_leads_nowhere_says_how_far_it_led(data: Any, pointer: str, words: list[str]) -> None:
    """The error names the step that fails, where it was looked for, and what is there."""
    with pytest.raises(PointerError) as caught:
        resolve_pointer(data, pointer)
    assert all(word in str(caught.value) for word in words)


def test_an_error_does_not_list_thousands_of_keys() -> None:
    """Of a large object some keys are shown, shortened and in one line, and the rest is counted."""
    large = {f"key\n{number}" + "x" * 500: 0 for number in range(5000)}
    with pytest.raises(PointerError, match="and 4988 more") as caught:
        resolve_pointer(large, "/absent")
    assert len(str(caught.value)) < 1000
    assert "\n" not in str(caught.value)


@given(st.lists(st.text(max_size=6), max_size=5), st.integers())
def test_every_path_of_keys_has_a_pointer(keys: list[str], leaf: int) -> None:
    """A value under any keys, escaped as the standard says, is found again."""
    data: Any = leaf
    for key in reversed(keys):
        data = {key: data}
    pointer = "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys)
    assert resolve_pointer(data, pointer) == leaf
