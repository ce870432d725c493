"""Watching a run as data: one JSON object a line, each written as soon as it happens.

`event` says which it is; null stands for what is not known or not there.

start     run_id, folder, results (all of the plan), done (those of an earlier part), targets, suites, workers
result    suite, case_id, target, variant, trial, status (passed, failed, ungraded, error), score, latency_ms,
          cost_usd, attempts (0: from the cache), error {kind, message, hint}, failed_graders [{name, reason}],
          in_flight (others that are under way); of an agent also agent {log, workspace (if it was kept)}
retry     target, attempt (the one about to be sent), of (at most), delay_s, error {kind, message}
slowed    target, allowed (requests at once for now; as many as most: back at full speed), most (requests at once
          otherwise)
notice    message
stopping  reason (interrupted, budget, fault), in_flight
end       run_id, folder, left (results that are missing), stopped (as reason above), seconds
summary   summary (the whole summary); the last line

That a piece of work begins is no line of its own: there are too many, and each result says what is in flight. Whole
results, with conversations and answers, are in the folder's `results.jsonl`. New fields and events may come:
skip those that you do not know.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..engine.events import Begun, Ended, Event, Notice, ResultDone, Retried, Slowed, Started, Stopping
from .lines import StreamWatcher

__all__ = ["JsonWatcher", "event_record"]

_FIELDS = (
    "suite", "case_id", "target", "variant", "trial", "status", "score", "latency_ms", "cost_usd", "attempts",
)  # fmt: skip


class JsonWatcher(StreamWatcher):
    """Writes each event as a line of JSON."""

    def __call__(self, event: Event, /) -> None:
        """Write an event, if it has a line."""
        record = event_record(event)
        if record is not None:
            self._write(record)

    def summary(self, summary: Mapping[str, Any]) -> None:
        """Write the summary: the last line. Raises `OSError` if it, or a line before it, could not be written."""
        self._write({"event": "summary", "summary": dict(summary)})
        self._output.check()

    def _write(self, record: Mapping[str, Any]) -> None:
        # Escaped to ASCII: fits every encoding, and does no harm where it lands on a terminal.
        self._output.line(json.dumps(record, separators=(",", ":")))


def event_record(event: Event) -> dict[str, Any] | None:
    """An event as plain data, as this module describes it; None if it has no line.

    >>> event_record(Slowed("model", allowed=2, most=8))
    {'event': 'slowed', 'target': 'model', 'allowed': 2, 'most': 8}
    """
    match event:
        case ResultDone():
            return _result(event)
        case Started():
            return _start(event)
        case Retried():
            return _retry(event)
        case Slowed():
            return {"event": "slowed", "target": event.target, "allowed": event.allowed, "most": event.most}
        case Notice():
            return {"event": "notice", "message": event.message}
        case Stopping():
            return {"event": "stopping", "reason": event.reason, "in_flight": event.in_flight}
        case Ended():
            return _end(event)
        case Begun():
            return None


def _start(event: Started) -> dict[str, Any]:
    return {
        "event": "start",
        "run_id": event.run_id,
        "folder": str(event.folder),
        "results": event.results,
        "done": event.done,
        "targets": list(event.targets),
        "suites": list(event.suites),
        "workers": event.workers,
    }


def _result(event: ResultDone) -> dict[str, Any]:
    record, error, agent = event.record, event.record["error"], event.record.get("agent")
    failed = [grade for grade in record["grades"] if grade["passed"] is False]
    return {
        "event": "result",
        **{name: record[name] for name in _FIELDS},
        "error": None if error is None else {**_named(error), "hint": error.get("hint")},
        "failed_graders": [{"name": grade["name"], "reason": grade["reason"]} for grade in failed],
        "in_flight": event.in_flight,
        **({} if agent is None else {"agent": {"log": agent["log"], "workspace": agent["workspace"]}}),
    }


def _named(error: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": error["kind"], "message": error["message"]}


def _retry(event: Retried) -> dict[str, Any]:
    retry = event.retry
    return {
        "event": "retry",
        "target": event.target,
        "attempt": retry.attempt,
        "of": retry.of,
        "delay_s": retry.delay,
        "error": {"kind": retry.error.kind, "message": str(retry.error)},
    }


def _end(event: Ended) -> dict[str, Any]:
    return {
        "event": "end",
        "run_id": event.run_id,
        "folder": str(event.folder),
        "left": event.left,
        "stopped": event.stopped,
        "seconds": event.seconds,
    }
