"""What of a run is worth a line of its own as it happens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..engine.events import Event, Notice, ResultDone, Slowed
from ..engine.summary_reasons import is_failure, why_not_passed
from ..engine.summary_traces import failure_traces
from .progress_text import RUN
from .words import OncePerHint, failure_text, shown

__all__ = ["MORE", "Highlight", "Highlights", "failure_line"]

MORE = RUN.more
_COLOURS = {"failed": "red", "error": "magenta", "ungraded": "yellow"}


def failure_line(record: Mapping[str, Any]) -> str:
    """A result that did not pass, in one line: mark, case, target and why."""
    why = why_not_passed(record)
    case, target, variant, trial = (record[name] for name in ("case_id", "target", "variant", "trial"))
    return shown(failure_text(record["status"], case, target, variant, trial, why))


class Highlight(NamedTuple):
    """A line worth showing at once, and the colour for those who see colours."""

    text: str
    colour: str


class Highlights:
    """Picks what is shown as it happens: what did not pass, up to a limit; notices; a target's first slow-down. What
    can be done about errors is said once for each kind of help."""

    def __init__(self, most_failures: int, more: str = MORE) -> None:
        self._room = most_failures
        self._more = more
        self._slowed: set[str] = set()
        self._hints = OncePerHint()

    def of(self, event: Event) -> Highlight | None:
        """The line for an event, if it deserves one."""
        if isinstance(event, ResultDone):
            status = event.record["status"]
            return None if status == "passed" else self._failure(status, event.record)
        if isinstance(event, Notice):
            return Highlight(f"note: {shown(event.message)}", "yellow")
        return self._slow(event) if isinstance(event, Slowed) else None

    def _failure(self, status: str, record: Mapping[str, Any]) -> Highlight | None:
        if self._room < 0 or not is_failure(status, record["grades"]):
            return None
        self._room -= 1
        if self._room < 0:
            return Highlight(self._more, "yellow")
        hint = self._hints.line(failure_traces(record).hint)
        return Highlight("\n".join([failure_line(record), *hint]), _COLOURS[status])

    def _slow(self, event: Slowed) -> Highlight | None:
        if event.target in self._slowed or event.allowed >= event.most:
            return None
        self._slowed.add(event.target)
        limit = f"at most {event.allowed} of {event.most} requests at once for now"
        return Highlight(f"slowed: {shown(event.target)} is overrun; {limit}", "yellow")
