"""Watching a run as data: every line is one JSON object, and says what its documentation says."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from turnwise.engine.events import Begun, Ended, Event, Notice, ResultDone, Retried, Slowed, Started, Stopping
from turnwise.engine.result_format import ResultSpec
from turnwise.errors import RateLimitError
from turnwise.providers.retries import Retry
from turnwise.report import event_json
from turnwise.report.event_json import JsonWatcher, event_record


def grade(name: str, passed: bool | None, reason: str) -> dict[str, Any]:
    score = None if passed is None else float(passed)
    return {
        "name": name, "kind": "exact", "score": score, "passed": passed, "reason": reason, "evidence": {},
        "weight": 1.0, "required": False, "error": None,
    }  # fmt: skip


RECORD: dict[str, Any] = {
    "schema_version": 1, "run_id": "r1", "suite": "suite.yaml", "case_id": "capital", "conversation_id": None,
    "target": "small", "variant": "terse", "trial": 2, "status": "failed", "score": 0.5, "threshold": 0.8,
    "grades": [grade("a", True, "fine"), grade("b", False, "wrong"), grade("c", None, "no judge")],
    "answer": "Berlin", "output_messages": [{"role": "assistant", "content": "Berlin"}], "finish_reason": "stop",
    "raw_request": None, "usage": None, "cost_usd": 0.25, "paid": True, "latency_ms": 12.5, "first_token_ms": None,
    "attempts": 3, "error": None, "started_at": "2026-01-01T00:00:00+00:00", "finished_at": "2026-01-01T00:00:01+00:00",
}  # fmt: skip
ERROR = {"kind": "timeout", "message": "no answer", "status": 504, "retryable": True, "hint": "wait"}
FAILED = {**RECORD, "status": "error", "score": None, "grades": [], "answer": None, "error": ERROR, "cost_usd": None}

EVENTS: list[tuple[Event, dict[str, Any]]] = [
    (
        Started("r1", Path("runs/r1"), 10, 4, ("small", "large"), ("suite.yaml",), 8),
        {
            "event": "start", "run_id": "r1", "folder": str(Path("runs/r1")), "results": 10, "done": 4,
            "targets": ["small", "large"], "suites": ["suite.yaml"], "workers": 8,
        },
    ),
    (
        ResultDone(RECORD, 7),
        {
            "event": "result", "suite": "suite.yaml", "case_id": "capital", "target": "small", "variant": "terse",
            "trial": 2, "status": "failed", "score": 0.5, "latency_ms": 12.5, "cost_usd": 0.25, "attempts": 3,
            "error": None, "failed_graders": [{"name": "b", "reason": "wrong"}], "in_flight": 7,
        },
    ),
    (
        ResultDone(FAILED, 0),
        {
            "event": "result", "suite": "suite.yaml", "case_id": "capital", "target": "small", "variant": "terse",
            "trial": 2, "status": "error", "score": None, "latency_ms": 12.5, "cost_usd": None, "attempts": 3,
            "error": {"kind": "timeout", "message": "no answer", "hint": "wait"}, "failed_graders": [], "in_flight": 0,
        },
    ),
    (
        Retried("small", Retry(2, 4, 1.5, RateLimitError("busy"))),
        {
            "event": "retry", "target": "small", "attempt": 2, "of": 4, "delay_s": 1.5,
            "error": {"kind": "rate_limit", "message": "busy"},
        },
    ),
    (Slowed("small", 2, 8), {"event": "slowed", "target": "small", "allowed": 2, "most": 8}),
    (Notice("the cache is full"), {"event": "notice", "message": "the cache is full"}),
    (Stopping("budget", 3), {"event": "stopping", "reason": "budget", "in_flight": 3}),
    (
        Ended("r1", Path("runs/r1"), 2, "budget", 1.25),
        {
            "event": "end", "run_id": "r1", "folder": str(Path("runs/r1")), "left": 2, "stopped": "budget",
            "seconds": 1.25,
        },
    ),
]  # fmt: skip


class Counting(io.StringIO):
    """Counts how often it is flushed."""

    flushes = 0

    def flush(self) -> None:
        self.flushes += 1
        super().flush()


def test_the_records_of_these_tests_are_real_ones() -> None:
    """They have the format of the journal's lines."""
    assert ResultSpec.model_validate(RECORD).case_id == "capital"
    assert ResultSpec.model_validate(FAILED).status == "error"


@pytest.mark.parametrize(("event", "record"), EVENTS)
def test_each_event_is_an_object(event: Event, record: dict[str, Any]) -> None:
    """It holds what is documented, and of a result neither the conversation nor the answer."""
    assert event_record(event) == record


def test_lines_are_read_back_as_they_happened() -> None:
    """One object a line, in order, the summary last; each is flushed."""
    stream = Counting()
    with JsonWatcher(stream) as watch:
        for event, _ in EVENTS:
            watch(event)
        watch.summary({"passed": 1})
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert lines == [*(record for _, record in EVENTS), {"event": "summary", "summary": {"passed": 1}}]
    assert stream.flushes == len(lines)


def test_a_piece_of_work_that_begins_has_no_line() -> None:
    """Results say what is in flight; a line for each beginning would double them."""
    stream = io.StringIO()
    with JsonWatcher(stream) as watch:
        watch(Begun(1))
    assert stream.getvalue() == ""
    assert event_record(Begun(1)) is None


def test_text_of_others_breaks_no_line() -> None:
    """Line breaks of every kind, escape sequences and half characters are escaped."""
    message = "a\nb\r\x1b[2J\u2028\x85é\ud800"
    stream = io.StringIO()
    with JsonWatcher(stream) as watch:
        watch(Notice(message))
    (line,) = stream.getvalue().splitlines()
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line)["message"] == message


def test_every_field_is_documented() -> None:
    """The module's description names each event and each of its fields."""
    described = dict(re.findall(r"^(\w+)  +(.*(?:\n  .*)*)", event_json.__doc__ or "", re.MULTILINE))
    for _, record in EVENTS:
        words = set(re.findall(r"\w+", described[record["event"]]))
        assert set(record) - {"event"} <= words
    assert set(described) == {record["event"] for _, record in EVENTS} | {"summary"}


def test_a_summary_that_cannot_be_written_is_an_error() -> None:
    """Whoever asked for it must not take silence for a summary."""

    class Full(io.StringIO):
        def write(self, text: str, /) -> int:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        JsonWatcher(Full()).summary({})
