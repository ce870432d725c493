"""The graders of the shipped examples say what they should."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from helpers import ROOT
from turnwise.graders.base import Submission, reference_text
from turnwise.graders.scoring import DEFAULT_THRESHOLD, CaseScore, score_case
from turnwise.graders.specs import make_graders
from turnwise.suite.case import Case
from turnwise.suite.suite import load_suite

pytest_plugins = ["grader_fixtures"]

# Good answers of cases that have no expected one.
GOOD = {
    "refund-used-licence": "I am sorry: a used licence is not refunded. Write to billing for a free month instead.",
    "weather-follow-up": "Yes, it is raining in Oslo.",
}


def example_cases() -> Iterator[Case]:
    """All of them but live conversations and agents, which are more than an answer."""
    for path in sorted((ROOT / "examples").glob("[!.]*/*.yaml")):
        if path.parent.name in ("agents", "sessions"):
            continue
        yield from (case for case in load_suite(path).cases if not case.is_live)


def score(case: Case, text: str) -> CaseScore:
    graders, problems = make_graders(case.graders)
    assert problems == []
    submission = Submission(question="", text=text, reference=reference_text(case.expected.chat_prompt()))
    grades = [asyncio.run(grader.grade(submission)) for grader in graders]
    return score_case(grades, DEFAULT_THRESHOLD if case.threshold is None else case.threshold)


@pytest.mark.parametrize("case", list(example_cases()), ids=lambda case: case.id)
def test_a_good_answer_passes_and_an_evasive_one_does_not(case: Case) -> None:
    """Every example has graders, which tell the answer that its author has in mind from one that says nothing."""
    good = GOOD.get(case.id) or reference_text(case.expected.chat_prompt())
    assert good is not None
    assert (score(case, good).score, score(case, good).status) == (1, "passed")
    assert score(case, "Let me think about it.").status == "failed"
