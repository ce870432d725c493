"""Why a result did not pass: from whatever its line holds."""

from __future__ import annotations

from typing import Any

import pytest

from turnwise.engine.summary_reasons import is_failure, why_not_passed

BROKEN = {"name": "tone", "passed": None, "reason": "", "error": {"kind": "judge", "message": "no JSON"}}


def failing(name: str, reason: Any = "no") -> dict[str, Any]:
    return {"name": name, "passed": False, "reason": reason, "error": None}


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ({"error": {"kind": "timeout", "message": "late"}}, "timeout: late"),
        ({"error": {"kind": "timeout"}}, "timeout"),
        ({"error": {}}, "an unknown error"),
        ({"error": "it broke"}, "it broke"),
        ({"error": 7}, "7"),
        ({"score": 0.0, "grades": [failing("a"), failing("b", "rude")]}, "a: no; b: rude"),
        ({"score": 0.0, "grades": [BROKEN, failing("a")]}, "a: no"),
        ({"score": None, "grades": [failing("a"), BROKEN]}, "tone: no JSON"),
        ({"score": 0.25, "threshold": 0.5, "grades": []}, "the score 0.25 is below 0.50"),
        ({"score": 0.25}, "the score is 0.25"),
        ({"score": 0.9, "threshold": 0.5}, "the score is 0.90"),
        ({"score": None}, "no reason was given"),
    ],
)
def test_the_reason_is_what_there_is(record: dict[str, Any], why: str) -> None:
    """The error, else what kept it from a score, else all that failed, else the score itself."""
    assert why_not_passed(record) == why


@pytest.mark.parametrize("grades", ["x", 5, [None, 3, "x"], {"a": 1}])
def test_whatever_grades_hold_does_no_harm(grades: Any) -> None:
    """Lines of other programs may hold anything there."""
    assert why_not_passed({"score": 0.0, "threshold": 0.5, "grades": grades}) == "the score 0.00 is below 0.50"


def test_reasons_are_bounded() -> None:
    """Many long ones become four hundred characters."""
    why = why_not_passed({"score": 0.0, "grades": [failing(str(number), "x" * 9999) for number in range(50)]})
    assert len(why) == 400
    assert why.endswith("x…")


@pytest.mark.parametrize(
    ("status", "grades", "failure"),
    [
        ("passed", [], False), ("failed", [], True), ("error", [], True),
        ("ungraded", [BROKEN], True), ("ungraded", None, True), ("ungraded", [], False),
    ],
)  # fmt: skip
def test_what_was_never_to_be_graded_is_no_failure(status: str, grades: Any, failure: bool) -> None:
    """Everything else that did not pass is one."""
    assert is_failure(status, grades) is failure


def test_graders_that_are_left_out_are_no_reason() -> None:
    """What kept a result from being graded is a grader that counts; only if there is none, those that are left out."""
    error = {"kind": "not-applicable", "message": "not for this answer"}
    cites = {"name": "cites", "error": error, "evidence": {"left_out": "when"}}
    assert why_not_passed({"status": "ungraded", "score": None, "grades": [cites, BROKEN]}) == "tone: no JSON"
    assert why_not_passed({"status": "ungraded", "score": None, "grades": [cites]}) == "cites: not for this answer"


def test_what_several_graders_say_is_said_once() -> None:
    """The same words after each name would leave no room for others."""
    grades = [BROKEN, {**BROKEN, "name": "style"}]
    assert why_not_passed({"status": "ungraded", "score": None, "grades": grades}) == "tone, style: no JSON"
    failed = why_not_passed({"status": "failed", "score": None, "grades": [failing("must"), *grades]})
    assert failed == "must: no; not graded: tone, style: no JSON"
