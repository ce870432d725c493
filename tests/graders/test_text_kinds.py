"""Kinds that compare texts, and their `not-` forms."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.graders.base import Grade
from turnwise.graders.text import comparable

pytest_plugins = ["grader_fixtures"]

CASES: list[tuple[Any, str, bool]] = [
    ({"equals": "Yes"}, "Yes", True),
    ({"equals": "Yes"}, " Yes\n", True),
    ({"equals": "Yes"}, "yes", False),
    ({"equals": ""}, "", True),
    ({"type": "equals", "value": "Yes", "case_sensitive": False}, "YES", True),
    ({"type": "equals", "value": "Yes", "trim": False}, "Yes\n", False),
    ({"contains": "42"}, "It is 42.", True),
    ({"contains": "42"}, "It is 43.", False),
    ({"contains": "a"}, "A", False),
    ({"contains": {"value": "a", "case_sensitive": False}}, "A", True),
    ({"contains": " a "}, "a", False),
    ({"icontains": "PARIS"}, "in Paris", True),
    ({"icontains": "Rome"}, "in Paris", False),
    ({"contains-all": ["a", "b"]}, "b, a", True),
    ({"contains-all": ["a", "b"]}, "a", False),
    ({"type": "contains-all", "value": ["A", "b"], "case_sensitive": False}, "aB", True),
    ({"contains-any": ["a", "b"]}, "b", True),
    ({"contains-any": ["a", "b"]}, "c", False),
    ({"type": "contains-any", "value": ["A"], "case_sensitive": False}, "a", True),
    ({"starts-with": "Dear"}, "Dear you", True),
    ({"starts-with": "Dear"}, "\n Dear you", True),
    ({"starts-with": "Dear"}, "Oh Dear", False),
    ({"type": "starts-with", "value": "dear", "case_sensitive": False}, "DEAR", True),
    ({"type": "starts-with", "value": "Dear", "trim": False}, " Dear", False),
]


def negated(spec: dict[str, Any]) -> dict[str, Any]:
    """The `not-` form of a spec."""
    if "type" in spec:
        return {**spec, "type": f"not-{spec['type']}"}
    return {f"not-{kind}": value for kind, value in spec.items()}


@pytest.mark.parametrize(("spec", "text", "holds"), CASES)
def test_a_kind_holds_or_not_and_its_not_form_is_the_opposite(
    grade: Callable[..., Grade], spec: dict[str, Any], text: str, holds: bool
) -> None:
    """The score is 1 or 0, `passed` says the same, and the reason is the same fact in both forms."""
    plain, opposite = grade(spec, text), grade(negated(spec), text)
    assert (plain.score, plain.passed) == (float(holds), holds)
    assert (opposite.score, opposite.passed) == (float(not holds), not holds)
    assert plain.reason == opposite.reason
    assert opposite.kind == f"not-{plain.kind}"


WORDS = st.text(min_size=1, max_size=8)
SPECS = st.one_of(
    st.builds(lambda kind, value: {kind: value}, st.sampled_from(["equals", "contains", "icontains"]), WORDS),
    st.builds(lambda value, trim: {"type": "starts-with", "value": value, "trim": trim}, WORDS, st.booleans()),
    st.builds(
        lambda kind, value: {kind: value},
        st.sampled_from(["contains-all", "contains-any"]),
        st.lists(WORDS, min_size=1, max_size=3),
    ),
)


@given(spec=SPECS, text=st.text(max_size=30))
def test_the_not_form_is_the_complement(grade: Callable[..., Grade], spec: dict[str, Any], text: str) -> None:
    """Whatever the texts are, the two scores sum to 1."""
    plain, opposite = grade(spec, text).score, grade(negated(spec), text).score
    assert plain is not None
    assert opposite is not None
    assert plain + opposite == 1


@given(values=st.lists(WORDS, min_size=1, max_size=4), text=st.text(max_size=30))
def test_all_and_any_are_told_by_contains(grade: Callable[..., Grade], values: list[str], text: str) -> None:
    """`contains-all` is the least of its texts' scores, `contains-any` the greatest."""
    each = [grade({"contains": value}, text).score or 0.0 for value in values]
    assert grade({"contains-all": values}, text).score == min(each)
    assert grade({"contains-any": values}, text).score == max(each)


@pytest.mark.parametrize("kind", ["equals", "contains", "icontains"])
def test_without_a_value_the_reference_answer_is_compared(grade: Callable[..., Grade], kind: str) -> None:
    """Both spellings of "no value" mean the reference; one that is missing is an error, in the `not-` form too."""
    for spec in ({kind: None}, {"type": kind}):
        assert grade(spec, "Paris", reference="Paris").score == 1
        assert grade(spec, "Rome", reference="Paris").score == 0
        for form in (spec, negated(spec)):
            nothing = grade(form, "Paris")
            assert (nothing.score, nothing.passed) == (None, None)
            assert nothing.error is not None
            assert nothing.error.kind == "no-reference"
            assert "`expected_messages`" in nothing.reason


def test_a_value_goes_before_the_reference(grade: Callable[..., Grade]) -> None:
    """An author who writes a value means it."""
    assert grade({"equals": "Rome"}, "Rome", reference="Paris").score == 1


def test_canonically_equal_texts_are_equal(grade: Callable[..., Grade]) -> None:
    """An é of one character is an é of two, and neither contains a bare e."""
    assert grade({"contains": "caf\u00e9"}, "le cafe\u0301").score == 1
    assert grade({"equals": "cafe\u0301"}, "caf\u00e9").score == 1
    assert grade({"contains": "cafe"}, "le cafe\u0301").score == 0


@pytest.mark.parametrize(
    ("one", "other"), [("straße", "STRASSE"), ("ΟΔΟΣ", "οδος"), ("É", "e\u0301"), ("\ufb01n", "FIN"), ("\u212a", "k")]
)
def test_case_is_folded_as_unicode_says(grade: Callable[..., Grade], one: str, other: str) -> None:
    """Letters without a partner of one character are the same in either case, too."""
    assert grade({"icontains": one}, f"({other})").score == 1
    assert grade({"icontains": other}, f"({one})").score == 1
    assert grade({"contains": one}, f"({other})").score == 0


def test_a_dotless_i_is_another_letter(grade: Callable[..., Grade]) -> None:
    """Folding knows no language: the Turkish ı stays apart from i."""
    assert grade({"icontains": "ı"}, "I").score == 0


@given(st.text(max_size=20))
def test_folding_a_folded_text_changes_nothing(text: str) -> None:
    """The form in which texts are compared is its own form."""
    folded = comparable(text, case_sensitive=False, trim=True)
    assert comparable(folded, case_sensitive=False) == folded


def test_reasons_show_what_was_found_and_stay_short(grade: Callable[..., Grade]) -> None:
    """A reason is a line for a person, however long the texts are."""
    assert grade({"equals": "Paris"}, "Rome").reason == "the answer is 'Rome', not 'Paris'"
    many = grade({"contains-all": [f"word{index}" for index in range(9)]}, "word0")
    assert many.reason.endswith("'word5' and 3 more")
    assert many.evidence["found"] == ["word0"]
    assert len(grade({"equals": "a" * 10_000}, "b" * 10_000).reason) < 250


def test_huge_texts_take_no_time(grade: Callable[..., Grade]) -> None:
    """A megabyte that nearly matches everywhere is searched in one pass."""
    text = "ab" * 500_000
    started = perf_counter()
    assert grade({"contains": "ab" * 1_000 + "c"}, text).score == 0
    assert grade({"icontains": "BA" * 1_000}, text).score == 1
    assert perf_counter() - started < 5


def test_text_that_no_encoding_has_is_compared(grade: Callable[..., Grade]) -> None:
    """A lone surrogate in an answer does no harm."""
    assert grade({"contains": "ok"}, "\ud800 ok \x00").score == 1
