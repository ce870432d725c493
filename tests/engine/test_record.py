"""The line that is kept of a result follows its documented format."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from turnwise.engine.record import Head, failed_record, graded_record, unmade_record
from turnwise.engine.result_format import ResultSpec
from turnwise.engine.result_keys import ResultKey, key_of
from turnwise.errors import OverloadedError, Problem, PromptError, ProviderError, ResolutionError
from turnwise.graders.base import Grade, GradeError
from turnwise.graders.scoring import CaseScore
from turnwise.providers import ProviderRequest, ProviderResponse, Rewrite, Usage
from turnwise.targets.settings import Prices

KEY = ResultKey("evals/a.yaml", "greeting", "gpt", None, 2)
REQUEST = ProviderRequest(
    question="Hello", guidelines=["Be kind"], chat_prompt=[{"role": "user", "content": "Hello"}], case_id="greeting"
)
RESPONSE = ProviderResponse(
    text="Hi",
    messages=[{"role": "assistant", "content": "Hi"}],
    usage=Usage(input_tokens=1000, output_tokens=100),
    sent=[{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello"}],
    rewrites=[Rewrite("system-hoisted", 0, "moved", "rules")],
    latency_ms=12.5,
    attempts=3,
)
GRADE = Grade(name="greets", kind="contains", score=1.0, passed=True, reason="found")
HEAD = Head(KEY, "r1", "c1", 0.5, paid=True, started_at="2026-11-16T09:00:00+00:00")
FINISHED = "2026-11-16T09:00:01+00:00"
PASSED = CaseScore(1.0, "passed", "enough")
UNGRADED = CaseScore(None, "ungraded", "no graders")
PRICES = Prices(input=1.0, output=10.0)


def checked(record: dict[str, Any]) -> dict[str, Any]:
    """The record as a reader gets it, after the model of the format has read it."""
    line: dict[str, Any] = json.loads(json.dumps(record, allow_nan=False))
    ResultSpec.model_validate(line)
    assert set(line) == set(ResultSpec.model_fields) - {"agent", "live", "masked"}  # which few have
    return line


def graded(
    response: ProviderResponse, score: CaseScore = PASSED, prices: Prices | None = PRICES, *grades: Grade
) -> dict[str, Any]:
    made = graded_record(HEAD, REQUEST, response, score=score, grades=grades, prices=prices, finished_at=FINISHED)
    return checked(made)


def test_an_answer_is_kept_with_all_that_led_to_it() -> None:
    """What was sent, what a person reads, what it cost, and what the graders said."""
    line = graded(RESPONSE, PASSED, PRICES, GRADE)
    assert key_of(line) == KEY
    assert line["raw_request"]["messages"][0]["role"] == "system"
    assert line["raw_request"]["rewrites"][0]["kind"] == "system-hoisted"
    assert line["raw_request"]["question"] == "Hello"
    assert line["grades"][0]["name"] == "greets"
    assert (line["cost_usd"], line["attempts"], line["answer"]) == (0.002, 3, "Hi")
    assert (line["started_at"], line["finished_at"]) == (HEAD.started_at, FINISHED)


def test_an_unknown_price_is_no_zero() -> None:
    """What is not known is null, and an answer without a grade has no score."""
    line = graded(RESPONSE, UNGRADED, None)
    assert (line["cost_usd"], line["score"], line["status"]) == (None, None, "ungraded")


@pytest.mark.parametrize("prices", [PRICES, None])
def test_an_answer_from_the_cache_costs_nothing(prices: Prices | None) -> None:
    """Nothing was sent: not even an unknown price was paid."""
    line = graded(replace(RESPONSE, attempts=0), PASSED, prices)
    assert (line["cost_usd"], line["attempts"]) == (0.0, 0)


def test_a_grader_that_could_not_grade_says_why() -> None:
    """Its error is kept; it has neither a score nor a verdict."""
    broken = Grade(
        name="judge", kind="llm_judge", score=None, passed=None, reason="broken", error=GradeError("crash", "boom")
    )
    (kept,) = graded(RESPONSE, UNGRADED, PRICES, broken)["grades"]
    assert kept["error"] == {"kind": "crash", "message": "boom"}
    assert (kept["score"], kept["passed"]) == (None, None)


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        (OverloadedError("busy", status=503), ("overloaded", 503, True, 1)),
        (PromptError("no user turn", "there is none", hint="add one"), ("prompt", None, False, 0)),
    ],
)
def test_a_failure_is_no_zero(error: ProviderError, kept: tuple[Any, ...]) -> None:
    """No answer: a status and a typed error, and null for everything that an answer has."""
    line = checked(failed_record(HEAD, REQUEST, error, attempts=error.attempts, finished_at=FINISHED))
    assert (line["error"]["kind"], line["error"]["status"], line["error"]["retryable"], line["attempts"]) == kept
    assert (line["status"], line["score"], line["answer"], line["usage"]) == ("error", None, None, None)


def test_a_case_that_cannot_be_made_names_all_its_problems() -> None:
    """Nothing was asked, so there is no request; every problem is in the message."""
    error = ResolutionError([Problem((), "missing-file", "no a.txt"), Problem((), "missing-file", "no b.txt")])
    line = checked(unmade_record(HEAD, error, finished_at=FINISHED))
    assert (line["error"]["kind"], line["error"]["message"]) == ("case", "no a.txt; no b.txt")
    assert (line["raw_request"], line["attempts"], line["error"]["retryable"]) == (None, 0, False)
