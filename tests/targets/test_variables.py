"""`${{ NAME }}` is found, checked and filled in."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.targets.variables import Reference, is_whole_reference, malformed, missing, references, substitute

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,10}", fullmatch=True)
plain = st.text().filter(lambda text: "${{" not in text and not text.endswith(("$", "${")))
tricky = st.lists(st.sampled_from(["${{", "}}", "$", "{", "}", " ", "A", "b c", "\n", "-"]), max_size=12).map("".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | tricky | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


def test_references_are_found_with_their_paths() -> None:
    """Every reference is reported with its name, its data path and whether it is the whole text."""
    target = {"headers": {"X": "a ${{ ONE }} ${{TWO}}"}, "args": ["--k", "${{  THREE  }}"], "n": 3}
    assert references(target) == [
        Reference(("headers", "X"), "ONE", False),
        Reference(("headers", "X"), "TWO", False),
        Reference(("args", 1), "THREE", True),
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("${{ }}", "variable-nameless"),
        ("${{}}", "variable-nameless"),
        ("${{ a b }}", "variable-bad-name"),
        ("${{ 1A }}", "variable-bad-name"),
        ("${{ env.A }}", "variable-bad-name"),
        ("${{ Ä }}", "variable-bad-name"),
        ("${{ X", "variable-unclosed"),
        ("${{ X }", "variable-unclosed"),
        ("${{ X ${{ Y }}", "variable-unclosed"),
    ],
)
def test_malformed_references_are_problems(text: str, code: str) -> None:
    """An empty, misnamed or unclosed reference is a problem at its path, with a hint."""
    (problem,) = malformed({"a": [text]})
    assert (problem.path, problem.code) == (("a", 0), code)
    assert problem.hint


def test_a_problem_does_not_quote_what_is_between_the_braces() -> None:
    """Somebody may have written the secret itself between the braces, so it is not repeated."""
    (problem,) = malformed({"api_key": "${{ sk-live-1 }}"})
    assert "sk-live" not in problem.message + str(problem.hint)


@pytest.mark.parametrize("text", ["", "$X", "${X}", "{{ X }}", "$ {{ X }}", "${ { X }}", "}}"])
def test_other_dollars_and_braces_are_plain_text(text: str) -> None:
    """Only `${{` starts a reference."""
    assert references(text) == []
    assert malformed(text) == []
    assert substitute(text, {"X": "no"}) == (text, [])


def test_missing_variables_are_listed_all_at_once() -> None:
    """All undefined names come back together, each once, in the order of the file; the defined ones are filled in."""
    target = {"a": "${{ Z }}/${{ A }}", "b": ["${{ OK }}", "${{ Z }}"], "c": "${{ B }}"}
    filled, absent = substitute(target, {"OK": "yes"})
    assert absent == ["Z", "A", "B"] == missing(target, {"OK": "yes"})
    assert filled == {"a": "${{ Z }}/${{ A }}", "b": ["yes", "${{ Z }}"], "c": "${{ B }}"}


def test_an_empty_value_is_a_value() -> None:
    """A variable that is set to nothing is filled in as nothing, not reported as missing."""
    assert substitute("a${{ X }}b", {"X": ""}) == ("ab", [])


def test_what_is_filled_in_is_not_searched_again() -> None:
    """A variable's value is text, even where it looks like a reference."""
    assert substitute("${{ A }}", {"A": "${{ B }}", "B": "no"}) == ("${{ B }}", [])


def test_keys_are_left_alone() -> None:
    """Only values are filled in, never the keys of a mapping."""
    assert substitute({"${{ A }}": 1}, {"A": "b"}) == ({"${{ A }}": 1}, [])


def test_substitution_leaves_its_input_alone() -> None:
    """The given value is not changed, so that the same target can be filled in twice."""
    target = {"a": ["${{ A }}"]}
    substitute(target, {"A": "x"})
    assert target == {"a": ["${{ A }}"]}


@given(before=plain, name=names, spaces=st.sampled_from(["", " ", "  "]), after=plain, value=st.text())
def test_a_reference_is_replaced_and_nothing_else(before: str, name: str, spaces: str, after: str, value: str) -> None:
    """Around a reference the text stays as it was."""
    reference = "${{" + spaces + name + spaces + "}}"
    text = before + reference + after
    assert substitute(text, {name: value}) == (before + value + after, [])
    assert is_whole_reference(text) == (text == reference)


@given(values)
def test_without_variables_nothing_changes(value: Any) -> None:
    """With no variable defined, any value at all comes back the same, and every reference is missing."""
    filled, absent = substitute(value, {})
    assert filled == value
    assert absent == list(dict.fromkeys(use.name for use in references(value)))


@given(tricky)
def test_every_opening_is_a_reference_or_a_problem(text: str) -> None:
    """No `${{` goes unnoticed: each is either well formed or reported."""
    inside_names = sum(problem.code == "variable-bad-name" for problem in malformed(text))
    counted = len(references(text)) + len(malformed(text))
    assert counted == text.count("${{") or (inside_names and counted <= text.count("${{"))
