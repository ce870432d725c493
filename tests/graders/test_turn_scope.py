"""`scope: turn`: every reply is graded, and the scores become one by a rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from turnwise.engine.deck_grades import deck_grades
from turnwise.errors import Problem
from turnwise.graders.base import Grade, Submission
from turnwise.graders.specs import make_graders
from turnwise.suite.format import LongGrader

pytest_plugins = ["grader_fixtures"]

Graded = Callable[..., Grade]


def replies(*texts: str) -> list[Submission]:
    return [Submission(question="Q?", text=text) for text in texts]


def scoped(kind: str, **settings: Any) -> dict[str, Any]:
    return {"type": kind, "scope": "turn", **settings}


@pytest.mark.parametrize(("aggregate", "score"), [("min", 0.25), ("mean", 0.625), (None, 0.25)])
def test_scores_are_aggregated(grade: Graded, aggregate: str | None, score: float) -> None:
    """The least score counts unless the mean is asked for: of a reply of 1 and one of 0.25, 0.25 or 0.625."""
    settings = {} if aggregate is None else {"aggregate": aggregate}
    found = grade(scoped("levenshtein", value="abcd", **settings), "-", replies=replies("abcd", "axyz"))
    assert (found.score, found.passed) == (score, False)


@pytest.mark.parametrize(("aggregate", "passed"), [("min", False), ("mean", True)])
def test_the_threshold_is_held_against_the_aggregate(grade: Graded, aggregate: str, passed: bool) -> None:
    """A mean of 0.625 reaches 0.6, and a least score of 0.25 does not."""
    spec = scoped("levenshtein", value="abcd", aggregate=aggregate, threshold=0.6)
    assert grade(spec, "-", replies=replies("abcd", "axyz")).passed is passed


def test_every_turn_is_evidence(grade: Graded) -> None:
    """Each reply's score and reason are there under its number, and the reason names the turns that failed."""
    found = grade(scoped("contains", value="yes"), "-", replies=replies("yes", "no"))
    assert [(each["turn"], each["score"]) for each in found.evidence["turns"]] == [(1, 1.0), (2, 0.0)]
    assert found.reason.startswith("min of 2 turns: 1 passed; turn 2: ")


def test_without_replies_the_answer_is_the_only_turn(grade: Graded) -> None:
    """A case that is no live conversation is graded as ever, with one turn as evidence."""
    found = grade(scoped("contains", value="yes"), "yes")
    assert (found.score, len(found.evidence["turns"])) == (1.0, 1)


def test_a_turn_that_cannot_be_graded_leaves_all_ungraded(grade: Graded) -> None:
    """No score is made up of the others; the error names the turn."""
    measured = [Submission(question="Q?", text="a", latency_ms=1.0), Submission(question="Q?", text="b")]
    found = grade(scoped("latency", max=10), "-", replies=measured)
    assert found.score is None
    assert found.error is not None
    assert (found.error.kind, "turn 2: " in found.error.message, "turn 1: " in found.error.message) == (
        "turn", True, False
    )  # fmt: skip


def test_it_can_be_left_out_by_its_rule(grade: Graded) -> None:
    """`on_error: skip` leaves the whole grader out."""
    found = grade(scoped("latency", max=10, on_error="skip"), "-", replies=replies("a"))
    assert found.left_out


def test_conversation_is_the_final_answer(grade: Graded) -> None:
    """`scope: conversation` says what is the case anyway."""
    found = grade({"type": "contains", "value": "yes", "scope": "conversation"}, "yes", replies=replies("no", "no"))
    assert found.score == 1.0


def test_a_composite_may_be_scoped_and_hold_scoped_graders(grade: Graded) -> None:
    """Each turn gets the whole composite; or one of its graders looks at each turn."""
    inner = {"contains": "yes"}
    outer = grade(scoped("composite", graders=[inner], mode="all"), "-", replies=replies("yes", "no"))
    held = {"composite": {"graders": [scoped("contains", value="yes", aggregate="mean", threshold=0.5)]}}
    assert (outer.score, grade(held, "-", replies=replies("yes", "no")).score) == (0.0, 1.0)


def test_an_aggregate_without_turns_is_a_mistake() -> None:
    """It would have no effect: nothing that an author writes is ignored silently."""
    _, problems = make_graders([LongGrader.model_validate({"type": "contains", "value": "x", "aggregate": "mean"})])
    message = "`aggregate` makes one score of several turns, and the grader is for the final answer alone"
    assert problems == [
        Problem(("graders", 0, "aggregate"), "grader-options", message, "add `scope: turn`, or remove it")
    ]


def test_the_decks_of_turns_are_counted() -> None:
    """What judges took for each turn is found, and evidence that only looks like it is not."""
    turn = {"turn": 1, "kind": "deck", "name": "tone", "evidence": {"judge": "j"}}
    scoped_deck = {"kind": "deck", "evidence": {"scope": "turn", "turns": [turn, turn]}}
    foreign = {"kind": "code", "evidence": {"scope": "turn", "turns": [turn]}}
    assert list(deck_grades([scoped_deck, foreign])) == [turn, turn]


def test_failed_turns_that_are_not_named_are_counted(grade: Graded) -> None:
    """Three of five are named; nothing is said of more where there are none."""
    reasons = [grade(scoped("contains", value="yes"), "-", replies=replies(*["no"] * turns)).reason for turns in (3, 5)]
    assert ["turn 3: " in each and "turn 4: " not in each for each in reasons] == [True, True]
    assert ["more" in reasons[0], reasons[1].endswith("; and 2 more")] == [False, True]
