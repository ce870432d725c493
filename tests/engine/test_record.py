"""The line that is kept of a result follows its documented format."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from turnwise.engine.record import failed_record, graded_record
from turnwise.engine.result_format import ResultSpec
from turnwise.engine.resume import ResultKey, key_of
from turnwise.errors import OverloadedError, PromptError, ProviderError
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
GRADE = {
    "name": "contains", "kind": "contains", "score": 1.0, "passed": True, "reason": "found", "evidence": {},
    "weight": 1.0, "required": False, "error": None,
}  # fmt: skip
STARTED = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
COMMON: dict[str, Any] = {
    "run_id": "r1", "conversation_id": "c1", "threshold": 0.5, "started_at": STARTED,
    "finished_at": STARTED + timedelta(seconds=1),
}  # fmt: skip


def checked(record: dict[str, Any]) -> dict[str, Any]:
    """The record as a reader gets it, after the model of the format has read it."""
    line: dict[str, Any] = json.loads(json.dumps(record, allow_nan=False))
    ResultSpec.model_validate(line)
    assert set(line) == set(ResultSpec.model_fields)
    return line


def test_an_answer_is_kept_with_all_that_led_to_it() -> None:
    """What was sent, what a person reads, what it cost, and what the graders said."""
    prices = Prices(input=1.0, output=10.0)
    line = checked(
        graded_record(KEY, REQUEST, RESPONSE, status="passed", score=1.0, grades=[GRADE], prices=prices, **COMMON)
    )  # fmt: skip
    assert key_of(line) == KEY
    assert line["raw_request"]["messages"][0]["role"] == "system"
    assert line["raw_request"]["rewrites"][0]["kind"] == "system-hoisted"
    assert line["raw_request"]["question"] == "Hello"
    assert (line["cost_usd"], line["attempts"], line["answer"]) == (0.002, 3, "Hi")


def test_an_unknown_price_is_no_zero() -> None:
    """What is not known is null, and an answer without a grade has no score."""
    line = checked(
        graded_record(KEY, REQUEST, RESPONSE, status="ungraded", score=None, grades=[], prices=None, **COMMON)
    )  # fmt: skip
    assert (line["cost_usd"], line["score"]) == (None, None)


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        (OverloadedError("busy", status=503), ("overloaded", 503, True, 1)),
        (PromptError("no user turn", "there is none", hint="add one"), ("prompt", None, False, 0)),
    ],
)
def test_a_failure_is_no_zero(error: ProviderError, kept: tuple[Any, ...]) -> None:
    """No answer: a status and a typed error, and null for everything that an answer has."""
    line = checked(failed_record(KEY, REQUEST, error, **COMMON))
    assert (line["error"]["kind"], line["error"]["status"], line["error"]["retryable"], line["attempts"]) == kept
    assert (line["status"], line["score"], line["answer"], line["usage"]) == ("error", None, None, None)
