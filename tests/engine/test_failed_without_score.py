"""A result that lacks what it requires has failed, even if another grader could not grade; its score is unknown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from run_fixtures import ECHO, case, journal, project, run, suite
from turnwise.engine.summary import Tally, summarise
from turnwise.engine.summary_reasons import why_not_passed
from turnwise.engine.verdict import judge
from turnwise.errors import RunError
from turnwise.report.summary import summary_text

# A mock says nothing about money, so this one cannot grade.
PRICE = {"type": "cost", "name": "price", "max": 1}
MUST = {"type": "contains", "name": "must", "value": "yes", "required": True}


@pytest.fixture
def lines(tmp_path: Path) -> list[dict[str, Any]]:
    """Two results: one that lacks what it requires and could not be graded otherwise, and one that passed."""
    cases = [case("bad", graders=[MUST, PRICE]), case("good", graders=[{"equals": "hello"}])]
    root = project(tmp_path, ECHO, s=suite(cases))
    return journal(run(root / "s.yaml"))


def test_a_run_says_failed_and_why(lines: list[dict[str, Any]]) -> None:
    """The line names the required grader and the one that could not grade, and has no score."""
    bad = next(each for each in lines if each["case_id"] == "bad")
    assert (bad["status"], bad["score"]) == ("failed", None)
    assert bad["reason"].startswith("required, and not passed: must; a grader could not grade: price: ")
    said, broken = why_not_passed(bad).split("; not graded: ")
    assert (said, broken.startswith("price: ")) == ("must: the answer does not contain 'yes'", True)


def test_it_counts_for_the_rate_and_not_for_the_mean(lines: list[dict[str, Any]]) -> None:
    """One of two passed; the mean is that of the one score there is, and a note says so."""
    summary = summarise(lambda: iter(lines))
    (group,) = summary.targets
    assert (group.passed, group.failed, group.ungraded, group.scores_unknown) == (1, 1, 0, 1)
    assert (group.pass_rate.value, group.mean_score.value, group.mean_score.n) == (0.5, 1.0, 1)
    verdict = judge(summary)
    assert verdict.exit_code == 1
    assert "mean score: without 1 failed result whose score is not known" in summary_text(summary, verdict)


def test_only_a_failed_result_may_lack_its_score() -> None:
    """Nobody can pass by a score that is unknown."""
    line = {"case_id": "a", "target": "t", "trial": 1, "score": None, "status": "passed"}
    with pytest.raises(RunError, match="a result that is `passed` must have a score"):
        Tally().add(line)


def test_what_was_left_out_is_no_reason() -> None:
    """Beside a failed grader, only those that count are named as not graded."""
    error = {"kind": "timeout", "message": "late"}
    grades = [
        {"name": "must", "passed": False, "reason": "no"},
        {"name": "skipped", "error": error, "evidence": {"left_out": "on_error: skip"}},
        {"name": "slow", "error": error, "evidence": {}},
    ]
    assert why_not_passed({"status": "failed", "score": None, "grades": grades}) == "must: no; not graded: slow: late"


def test_a_judge_that_it_lacks_can_be_asked_again() -> None:
    """It counts as unjudged, as an ungraded result does; one whose score is known lacks nothing."""
    error = {"kind": "timeout", "message": "late"}
    evidence = {"deck": "tone.deck.md", "judge": "gpt", "calibration": "uncalibrated"}
    tone = {"name": "tone", "kind": "deck", "score": None, "evidence": evidence, "error": error}
    usual = {"target": "t", "trial": 1, "status": "failed", "grades": [tone]}
    tally = Tally()
    for case_id, score in (("unknown", None), ("known", 0.0)):
        tally.add({**usual, "case_id": case_id, "score": score})
    assert tally.summary().unjudged == 1
