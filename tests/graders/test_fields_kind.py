"""The kind `fields`: structured data, field by field."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.graders.base import Grade
from turnwise.graders.field_accuracy import accuracy, compare_fields
from turnwise.graders.field_rules import FieldRule, why_wrong
from turnwise.graders.specs import make_graders

pytest_plugins = ["grader_fixtures"]

INVOICE = {"number": "R-7", "total": 12.5, "customer": {"name": "Ada", "city": "Oslo"}, "items": [{"price": 5}]}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def graded(grade: Callable[..., Grade], found: Any, **options: Any) -> Grade:
    """The grade of an answer that is this value."""
    return grade({"type": "fields", "value": INVOICE, **options}, json.dumps(found))


@given(JSON)
def test_a_value_has_all_of_its_own_fields(value: Any) -> None:
    """Whatever it is, nothing is missing, wrong or not expected."""
    results = list(compare_fields(value, json.loads(json.dumps(value)), {}))
    assert results
    assert accuracy(results) == 1


@given(JSON, JSON)
def test_any_two_values_can_be_compared(one: Any, other: Any) -> None:
    """The accuracy is from 0 to 1, and there is at least one field."""
    assert 0 <= accuracy(list(compare_fields(one, other, {}))) <= 1


def test_the_score_is_the_share_of_right_fields(grade: Callable[..., Grade]) -> None:
    """Of five fields, one has another value and one is not there."""
    assert graded(grade, INVOICE).score == 1
    found = {**INVOICE, "total": 13, "customer": {"name": "Ada"}}
    wrong = graded(grade, found)
    assert wrong.score == pytest.approx(3 / 5)
    assert wrong.reason == "3 of 5 fields are right; wrong: total (another value), customer.city (missing)"
    fields = {each["path"]: each for each in wrong.evidence["fields"]}
    assert fields["total"]["expected"] == 12.5
    assert fields["total"]["found"] == 13
    assert fields["total"]["right"] is False
    assert fields["customer.city"]["why"] == "missing"
    assert "found" not in fields["customer.city"]
    assert fields["items[0].price"]["right"] is True


def test_fields_that_nobody_expected_count_unless_told_otherwise(grade: Callable[..., Grade]) -> None:
    """An extra field is a wrong one; `extra: ignore` leaves it out."""
    found = {**INVOICE, "note": {"a": 1, "b": 2}}
    assert graded(grade, found).score == pytest.approx(5 / 6)
    assert graded(grade, found, extra="ignore").score == 1
    assert graded(grade, found, rules={"note": "ignore"}).score == 1


def test_weights_and_ignored_fields(grade: Callable[..., Grade]) -> None:
    """A field of weight 4 counts as four; an ignored one is not looked at."""
    found = {**INVOICE, "total": 0}
    assert graded(grade, found, rules={"total": {"weight": 4}}).score == pytest.approx(4 / 8)
    assert graded(grade, found, rules={"total": "ignore"}).score == 1
    assert graded(grade, {}, rules=dict.fromkeys(INVOICE, "ignore")).error is not None


def test_one_rule_is_for_all_items_of_a_list() -> None:
    """`[*]` stands for every index; a rule of one index goes first; a rule for the whole list makes it one field."""
    expected, found = {"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 1.4}, {"b": 2.4}]}
    near = FieldRule(rule="numeric", tolerance=0.5)
    assert accuracy(list(compare_fields(expected, found, {"a[*].b": near}))) == 1
    assert accuracy(list(compare_fields(expected, found, {"a[*].b": near, "a[1].b": FieldRule()}))) == 0.5
    assert len(list(compare_fields(expected, found, {"a": FieldRule()}))) == 1
    assert accuracy(list(compare_fields(expected, found, {}))) == 0


def test_a_list_of_another_length_has_missing_or_extra_items() -> None:
    """Items are compared by their place."""
    whys = [result.why for result in compare_fields([1, 2], [1, 2, 3], {})]
    assert whys == [None, None, "not expected"]
    assert [result.why for result in compare_fields([1, 2], [1], {})] == [None, "missing"]
    assert [result.why for result in compare_fields({"a": {"b": 1}}, {"a": [1]}, {})] == ["missing"]


@pytest.mark.parametrize(
    ("rule", "expected", "found", "right"),
    [
        ({}, 1, 1.0, True),
        ({}, 1, True, False),
        ({}, 1, "1", False),
        ({}, "Oslo", "oslo", False),
        ({"rule": "case_insensitive"}, "Oslo", " OSLO ", True),
        ({"rule": "case_insensitive"}, "Oslo", 5, False),
        ({"rule": "numeric"}, 12.5, "12.50", True),
        ({"rule": "numeric"}, 12.5, "about 12.5", False),
        ({"rule": "numeric"}, 1, True, False),
        ({"rule": "numeric", "tolerance": 0.1}, 1.0, 1.1, True),
        ({"rule": "numeric", "tolerance": 0.1}, 1.0, 1.11, False),
        ({"rule": "numeric", "relative_tolerance": 0.01}, 200, 202, True),
        ({"rule": "numeric", "relative_tolerance": 0.01}, 200, 202.1, False),
        ({"rule": "numeric"}, 1, "1e999999999999999999", False),
        ({"rule": "numeric"}, 1, "nan", False),
        ({"rule": "date"}, "2025-03-01", "2025-03-01T10:00:00Z", True),
        ({"rule": "date"}, "2025-03-01", "01.03.2025", False),
        ({"rule": "date", "formats": ["%d.%m.%Y"]}, "2025-03-01", "01.03.2025", True),
        ({"rule": "date", "formats": ["%d.%m.%Y"]}, "2025-03-01", "03.01.2025", False),
        ({"rule": "date"}, "2025-03-01", 20250301, False),
    ],
)
def test_rules_of_fields(rule: dict[str, Any], expected: Any, found: Any, right: bool) -> None:
    """Each rule takes what it is for as right, and says why it does not."""
    why = why_wrong(FieldRule.model_validate(rule), expected, found)
    assert (why is None) is right
    assert right or why


@pytest.mark.parametrize(
    "rule",
    [
        {"rule": "exact", "tolerance": 1},
        {"rule": "numeric", "formats": ["%Y-%m-%d"]},
        {"rule": "date", "formats": ["%d.%m."]},
        {"rule": "date", "formats": ["%H:%M"]},
        {"rule": "date", "formats": ["%Q"]},
    ],
)
def test_a_rule_that_makes_no_sense_is_a_problem_of_the_suite(rule: dict[str, Any]) -> None:
    """It is said with the place of the rule before anything is asked."""
    graders, (problem,) = make_graders([{"fields": {"value": {}, "rules": {"a": rule}}}])
    assert graders == []
    assert problem.code == "grader-options"
    assert problem.path[:5] == ("graders", 0, "fields", "rules", "a")


def test_an_answer_that_is_no_json_has_no_right_field(grade: Callable[..., Grade]) -> None:
    """That is a 0 with its reason; `anywhere` finds the JSON in a fence."""
    fenced = f"Here you are:\n```json\n{json.dumps(INVOICE)}\n```"
    plain = grade({"fields": {"value": INVOICE}}, fenced)
    assert (plain.score, plain.reason.startswith("the answer is not JSON")) == (0, True)
    assert grade({"fields": {"value": INVOICE, "anywhere": True}}, fenced).score == 1
    assert grade({"fields": {"value": INVOICE, "anywhere": True}}, "Sorry.").score == 0


def test_the_reference_is_read_as_json(grade: Callable[..., Grade]) -> None:
    """Without a value it is the reference answer; one that is no JSON, or none at all, leaves the answer ungraded."""
    assert grade({"type": "fields"}, '{"a": 1}', reference='{"a": 1.0}').score == 1
    for reference, kind in ((None, "no-reference"), ("Oslo", "bad-reference")):
        ungraded = grade({"type": "fields"}, '{"a": 1}', reference=reference)
        assert ungraded.error is not None
        assert ungraded.error.kind == kind


def test_hostile_json_does_not_break_it(grade: Callable[..., Grade]) -> None:
    """Endless numbers are wrong values, endless brackets cannot be judged, and evidence stays small."""
    huge = grade({"fields": {"value": {"a": 1}, "rules": {"a": "numeric"}}}, '{"a": ' + "9" * 5_000 + "}")
    assert huge.score == 0
    assert len(json.dumps(huge.evidence)) < 2_000
    deep = grade({"fields": {"value": {"a": 1}}}, "[" * 100_000 + "]" * 100_000)
    assert deep.error is not None
    assert deep.error.kind == "too-deep"
    many = grade({"fields": {"value": {"a": 1}}}, json.dumps({str(each): each for each in range(10_000)}))
    assert len(many.evidence["fields"]) == 200
    assert many.evidence["fields_in_all"] == 10_001
