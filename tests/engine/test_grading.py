"""Grading answers: none of the graders can break a run, and where nothing is graded nothing fails."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import turnwise.engine.grading as grading_module
from run_fixtures import case, hello, project, suite
from turnwise import load_suite
from turnwise.engine.grading import Grading
from turnwise.graders.base import Grade, GraderSettings, Submission
from turnwise.graders.scoring import CaseScore
from turnwise.graders.specs import make_graders
from turnwise.providers import ProviderRequest, Usage
from turnwise.suite.case import Case
from turnwise.targets.settings import Prices

REQUEST = ProviderRequest(question="hello")


def cases(root: Path, *listed: dict[str, Any], **fields: Any) -> list[Case]:
    """The cases of a suite."""
    project(root, s=suite(listed, **fields))
    return list(load_suite(root / "s.yaml").cases)


def graded(grading: Grading, each: Case, prices: Prices | None = None) -> tuple[list[Grade], CaseScore]:
    """What comes of an answer `hello`."""
    response = hello(usage=Usage(input_tokens=1000, output_tokens=0), latency_ms=7.0)
    return asyncio.run(grading.grade(each, REQUEST, response, 0.5, prices))


def test_every_grader_of_the_case_says_something(tmp_path: Path) -> None:
    """Its own, or the suite's; the score is their mean."""
    own, shared = cases(tmp_path, case("a", graders=[{"contains": "hello"}, {"contains": "x"}]), case("b"))
    grades, score = graded(Grading(), own)
    assert ([each.passed for each in grades], score.score, score.status) == ([True, False], 0.5, "passed")
    grades, score = graded(Grading(), shared)
    assert (len(grades), score.status) == (1, "passed")


def test_nothing_is_graded_where_answers_are_only_collected(tmp_path: Path) -> None:
    """No grade, no score, and no failure."""
    (only,) = cases(tmp_path, case("a", graders=[{"contains": "x"}]))
    grades, score = graded(Grading(graded=False), only)
    assert (grades, score.score, score.status) == ([], None, "ungraded")


class Broken:
    """A grader that raises."""

    def __init__(self, settings: GraderSettings | None) -> None:
        self.settings = settings

    async def grade(self, submission: Submission) -> Grade:
        raise RuntimeError("boom")


@pytest.mark.parametrize("settings", [GraderSettings(name="mine", kind="custom"), None])
def test_a_grader_that_raises_leaves_the_case_ungraded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: GraderSettings | None
) -> None:
    """Its error says what and where; unknown is not 0."""
    (only,) = cases(tmp_path, case("a"))
    monkeypatch.setattr(grading_module, "make_graders", lambda specs: ([Broken(settings)], []))
    (grade,), score = graded(Grading(), only)
    assert grade.name == ("mine" if settings else "Broken")
    assert grade.error is not None
    assert (grade.error.kind, "boom" in grade.error.message, "test_grading.py" in grade.error.message) == (
        "crash", True, True
    )  # fmt: skip
    assert (score.score, score.status) == (None, "ungraded")


def test_graders_of_a_suite_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A suite of a million cases does not make a million graders; those of a case are its own."""
    made: list[Any] = []

    def making(specs: Any) -> Any:
        made.append(specs)
        return make_graders(specs)

    monkeypatch.setattr(grading_module, "make_graders", making)
    listed = [case(f"c{number}") for number in range(5)]
    grading = Grading()
    for each in cases(tmp_path, *listed, case("own", graders=[{"contains": "hello"}])):
        graded(grading, each)
    assert len(made) == 2


def test_a_grader_knows_what_there_is_to_know(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The case's outcome, its metadata, the expected answer, and what the answer cost and took."""
    seen: list[Submission] = []

    class Watching(Broken):
        async def grade(self, submission: Submission) -> Grade:
            seen.append(submission)
            return Grade(name="w", kind="w", score=1.0, passed=True, reason="")

    expected = [{"role": "assistant", "content": "hi there"}]
    (only,) = cases(tmp_path, case("a", outcome="Greets.", metadata={"k": 1}, expected_messages=expected))
    monkeypatch.setattr(grading_module, "make_graders", lambda specs: ([Watching(None)], []))
    graded(Grading(), only, Prices(input=2.0, output=0.0))
    (given,) = seen
    assert (given.case_id, given.outcome, dict(given.metadata)) == ("a", "Greets.", {"k": 1})
    assert (given.question, given.text, given.reference) == ("hello", "hello", "hi there")
    assert (given.latency_ms, given.cost_usd) == (7.0, 0.002)
    assert json.dumps(list(given.expected))
