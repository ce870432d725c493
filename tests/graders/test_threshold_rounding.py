"""A score that equals its threshold reaches it, whatever rounding takes from the mean: one rule everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fault_server import serving
from judge_fixtures import graded, opinion, ticks
from turnwise.engine.summary_lines import read_line
from turnwise.graders.base import GraderSettings
from turnwise.graders.panel import combined_score
from turnwise.graders.thresholds import reaches

SHORT = (0.7 + 0.7 + 0.7) / 3
"""The mean of three times 0.7, as a computer has it."""
JUDGES = ["judge", "second", "third"]


def test_the_mean_of_equal_scores_falls_short() -> None:
    """What these tests are about: it is less than each of the scores, and still reaches them."""
    assert SHORT < 0.7
    assert reaches(SHORT, 0.7)
    assert not reaches(0.7 - 1e-6, 0.7)


def test_every_grader_has_the_rule() -> None:
    """A grade passes from its threshold on, and without one from 1 on."""
    settings = GraderSettings(name="g", kind="k", threshold=0.7)
    assert settings.graded(SHORT, "").passed
    assert not settings.graded(0.69, "").passed
    assert GraderSettings(name="g", kind="k").graded(1 - 1e-16, "").passed


def test_a_vote_at_the_threshold_is_for_the_majority() -> None:
    """One of two such votes is enough beside a 1."""
    assert combined_score([SHORT, 1.0, 0.0], "majority", 0.7) == 1.0


@pytest.mark.parametrize(
    "grader",
    [
        {"type": "llm_judge", "targets": JUDGES, "threshold": 0.7},
        {
            "type": "composite",
            "mode": "weighted",
            "threshold": 0.7,
            "graders": [{"type": "llm_judge", "target": name} for name in JUDGES],
        },
    ],
)
def test_judges_that_all_give_the_threshold_pass(tmp_path: Path, grader: dict[str, Any]) -> None:
    """Three times 0.7 passes at 0.7, in a panel and in a weighted composite."""
    with serving(lambda _: opinion(0.7)) as server:
        line = graded(tmp_path, server, grader, others={"second": server.url, "third": server.url})
    assert line["grades"][0]["passed"] is True


def test_lines_of_a_rubric_that_all_give_the_threshold_pass(tmp_path: Path) -> None:
    """Three lines with 7 of 10 pass at 0.7."""
    lines = [{"text": name, "range": [0, 10]} for name in "abc"]
    with serving(lambda _: ticks(7, 7, 7)) as server:
        line = graded(tmp_path, server, {"type": "rubric", "target": "judge", "threshold": 0.7, "lines": lines})
    assert line["grades"][0]["passed"] is True


def test_lines_of_other_programs_have_the_rule() -> None:
    """A score without a status passes from its threshold on."""
    line = {"case_id": "a", "target": "gpt", "trial": 1, "score": SHORT, "threshold": 0.7}
    assert read_line(line).status == "passed"


@pytest.mark.parametrize(("verdicts", "score"), [((True, True), 1.0), ((True, False), 0.5)])
def test_huge_weights_of_lines_are_shares(tmp_path: Path, verdicts: tuple[bool, ...], score: float) -> None:
    """The sum of two weights would be infinite; their mean is not."""
    lines = [{"text": name, "weight": 1e308} for name in "ab"]
    with serving(lambda _: ticks(*verdicts)) as server:
        line = graded(tmp_path, server, {"type": "rubric", "target": "judge", "lines": lines})
    assert line["score"] == score
