"""Graders that do not count for a case: those that `when` excludes, and those whose `on_error` says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import turnwise
from turnwise.engine.summary_reasons import why_not_passed
from turnwise.graders.base import Grade, GradeError, GraderSettings, Submission
from turnwise.graders.scoring import score_case
from turnwise.graders.specs import make_graders
from turnwise.graders.when import why_not_applicable
from turnwise.suite.when import WhenSpec

pytest_plugins = ["grader_fixtures"]

GOOD = GraderSettings(name="good", kind="k").graded(1.0, "")
BAD = GraderSettings(name="bad", kind="k").graded(0.0, "")
POLITE = GraderSettings(name="polite", kind="k", on_error="skip", weight=9).ungraded(GradeError("timeout", "too slow"))


def test_an_error_that_is_skipped_is_left_out_of_the_mean() -> None:
    """The mean is that of the others, and the reason says how many there were and who is missing."""
    result = score_case([GOOD, BAD, POLITE], 0.5)
    assert (result.score, result.status) == (0.5, "passed")
    assert result.reason == (
        "0.5 reaches the threshold of 0.5; 2 of 3 graders graded; polite: timeout, left out by its rule"
    )


def test_a_grader_that_is_not_meant_for_the_answer_did_not_fail() -> None:
    """The reason tells it apart from one that could not grade."""
    cites = GraderSettings(name="cites", kind="k").not_applicable("not for this answer")
    assert score_case([GOOD, cites]).reason.endswith("1 of 2 graders graded; cites: not meant for this answer")


def test_a_case_without_any_grader_that_counts_is_ungraded() -> None:
    """If all are left out there is nothing to score, and the reason says so."""
    result = score_case([POLITE, POLITE])
    assert (result.score, result.status) == (None, "ungraded")
    assert result.reason.startswith("0 of 2 graders graded; polite: timeout")


def test_an_error_without_that_rule_still_leaves_the_case_ungraded() -> None:
    """One grader's rule is not the other's."""
    slow = GraderSettings(name="slow", kind="k").ungraded(GradeError("timeout", "too slow"))
    assert score_case([GOOD, POLITE, slow]).status == "ungraded"


def test_on_error_is_a_setting_of_every_kind(grade: Callable[..., Grade]) -> None:
    """With `skip`, an error is marked as left out, also in the evidence; without it, it is not."""
    skipped = grade({"latency": {"max": 1, "on_error": "skip"}}, "x")
    assert (skipped.left_out, skipped.evidence) == (True, {"left_out": "on_error: skip"})
    assert grade({"latency": {"max": 1, "on_error": "ungraded"}}, "x").left_out is False
    assert grade({"latency": {"max": 1, "on_error": "skip"}}, "x", latency_ms=5.0).score == 0


def test_a_required_grader_cannot_be_skipped() -> None:
    """It would let a case pass without what it requires."""
    graders, (problem,) = make_graders([{"contains": {"value": "x", "required": True, "on_error": "skip"}}])
    assert graders == []
    assert (problem.code, problem.path) == ("grader-options", ("graders", 0, "contains", "on_error"))


def test_a_grade_with_a_score_is_never_left_out() -> None:
    """What was graded counts."""
    with pytest.raises(ValueError, match="only one with an error is left out"):
        Grade(name="a", kind="b", score=1.0, passed=True, reason="", left_out=True)


CASE: dict[str, Any] = {
    "tags": ["easy", "short"],
    "target": "gpt-mini",
    "variant": "terse",
    "metadata": {"lang": "en", "level": 1, "more": {"x": [1]}},
}


@pytest.mark.parametrize(
    ("when", "applies"),
    [
        ({"tags": ["easy"]}, True),
        ({"tags": ["hard", "short"]}, True),
        ({"tags": ["hard"]}, False),
        ({"target": "gpt-mini"}, True),
        ({"target": "gpt-*"}, True),
        ({"target": "GPT-*"}, False),
        ({"variant": "terse"}, True),
        ({"variant": "ters"}, False),
        ({"metadata": {"lang": "en"}}, True),
        ({"metadata": {"more": {"x": [1.0]}}}, True),
        ({"metadata": {"level": True}}, False),
        ({"metadata": {"lang": "en", "other": None}}, False),
        ({"tags": ["easy"], "target": "claude"}, False),
        ({"tags": ["easy"], "target": "gpt-*", "variant": "terse", "metadata": {"level": 1}}, True),
    ],
)
def test_conditions(grade: Callable[..., Grade], when: dict[str, Any], applies: bool) -> None:
    """Everything that a condition names must hold; one that does not apply is listed and has no score."""
    found = grade({"contains": {"value": "x", "when": when}}, "x", **CASE)
    assert (found.score, found.left_out) == ((1, False) if applies else (None, True))
    if not applies:
        assert found.error is not None
        assert found.error.kind == "not-applicable"
        assert found.reason.startswith("not for this answer: it is for ")
        assert score_case([GOOD, found]).status == "passed"


def test_an_answer_of_which_nothing_is_known_meets_no_condition(grade: Callable[..., Grade]) -> None:
    """No tags, target or variant are not any tag, target or variant."""
    for when in ({"tags": ["a"]}, {"target": "a*"}, {"variant": "a"}, {"metadata": {"a": None}}):
        assert grade({"contains": {"value": "x", "when": when}}, "x").left_out is True


SUITE = """
name: conditions
targets: [one, two]
variants: {plain: {}, terse: {system_prompt: Be brief.}}
tags: [suite]
vars: {what: this, which: one}
graders:
  - contains: 'yes'
  - type: contains
    name: only-one
    value: "nobody says {{ what }}"
    when: {target: "{{ which }}", variant: terse, tags: [suite, x]}
input_messages: [{role: user, content: Hi}]
cases: [{id: a}]
"""
TARGETS = "targets: [{name: one, provider: mock, response: 'yes'}, {name: two, provider: mock, response: 'yes'}]\n"


def test_a_run_knows_target_variant_and_tags(tmp_path: Path) -> None:
    """A grader for one target and one variant counts in one of four results; variables in its condition are filled."""
    (tmp_path / ".turnwise").mkdir()
    (tmp_path / ".turnwise" / "targets.yaml").write_text(TARGETS, encoding="utf-8")
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    results = list(asyncio.run(turnwise.run(tmp_path / "suite.yaml")).results())
    scores = {(each.target, each.variant): each.score for each in results}
    assert scores == {("one", "plain"): 1, ("one", "terse"): 0.5, ("two", "plain"): 1, ("two", "terse"): 1}


def test_a_summary_names_what_really_kept_a_case_from_being_graded() -> None:
    """A grader that was left out is not the reason, even if it comes first."""
    left_out = {"name": "cites", "evidence": {"left_out": "when"}, "error": {"kind": "not-applicable", "message": "no"}}
    broken = {"name": "slow", "evidence": {}, "error": {"kind": "timeout", "message": "too slow"}}
    assert why_not_passed({"score": None, "grades": [left_out, broken]}).startswith("slow: too slow")


def test_who_could_not_grade_has_not_graded() -> None:
    """Of two graders with an error, one that is left out, and one that graded, one graded."""
    slow = GraderSettings(name="slow", kind="k").ungraded(GradeError("timeout", "too slow"))
    crash = GraderSettings(name="crash", kind="k").ungraded(GradeError("crash", "exit code 3"))
    assert score_case([GOOD, slow, crash, POLITE]).reason == (
        "2 graders could not grade: slow: too slow; crash: exit code 3; "
        "1 of 4 graders graded; polite: timeout, left out by its rule"
    )


def test_graders_that_say_the_same_say_it_once() -> None:
    """The names of all of them stand before the words."""
    slow = [GraderSettings(name=name, kind="k").ungraded(GradeError("timeout", "too slow")) for name in ("a", "b")]
    assert score_case(slow).reason == "2 graders could not grade: a, b: too slow"


@pytest.mark.parametrize(
    ("wanted", "found", "words"),
    [
        (True, False, "priced: true, and here it is false"),
        (None, 1, "priced: null, and here it is 1"),
        ("1", 1, 'priced: "1", and here it is 1'),
        (["a"], "é", 'priced: ["a"], and here it is "é"'),
    ],
)
def test_metadata_is_told_as_suites_write_it(wanted: Any, found: Any, words: str) -> None:
    """A reason has no words of Python, and a text has quotes: it differs from the number that looks like it."""
    when, answer = WhenSpec(metadata={"priced": wanted}), Submission(question="", text="", metadata={"priced": found})
    assert why_not_applicable(when, answer) == f"not for this answer: it is for cases whose metadata has {words}"
