"""What can be done about errors, and where an agent's work is kept: said where results are shown, and not too often."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from turnwise.engine.events import ResultDone
from turnwise.engine.summary import Tally
from turnwise.engine.summary_traces import NO_TRACES, failure_traces
from turnwise.engine.verdict import judge
from turnwise.report.event_json import event_record
from turnwise.report.highlights import Highlights
from turnwise.report.summary import summary_text

INSTALL = "install it with `npm install -g agent`"


def failed(case_id: str, hint: str | None = INSTALL, **fields: Any) -> dict[str, Any]:
    """A result without an answer."""
    error = {"kind": "setup", "message": "it is not installed", "status": None, "retryable": False, "hint": hint}
    return {
        "suite": None, "case_id": case_id, "target": "coder", "variant": None, "trial": 1, "status": "error",
        "score": None, "grades": [], "latency_ms": None, "cost_usd": None, "attempts": 0, "error": error, **fields,
    }  # fmt: skip


def summary_of(*records: dict[str, Any]) -> str:
    """The summary for a terminal."""
    tally = Tally()
    for record in records:
        tally.add(record)
    summary = tally.summary()
    return summary_text(summary, judge(summary))


def test_a_hint_is_shown_once_as_it_happens() -> None:
    """It stands below the first result that it helps with; the others have the same, or another one."""
    highlights = Highlights(100)
    records = [failed("a"), failed("b"), failed("c", "wait"), failed("d", None)]
    texts = [found.text for each in records if (found := highlights.of(ResultDone(each, 0))) is not None]
    below = [text.splitlines()[1:] for text in texts]
    assert below == [[f"  hint: {INSTALL}"], [], ["  hint: wait"], []]


def test_a_hint_is_shown_once_in_the_summary() -> None:
    """The list of what did not pass says what to do."""
    text = summary_of(failed("a"), failed("b"))
    assert text.count(INSTALL) == 1
    assert text.index("! a  coder") < text.index(f"  hint: {INSTALL}") < text.index("! b  coder")


def test_a_hint_cannot_write_to_the_terminal() -> None:
    """A server may have had a part in it."""
    hostile = failed("a", "a\x1b[2Jb\nc d")
    found = Highlights(1).of(ResultDone(hostile, 0))
    assert found is not None
    for text in (found.text, summary_of(hostile)):
        assert "\x1b" not in text
        assert "hint: a␛[2Jb" in text
        assert "\nc " not in text


def test_the_log_and_the_workspace_of_an_agent_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What did not pass says where to look; paths below the current folder are short, and none is cut."""
    monkeypatch.chdir(tmp_path)
    log = tmp_path / "runs" / ("long-" * 30) / "a-1.log"
    agent = {"log": str(log), "workspace": "/elsewhere/workspace"}
    lines = summary_of(failed("a", agent=agent), failed("b", agent={"log": None, "workspace": None})).splitlines()
    assert f"  log: {log.relative_to(tmp_path)}" in lines
    assert "  workspace: /elsewhere/workspace" in lines
    assert sum("log: " in line for line in lines) == 1


def test_the_summary_has_them_as_data() -> None:
    """`failures` of the JSON form hold the hint, the log and the workspace."""
    tally = Tally()
    tally.add(failed("a", agent={"log": "/l/a-1.log", "workspace": "/w"}))
    (failure,) = tally.summary().as_dict()["failures"]
    assert (failure["hint"], failure["log"], failure["workspace"]) == (INSTALL, "/l/a-1.log", "/w")


def test_events_name_them_too() -> None:
    """The event of a result has the hint of its error, and what is kept of an agent; others know of no agent."""
    agent = {"log": "/l/a-1.log", "workspace": None, "diff": "long"}
    event = event_record(ResultDone(failed("a", agent=agent), 0))
    assert event is not None
    assert event["error"]["hint"] == INSTALL
    assert event["agent"] == {"log": "/l/a-1.log", "workspace": None}
    plain = event_record(ResultDone(failed("a"), 0))
    assert plain is not None
    assert "agent" not in plain


@pytest.mark.parametrize(
    "record",
    [{}, {"error": "no"}, {"error": {"hint": 3}, "agent": [1]}, {"error": {"hint": ""}, "agent": {"log": 7}}],
)
def test_what_other_programs_wrote_does_no_harm(record: dict[str, Any]) -> None:
    """A line of results may hold anything in these places."""
    assert failure_traces(record) == NO_TRACES
