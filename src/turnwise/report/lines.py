"""Watching a run as plain lines: for pipes, logs and terminals that cannot do more. No control characters."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from time import monotonic
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self, TextIO

from ..engine.events import Ended, Event, Notice, ResultDone, Slowed, Started, Stopping
from .progress import Progress, Watcher, cost_text, duration_text, rate_text
from .terminal import one_line

__all__ = [
    "Highlight",
    "Highlights",
    "LineWatcher",
    "Output",
    "QuietWatcher",
    "failure_line",
    "shown",
    "stopping_text",
    "watcher",
]

LONGEST_LINE = 400
MOST_FAILURES = 100
SECONDS_BETWEEN = 10.0
MORE = "… and more: see the summary"


def shown(text: str, longest: int = LONGEST_LINE) -> str:
    """A text that others wrote, as a part of one line: harmless, and not longer than it may be.

    >>> shown("a\\x1b[2Jb\\tc"), shown("abcdef", 4)
    ('a␛[2Jb c', 'abc…')
    """
    harmless = one_line(text[: longest + 1]).replace("\t", " ")
    return harmless if len(harmless) <= longest else harmless[: longest - 1] + "…"


def failure_line(record: Mapping[str, Any]) -> str:
    """A result that failed or is an error, in one line: mark, case, target and why."""
    mark = "!" if record["status"] == "error" else "✗"
    variant = f"/{record['variant']}" if record["variant"] is not None else ""
    trial = f"#{record['trial']}" if record["trial"] > 1 else ""
    return shown(f"{mark} {record['case_id']}  {record['target']}{variant}{trial}  {_why(record)}")


def _why(record: Mapping[str, Any]) -> str:
    error = record["error"]
    if error is not None:
        return f"{error['kind']}: {error['message']}"
    for grade in record["grades"]:
        if grade["passed"] is False:
            return f"{grade['name']}: {grade['reason']}"
    if record["score"] is None:
        return "no reason was given"
    return f"the score {record['score']:.2f} is below {record['threshold']:.2f}"


def stopping_text(reason: str, in_flight: int | None) -> str:
    """Why nothing more is started, and what is still awaited."""
    rest = f"finishing {in_flight} in flight" if in_flight else "stopping"
    if reason == "interrupted":
        return f"{rest}; press Ctrl-C again to stop now" if in_flight else rest
    return f"{'the budget is used up' if reason == 'budget' else 'the run cannot go on'}: {rest}"


class Highlight(NamedTuple):
    """A line worth showing at once, and the colour for those who see colours."""

    text: str
    colour: str


class Highlights:
    """Picks what is shown as it happens: failures and errors up to a limit, notices, a target's first slow-down."""

    def __init__(self, most_failures: int) -> None:
        self._room = most_failures
        self._slowed: set[str] = set()

    def of(self, event: Event) -> Highlight | None:
        """The line for an event, if it deserves one."""
        if isinstance(event, ResultDone):
            return self._failure(event.record) if event.record["status"] in ("failed", "error") else None
        if isinstance(event, Notice):
            return Highlight(f"note: {shown(event.message)}", "yellow")
        return self._slow(event) if isinstance(event, Slowed) else None

    def _failure(self, record: Mapping[str, Any]) -> Highlight | None:
        if self._room < 0:
            return None
        self._room -= 1
        if self._room < 0:
            return Highlight(MORE, "yellow")
        return Highlight(failure_line(record), "magenta" if record["status"] == "error" else "red")

    def _slow(self, event: Slowed) -> Highlight | None:
        if event.target in self._slowed or event.allowed >= event.most:
            return None
        self._slowed.add(event.target)
        limit = f"at most {event.allowed} of {event.most} requests at once for now"
        return Highlight(f"slowed: {shown(event.target)} is overrun; {limit}", "yellow")


class Output:
    """A stream of lines. Where nobody reads any more, the run goes on: `check` tells it afterwards."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lost: OSError | None = None

    def line(self, text: str) -> None:
        """Write a line, and have it seen at once."""
        if self._lost is not None:
            return
        try:
            self._stream.write(text + "\n")
            self._stream.flush()
        except OSError as error:
            self._lost = error

    def check(self) -> None:
        """Raise what kept lines from being written, if anything did."""
        if self._lost is not None:
            raise self._lost


class _TextWatcher:
    """What the plain watchers share: a stream that is checked when all is over."""

    def __init__(self, stream: TextIO) -> None:
        self._output = Output(stream)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        if error is None:
            self._output.check()


class QuietWatcher(_TextWatcher):
    """Says nothing but notices: they may mean that something is lost."""

    def __call__(self, event: Event, /) -> None:
        """Write a notice; nothing else."""
        if isinstance(event, Notice):
            self._output.line(f"note: {shown(event.message)}")


class LineWatcher(_TextWatcher):
    """A line at the start and the end, for what fails, and now and then for how far the run is."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(stream)
        self.progress = Progress(clock)
        self._clock = clock
        self._next = clock() + SECONDS_BETWEEN
        self._highlights = Highlights(MOST_FAILURES)

    def __call__(self, event: Event, /) -> None:
        """Write what the event is worth, if anything."""
        self.progress(event)
        highlight = self._highlights.of(event)
        if highlight is not None:
            self._output.line(highlight.text)
        if isinstance(event, Started):
            self._start(event)
        elif isinstance(event, Stopping):
            self._output.line(stopping_text(event.reason, event.in_flight))
        elif isinstance(event, Ended):
            self._output.line(_end_line(event, self.progress))
        elif self._clock() >= self._next:
            self._next = self._clock() + SECONDS_BETWEEN
            self._output.line(_progress_line(self.progress))

    def _start(self, event: Started) -> None:
        self._next = self._clock() + SECONDS_BETWEEN
        resumed = f" ({event.done} done before)" if event.done else ""
        targets = shown(", ".join(event.targets))
        results = "1 result" if event.results == 1 else f"{event.results:,} results"
        self._output.line(f"run {shown(event.run_id)}: {results}{resumed}, targets: {targets}")


def _counts(progress: Progress) -> list[str]:
    counted = {"failed": progress.failed, "ungraded": progress.ungraded}
    errors = f"{progress.errors} {'error' if progress.errors == 1 else 'errors'}" if progress.errors else ""
    done = f"{progress.done}/{progress.total} done"
    return [done, *(f"{count} {name}" for name, count in counted.items() if count), errors]


def _progress_line(progress: Progress) -> str:
    pace, eta = progress.pace, progress.eta
    speed = [rate_text(pace) if pace else "", f"ETA {duration_text(eta)}" if eta is not None else ""]
    return ", ".join(each for each in [*_counts(progress), *speed, cost_text(progress)] if each)


def _end_line(event: Ended, progress: Progress) -> str:
    early = f", {event.stopped}" if event.stopped is not None else ""
    left = f"{event.left} left{early}" if event.left else early.removeprefix(", ")
    figures = ", ".join(each for each in [*_counts(progress), cost_text(progress), left] if each)
    return f"run {shown(event.run_id)} ended after {duration_text(event.seconds)}: {figures}"


def watcher(kind: Literal["auto", "json", "quiet"], *, out: TextIO, err: TextIO) -> Watcher:
    """Whoever is to watch: `json` writes to `out`, the others to `err`; `auto` is live where a person is looking."""
    if kind == "json":
        from .event_json import JsonWatcher

        return JsonWatcher(out)
    if kind == "quiet":
        return QuietWatcher(err)
    if err.isatty() and os.environ.get("TERM") not in ("dumb", "unknown"):
        from .live import LiveWatcher

        return LiveWatcher(err)
    return LineWatcher(err)
