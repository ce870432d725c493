"""Watching judges at work: answers instead of results, models instead of targets."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from turnwise.engine.events import Begun, Ended, Event, Notice, ResultDone, Started, Stopping
from turnwise.report.calibration_progress import CALIBRATION, calibration_watcher
from turnwise.report.lines import LineWatcher, QuietWatcher
from turnwise.report.live import LiveWatcher, board_rows
from turnwise.report.progress import Progress

STARTED = Started("c1", Path("runs/c1"), 3, 0, ("small", "large"), ("tone.deck.md",), 8)
ENDED = Ended("c1", Path("runs/c1"), 0, None, 2.0)


def answer(**fields: Any) -> ResultDone:
    record: dict[str, Any] = {
        "suite": "tone.deck.md", "case_id": "s1", "target": "small", "variant": None, "trial": 1, "status": "ungraded",
        "error": None, "grades": [], "score": None, "threshold": None, "attempts": 1, "cost_usd": 0.01, "paid": True,
    }  # fmt: skip
    return ResultDone({**record, **fields}, 0)


FAILED = answer(status="error", cost_usd=None, error={"kind": "timeout", "message": "no answer in 60 s"})


def still() -> float:
    """A clock that stands still."""
    return 0.0


def lines_of(*events: Event) -> list[str]:
    stream = io.StringIO()
    with LineWatcher(stream, still, wording=CALIBRATION) as watch:
        for event in events:
            watch(event)
    return stream.getvalue().splitlines()


def test_a_log_speaks_of_answers_and_models() -> None:
    """Answers are no failures; an error has a line of its own, and is counted at the end."""
    assert lines_of(STARTED, answer(), answer(), FAILED, ENDED) == [
        "calibration c1: 3 answers, models: small, large",
        "! s1  small  timeout: no answer in 60 s",
        "calibration c1 ended after 2s: 3/3 done, 1 error, $0.02",
    ]


def test_a_heartbeat_says_how_far_it_is() -> None:
    """Every so often a line, with no word of grading in it."""
    now = 0.0
    stream = io.StringIO()
    watch = LineWatcher(stream, lambda: now, wording=CALIBRATION)
    watch(STARTED)
    watch(answer())
    now = 10.0
    watch.beat()
    assert stream.getvalue().splitlines()[-1] == "1/3 done, 0 in flight, $0.01"


def test_a_calibration_that_cannot_go_on_is_called_one() -> None:
    """The reason for stopping names the work."""
    assert lines_of(Stopping("fault", 0)) == ["the calibration cannot go on: stopping"]


def test_more_errors_than_lines_are_left_to_the_report() -> None:
    """Nobody is sent to a file of results."""
    assert lines_of(*[FAILED] * 101)[-1] == "… and more: the report counts them all"


def test_the_board_counts_answers_and_errors_alone() -> None:
    """What one hopes for is green."""
    progress = Progress(still)
    for event in (STARTED, Begun(1), answer(), answer(), FAILED):
        progress(event)
    rows = board_rows(progress, 80, CALIBRATION)
    assert [(piece.text, piece.colour) for piece in rows[0]] == [("2 answers", "green"), ("1 error", "magenta")]
    assert rows[1][0].text == "calibration c1"


def test_quiet_says_notices_alone() -> None:
    """They may mean that something is lost."""
    stream = io.StringIO()
    with calibration_watcher("quiet", out=io.StringIO(), err=stream) as watch:
        for event in (STARTED, FAILED, Notice("lost"), ENDED):
            watch(event)
    assert stream.getvalue() == "note: lost\n"


class Terminal(io.StringIO):
    """Says that a person is looking."""

    def isatty(self) -> bool:
        return True


def test_a_person_sees_it_live_and_a_pipe_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same choice as for a run."""
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(calibration_watcher("auto", out=io.StringIO(), err=Terminal()), LiveWatcher)
    assert isinstance(calibration_watcher("auto", out=io.StringIO(), err=io.StringIO()), LineWatcher)
    assert isinstance(calibration_watcher("quiet", out=io.StringIO(), err=Terminal()), QuietWatcher)
