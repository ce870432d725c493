"""The kind `tool_calls`: which tools were called, how, and in which order."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.graders.base import Grade
from turnwise.graders.specs import make_graders
from turnwise.graders.tool_call_matching import matched

pytest_plugins = ["grader_fixtures"]

Call = tuple[str, Any]


def said(*calls: Call, **message: Any) -> list[dict[str, Any]]:
    """One message with these calls, in OpenAI's form."""
    made = [{"id": "1", "type": "function", "function": {"name": name, "arguments": args}} for name, args in calls]
    return [{"role": "assistant", "content": None, "tool_calls": made, **message}]


def graded(grade: Callable[..., Grade], calls: Sequence[Call], **options: Any) -> Grade:
    """The grade of an answer with these calls."""
    return grade({"type": "tool_calls", **options}, "", output_messages=said(*calls))


A, B, C = ("a", "{}"), ("b", "{}"), ("c", "{}")


@pytest.mark.parametrize(
    ("order", "calls", "score"),
    [
        ("exact", [A, B], 1),
        ("exact", [B, A], 0),
        ("exact", [A, B, C], 0),
        ("exact", [A], 0),
        ("in_order", [A, B], 1),
        ("in_order", [C, A, C, B], 1),
        ("in_order", [B, A], 1 / 2),
        ("in_order", [A], 1 / 2),
        ("any_order", [B, A], 1),
        ("any_order", [A, B, C], 2 / 3),
        ("any_order", [A, A], 1 / 2),
        ("any_order", [A], 1 / 2),
        ("subset", [], 1),
        ("subset", [B], 1),
        ("subset", [A, A], 1),
        ("subset", [A, C], 1 / 2),
    ],
)
def test_orders(grade: Callable[..., Grade], order: str, calls: list[Call], score: float) -> None:
    """Each order takes what it is for, and gives the share of the rest; a full score is the only one that passes."""
    found = graded(grade, calls, expected=["a", "b"], order=order)
    assert found.score == pytest.approx(score)
    assert found.passed is (score == 1)


def test_partial_gives_a_share_of_an_exact_order(grade: Callable[..., Grade]) -> None:
    """Two of three in their order are two thirds instead of nothing."""
    assert graded(grade, [A, B, C], expected=["a", "b"], partial=True).score == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("call", "arguments", "fits"),
    [
        ({"arguments": {"city": "Oslo"}}, {"city": "Oslo", "unit": "C"}, True),
        ({"arguments": {"at": {"x": 1}}}, {"at": {"x": 1.0, "y": 2}}, True),
        ({"arguments": {"city": "Oslo"}}, {"city": "Bergen"}, False),
        ({"arguments": {"city": "Oslo"}}, {}, False),
        ({}, {"any": "thing"}, True),
        ({"arguments": {"city": "Oslo"}, "match": "exact"}, {"city": "Oslo", "unit": "C"}, False),
        ({"arguments": {"city": "Oslo"}, "match": "exact"}, {"city": "Oslo"}, True),
        ({"arguments": {}, "match": "exact"}, {"city": "Oslo"}, False),
        ({"arguments": {"city": "^Os", "n": "^5$"}, "match": "regex"}, {"city": "Oslo", "n": 5}, True),
        ({"arguments": {"city": "^os"}, "match": "regex"}, {"city": "Oslo"}, False),
        ({"arguments": {"city": "Oslo"}, "match": "ignore"}, {"city": "Bergen"}, True),
        ({"arguments": {"city": "Oslo", "id": 1}, "match_arguments": {"id": "ignore"}}, {"city": "Oslo"}, True),
        (
            {"arguments": {"city": "Os", "id": 1}, "match_arguments": {"city": "regex"}},
            {"city": "Oslo", "id": 2},
            False,
        ),
    ],
)
@pytest.mark.parametrize("as_text", [True, False])
def test_arguments(grade: Callable[..., Grade], call: Any, arguments: Any, fits: bool, as_text: bool) -> None:
    """By default the expected ones must be there; whether they come as text or as a mapping makes no difference."""
    made = json.dumps(arguments) if as_text else arguments
    assert graded(grade, [("f", made)], expected=[{"name": "f", **call}]).score == int(fits)


@pytest.mark.parametrize("written", ['{"city": ', "[1]", "Oslo", 5, '{"n": NaN}', "[" * 100_000])
def test_malformed_arguments_are_evidence(grade: Callable[..., Grade], written: Any) -> None:
    """The call does not fit, unless its arguments are not looked at; it is listed with what was wrong."""
    wrong = graded(grade, [("f", written)], expected=[{"name": "f", "arguments": {"city": "Oslo"}}])
    assert wrong.score == 0
    assert "malformed" in wrong.evidence["unexpected"][0]
    assert wrong.evidence["missing"] == [{"name": "f", "arguments": {"city": "Oslo"}}]
    assert graded(grade, [("f", written)], expected=["f"]).score == 1


@pytest.mark.parametrize("written", ["", None, "{}", {}])
def test_no_arguments_are_an_empty_mapping(grade: Callable[..., Grade], written: Any) -> None:
    """APIs write nothing in several ways."""
    assert graded(grade, [("f", written)], expected=[{"name": "f", "arguments": {}, "match": "exact"}]).score == 1


@pytest.mark.parametrize(
    ("options", "calls", "broken"),
    [
        ({"forbidden": ["b"]}, [A, B], "`b` was called, which is forbidden"),
        ({"max_calls": 1}, [A, B], "calls of all tools: 2, at most 1 allowed"),
        ({"min_calls": 3}, [A, B], "calls of all tools: 2, at least 3 expected"),
        ({"limits": {"a": {"max": 1}}}, [A, A], "calls of `a`: 2, at most 1 allowed"),
        ({"limits": {"b": {"min": 1}}}, [A], "calls of `b`: 0, at least 1 expected"),
    ],
)
def test_a_limit_that_is_not_kept_is_a_0(
    grade: Callable[..., Grade], options: dict[str, Any], calls: list[Call], broken: str
) -> None:
    """Limits stand alone or beside expected calls, and one that is kept costs nothing."""
    wrong = graded(grade, calls, **options)
    assert (wrong.score, wrong.reason, wrong.evidence["broken_limits"]) == (0, broken, [broken])
    assert graded(grade, calls, expected=[name for name, _ in calls], **options).score == 0
    assert graded(grade, [C], forbidden=["b"], max_calls=1, limits={"c": {"min": 1, "max": 1}}).score == 1


def test_the_expected_messages_stand_in(grade: Callable[..., Grade]) -> None:
    """Without `expected`, the calls of `expected_messages` are expected; without both there is no score."""
    one, other = said(("f", '{"city": "Oslo"}')), said(("f", '{"city": "Bergen"}'))
    assert grade({"type": "tool_calls"}, "", output_messages=one, expected=one).score == 1
    assert grade({"type": "tool_calls"}, "", output_messages=other, expected=one).score == 0
    for expected, kind in (([], "no-reference"), (said(("f", "{")), "bad-reference")):
        ungraded = grade({"type": "tool_calls"}, "", output_messages=one, expected=expected)
        assert ungraded.error is not None
        assert ungraded.error.kind == kind


def test_no_calls_can_be_expected(grade: Callable[..., Grade]) -> None:
    """An empty list says that no tool is to be called; what the user or a tool says is no call."""
    assert graded(grade, [], expected=[]).score == 1
    assert graded(grade, [A], expected=[]).score == 0
    assert grade({"tool_calls": {"expected": []}}, "", output_messages=said(A, role="user")).score == 1


@pytest.mark.parametrize("call", ["f", None, {}, {"function": "f"}, {"function": {"name": ""}}])
def test_a_call_without_a_name_is_unexpected(grade: Callable[..., Grade], call: Any) -> None:
    """Whatever a model makes up, it is listed and fits nothing."""
    messages = [{"role": "assistant", "content": "", "tool_calls": [call]}]
    found = grade({"tool_calls": {"expected": ["f"]}}, "", output_messages=messages)
    assert (found.score, found.evidence["unexpected"][0]["name"]) == (0, "(no name)")


def test_too_many_calls_are_not_compared(grade: Callable[..., Grade]) -> None:
    """Beyond the bound the answer is ungraded."""
    many = graded(grade, [A] * 501, expected=["a"])
    assert many.error is not None
    assert many.error.kind == "too-long"


def test_options_that_have_no_effect_are_problems() -> None:
    """A pattern that is none, an argument without a value, and `partial` where it changes nothing."""
    wrong: list[Any] = [
        {"expected": [{"name": "f", "arguments": {"a": "("}, "match": "regex"}]},
        {"expected": [{"name": "f", "arguments": {"a": 5}}], "match": "regex"},
        {"expected": [{"name": "f", "match_arguments": {"a": "regex"}}]},
        {"expected": ["f"], "order": "in_order", "partial": True},
    ]
    graders, problems = make_graders([{"tool_calls": options} for options in wrong])
    assert graders == []
    assert [each.code for each in problems] == ["bad-pattern", "bad-pattern", "grader-options", "grader-options"]


TABLES = st.integers(0, 4).flatmap(
    lambda made: st.lists(st.lists(st.booleans(), min_size=made, max_size=made), max_size=4).map(
        lambda rows: (rows, made)
    )
)


def most_pairs(fits: list[list[bool]], made: int, ordered: bool) -> int:
    """The largest number of pairs, by trying all of them."""
    best = 0
    for size in range(min(len(fits), made) + 1):
        for rows in combinations(range(len(fits)), size):
            columns = combinations(range(made), size) if ordered else permutations(range(made), size)
            if any(all(fits[row][column] for row, column in zip(rows, each, strict=True)) for each in columns):
                best = size
    return best


@given(TABLES)
def test_as_many_calls_are_matched_as_can_be(table: tuple[list[list[bool]], int]) -> None:
    """No other choice of pairs would be larger, in order and without; every pair fits."""
    fits, made = table
    for order, ordered in (("any_order", False), ("in_order", True)):
        pairs = matched(fits, order, made)  # type: ignore[arg-type]
        assert len(pairs) == most_pairs(fits, made, ordered) == len(set(pairs.values()))
        assert all(fits[row][column] for column, row in pairs.items())
        assert not ordered or [*pairs.values()] == sorted(pairs.values())
