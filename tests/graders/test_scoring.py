"""The score of a case."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.graders.base import Grade, GradeError, GraderSettings
from turnwise.graders.scoring import CaseScore, score_case

SHARES = st.floats(0, 1)
GRADES = st.builds(
    lambda score, weight, required: GraderSettings(
        name="g", kind="k", weight=weight, threshold=0.5, required=required
    ).graded(score, ""),
    SHARES,
    st.floats(min_value=0, exclude_min=True, allow_infinity=False),
    st.booleans(),
)
ERRED = GraderSettings(name="slow", kind="regex").ungraded(GradeError("timeout", "took too long"))


def grade(score: float, weight: float = 1.0, required: bool = False) -> Grade:
    """A grade that passes from 1 on."""
    return GraderSettings(name="g", kind="k", weight=weight, required=required).graded(score, "")


def test_no_graders_are_no_score() -> None:
    """A case without graders is ungraded, not passed."""
    assert score_case([]) == CaseScore(None, "ungraded", "the case has no graders")


def test_the_score_is_the_weighted_mean() -> None:
    """A grader of weight 3 counts as three."""
    assert score_case([grade(1, weight=3), grade(0)], 0.8) == CaseScore(
        0.75, "failed", "0.75 is below the threshold of 0.8"
    )
    assert score_case([grade(1, weight=3), grade(0)], 0.75).status == "passed"
    assert score_case([grade(1), grade(0)]).status == "passed"


def test_a_failed_required_grader_fails_the_case() -> None:
    """Its mean is kept, but does not save it."""
    result = score_case([grade(1, weight=99), grade(0, required=True)], 0.5)
    assert (result.score, result.status) == (0.99, "failed")
    assert result.reason == "required, and not passed: g"


def test_a_required_grader_passes_by_its_own_threshold() -> None:
    """`required` asks for `passed`, not for a full score."""
    half = GraderSettings(name="g", kind="k", threshold=0.4, required=True).graded(0.5, "")
    assert score_case([half], 0.5).status == "passed"


@given(st.lists(GRADES, max_size=5), st.integers(0, 5), SHARES)
def test_an_error_leaves_the_score_unknown(grades: list[Grade], position: int, threshold: float) -> None:
    """Wherever it stands, and the reason names it; the case is ungraded, unless it lacks what it requires."""
    result = score_case([*grades[:position], ERRED, *grades[position:]], threshold)
    lacks = any(each.required and not each.passed for each in grades)
    assert (result.score, result.status) == (None, "failed" if lacks else "ungraded")
    assert "slow: took too long" in result.reason


def test_nothing_saves_a_case_that_lacks_what_it_requires() -> None:
    """Whatever the broken grader would say, the case has failed; the reason names both, and the score is unknown."""
    result = score_case([grade(1, weight=9), grade(0, required=True), ERRED], 0.5)
    why = "required, and not passed: g; a grader could not grade: slow: took too long"
    assert result == CaseScore(None, "failed", why)


def test_a_required_grader_that_could_not_grade_has_not_failed() -> None:
    """Its error says nothing about the answer: the case is ungraded."""
    broken = GraderSettings(name="must", kind="k", required=True).ungraded(GradeError("timeout", "too slow"))
    assert score_case([grade(1), broken]).status == "ungraded"


@given(st.lists(GRADES, min_size=1, max_size=6), SHARES)
def test_the_score_lies_between_the_grades_and_decides(grades: list[Grade], threshold: float) -> None:
    """The mean is between the least and the greatest; the case passes if it and every required grader do."""
    result = score_case(grades, threshold)
    scores = [each.score for each in grades if each.score is not None]
    assert result.score is not None
    assert min(scores) - 1e-9 <= result.score <= max(scores) + 1e-9
    held = all(each.passed for each in grades if each.required)
    if abs(result.score - threshold) > 1e-6:
        assert result.status == ("passed" if held and result.score > threshold else "failed")


@given(st.lists(GRADES, min_size=1, max_size=5), st.data())
def test_the_order_of_graders_makes_no_difference(grades: list[Grade], data: st.DataObject) -> None:
    """The same grades in another order have the same score and status."""
    one, other = score_case(grades), score_case(data.draw(st.permutations(grades)))
    assert one.score == pytest.approx(other.score)
    assert one.status == other.status


@given(st.lists(GRADES, min_size=1, max_size=5), st.integers(0, 4))
def test_a_better_grade_never_harms(grades: list[Grade], position: int) -> None:
    """Raising one score to 1 lowers no case's score and fails no case that passed."""
    index = position % len(grades)
    better = [*grades]
    better[index] = replace(grades[index], score=1.0, passed=True)
    before, after = score_case(grades), score_case(better)
    assert before.score is not None
    assert after.score is not None
    assert after.score >= before.score - 1e-9
    assert before.status == "failed" or after.status == "passed"


@given(st.integers(1, 50), st.sampled_from([0.1, 0.3, 0.7, 0.9]))
def test_rounding_does_not_fail_a_case(count: int, score: float) -> None:
    """The mean of equal scores reaches that score."""
    assert score_case([grade(score, weight=0.1)] * count, score).status == "passed"


def test_weights_of_any_size_are_shares() -> None:
    """Huge and tiny weights neither overflow nor vanish."""
    assert score_case([grade(1, weight=1e308), grade(0, weight=1e308)]).score == 0.5
    assert score_case([grade(1, weight=5e-324), grade(0, weight=5e-324)]).score == 0.5
