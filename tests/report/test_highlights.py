"""What is worth a line while a run goes on: whole, harmless, and not too many."""

from __future__ import annotations

from typing import Any

import pytest

from turnwise.engine.events import Event, Notice, ResultDone, Slowed
from turnwise.report.highlights import Highlights, failure_line
from turnwise.report.words import counted, duration_text, shown


def grade(name: str, passed: bool | None, reason: str, error: str | None = None) -> dict[str, Any]:
    problem = None if error is None else {"kind": "judge", "message": error}
    return {"name": name, "passed": passed, "reason": reason, "error": problem}


def result(status: str, **fields: Any) -> ResultDone:
    error = {"kind": "timeout", "message": "no answer in 60 s"} if status == "error" else None
    record = {
        "case_id": "capital", "target": "small", "variant": None, "trial": 1, "status": status, "error": error,
        "grades": [grade("exact", status == "passed", "expected 'Paris'")],
        "score": 0.0 if status == "failed" else None, "threshold": 0.5,
    }  # fmt: skip
    return ResultDone({**record, **fields}, 0)


def lines_of(*events: Event, most: int = 100) -> list[str]:
    highlights = Highlights(most)
    return [found.text for event in events if (found := highlights.of(event)) is not None]


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (result("failed"), "✗ capital  small  exact: expected 'Paris'"),
        (result("failed", variant="terse", trial=2), "✗ capital  small/terse#2  exact: expected 'Paris'"),
        (result("error"), "! capital  small  timeout: no answer in 60 s"),
        (result("failed", grades=[], score=0.25), "✗ capital  small  the score 0.25 is below 0.50"),
        (result("failed", grades=[], score=None), "✗ capital  small  no reason was given"),
        (result("ungraded", grades=[grade("tone", None, "", "no judge")]), "? capital  small  tone: no judge"),
    ],
)
def test_a_failure_says_what_where_and_why(event: ResultDone, line: str) -> None:
    """Case, target, variant and trial, and the reason there is."""
    assert failure_line(event.record) == line
    assert lines_of(event) == [line]


def test_every_grader_that_failed_gives_its_reason() -> None:
    """Those that passed, or could not grade, are not to blame."""
    grades = [
        grade("a", True, "fine"), grade("b", None, "no judge"), grade("c", False, "wrong"), grade("d", False, "rude"),
    ]  # fmt: skip
    assert failure_line(result("failed", grades=grades).record).endswith("  c: wrong; d: rude")


def test_what_was_never_to_be_graded_has_no_line() -> None:
    """An answer without graders fell short of nothing, and neither did one that passed."""
    assert lines_of(result("ungraded", grades=[]), result("passed", score=1.0)) == []


def test_a_long_reason_is_cut() -> None:
    """A line holds four hundred characters at most, however much a model wrote."""
    line = failure_line(result("error", error={"kind": "provider", "message": "x" * 1_000_000}).record)
    assert len(line) == 400
    assert line.endswith("x…")
    assert shown("\x9b" * 400).endswith("…")


def test_a_target_is_reported_slow_once() -> None:
    """Later changes, and being fast again, are not worth a line."""
    lines = lines_of(Slowed("small", 4, 8), Slowed("small", 2, 8), Slowed("small", 8, 8), Slowed("large", 1, 2))
    assert lines == [
        "slowed: small is overrun; at most 4 of 8 requests at once for now",
        "slowed: large is overrun; at most 1 of 2 requests at once for now",
    ]


def test_a_flood_of_failures_is_dammed() -> None:
    """After as many as there may be, one line says where the others are; notices still come through."""
    lines = lines_of(*[result("failed")] * 150, Notice("the disk is nearly full"), most=3)
    assert len(lines) == 5
    assert lines[3:] == ["… and more: `results.jsonl` has them all", "note: the disk is nearly full"]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "<1s"), (59.4, "59s"), (59.6, "1m00s"), (3599.6, "1h00m"), (90000, "25h00m")],
)
def test_durations_carry_over(seconds: float, said: str) -> None:
    """Sixty seconds are a minute, however they came about."""
    assert duration_text(seconds) == said


@pytest.mark.parametrize(("count", "said"), [(0, "0 cases"), (1, "1 case"), (2, "2 cases"), (1000, "1,000 cases")])
def test_one_is_singular(count: int, said: str) -> None:
    """Everything else, nothing included, is plural."""
    assert counted(count, "case") == said
