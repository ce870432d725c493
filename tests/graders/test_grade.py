"""Grades and submissions: what can be said, and what cannot."""

from __future__ import annotations

import math

import pytest

from turnwise.conversation.chat import ChatMessage
from turnwise.graders.base import Grade, GradeError, GraderSettings, reference_text

SETTINGS = GraderSettings(name="n", kind="k", weight=2.0, threshold=0.5, required=True)


def test_a_grade_has_a_score_or_an_error() -> None:
    """Both, or neither, is refused: an error is never a score of 0."""
    with pytest.raises(ValueError, match="a score or an error"):
        Grade(name="n", kind="k", score=0.0, passed=False, reason="", error=GradeError("timeout", "too slow"))
    with pytest.raises(ValueError, match="a score or an error"):
        Grade(name="n", kind="k", score=None, passed=None, reason="")


def test_a_grade_passes_or_fails_only_with_a_score() -> None:
    """`passed` says nothing beside an error, and something beside a score."""
    with pytest.raises(ValueError, match="passes or fails"):
        Grade(name="n", kind="k", score=None, passed=False, reason="", error=GradeError("timeout", "too slow"))
    with pytest.raises(ValueError, match="passes or fails"):
        Grade(name="n", kind="k", score=1.0, passed=None, reason="")


@pytest.mark.parametrize("score", [-0.1, 1.1, math.nan, math.inf])
def test_a_score_is_from_0_to_1(score: float) -> None:
    """What is no share of the whole is refused."""
    with pytest.raises(ValueError, match="from 0 to 1"):
        Grade(name="n", kind="k", score=score, passed=True, reason="")


def test_settings_are_carried_into_the_grade() -> None:
    """A report needs no other source than the grade."""
    grade = SETTINGS.graded(0.5, "half", {"found": 1})
    assert (grade.name, grade.kind, grade.weight, grade.threshold, grade.required) == ("n", "k", 2.0, 0.5, True)
    assert (grade.passed, grade.reason, grade.evidence) == (True, "half", {"found": 1})
    assert SETTINGS.graded(0.49, "").passed is False


def test_without_a_threshold_only_the_full_score_passes() -> None:
    """A grader that says nothing else wants everything."""
    plain = GraderSettings(name="n", kind="k")
    assert plain.graded(1.0, "").passed is True
    assert plain.graded(0.99, "").passed is False


def test_the_reference_is_the_last_text_of_the_assistant() -> None:
    """Later messages go first, other roles and images are passed over, and no text is no reference."""
    first: ChatMessage = {"role": "assistant", "content": "one"}
    parts: ChatMessage = {
        "role": "assistant",
        "content": [{"type": "text", "text": "two"}, {"type": "image", "data": "…"}, {"type": "text", "text": "three"}],
    }
    user: ChatMessage = {"role": "user", "content": "four"}
    silent: ChatMessage = {"role": "assistant", "content": None}
    assert reference_text([first, parts, user]) == "two\nthree"
    assert reference_text([user]) is None
    assert reference_text([first, silent]) is None
    assert reference_text([]) is None
