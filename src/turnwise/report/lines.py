"""Watching a run as plain lines: for pipes, logs and terminals that cannot do more. No control characters."""

from __future__ import annotations

import os
from collections.abc import Callable
from math import inf
from threading import Event as Flag
from threading import RLock, Thread
from time import monotonic
from types import TracebackType
from typing import Literal, Self, TextIO

from ..engine.events import Ended, Event, Notice, Started, Stopping
from .highlights import Highlights
from .progress import Progress, Watcher
from .progress_text import RUN, Wording, cost_text, eta_text, held_up_texts, motion_texts, outcome_texts, stopping_text
from .words import counted, duration_text, shown

__all__ = ["LineWatcher", "Output", "QuietWatcher", "StreamWatcher", "watcher"]

MOST_FAILURES = 100
SECONDS_BETWEEN = 10.0


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


class StreamWatcher:
    """What watchers that write lines share: a stream that is checked when all is over."""

    def __init__(self, stream: TextIO) -> None:
        self._output = Output(stream)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        if error is None:
            self._output.check()


class QuietWatcher(StreamWatcher):
    """Says nothing but notices: they may mean that something is lost."""

    def __call__(self, event: Event, /) -> None:
        """Write a notice; nothing else."""
        if isinstance(event, Notice):
            self._output.line(f"note: {shown(event.message)}")


class LineWatcher(StreamWatcher):
    """A line at the start and the end, for what fails, and every ten seconds for how far the run is.

    The latter come from a thread of their own: a run in which nothing happens says so, too.
    """

    def __init__(
        self,
        stream: TextIO,
        clock: Callable[[], float] = monotonic,
        seconds_between: float = SECONDS_BETWEEN,
        wording: Wording = RUN,
    ) -> None:
        super().__init__(stream)
        self.progress = Progress(clock)
        self._clock = clock
        self._between = seconds_between
        self._next = inf
        self._wording = wording
        self._highlights = Highlights(MOST_FAILURES, wording.more)
        # Reentrant, as a signal handler may tell of an interrupt in the middle of an event.
        self._lock = RLock()
        self._over = Flag()
        self._heart = Thread(target=self._beat_until_over, name="turnwise-heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._heart.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self._over.set()
        self._heart.join()
        super().__exit__(kind, error, trace)

    def __call__(self, event: Event, /) -> None:
        """Write what the event is worth, if anything."""
        with self._lock:
            self.progress(event)
            highlight = self._highlights.of(event)
            if highlight is not None:
                self._output.line(highlight.text)
            if isinstance(event, Started):
                self._start(event)
            elif isinstance(event, Stopping):
                self._output.line(stopping_text(event.reason, event.in_flight, self._wording.work))
            elif isinstance(event, Ended):
                self._next = inf
                self._output.line(_end_line(event, self.progress, self._wording))
            else:
                self.beat()

    def beat(self) -> None:
        """Say how far the run is, if it is time to."""
        with self._lock:
            if self._clock() >= self._next:
                self._next = self._clock() + self._between
                self._output.line(_progress_line(self.progress, self._wording))

    def _beat_until_over(self) -> None:
        while not self._over.wait(min(max(self._next - self._clock(), 0.0), self._between)):
            self.beat()

    def _start(self, event: Started) -> None:
        self._next = self._clock() + self._between
        resumed = f" ({event.done:,} done before)" if event.done else ""
        words = self._wording
        targets = f"{words.targets}: {shown(', '.join(event.targets))}"
        results = counted(event.results, words.result)
        self._output.line(f"{words.work} {shown(event.run_id)}: {results}{resumed}, {targets}")


def _done(progress: Progress) -> str:
    before = "all" if progress.new == 0 else f"{progress.earlier:,}"
    return f"{progress.done}/{progress.total} done" + (f" ({before} before)" if progress.earlier else "")


def _outcomes(progress: Progress, wording: Wording) -> list[str]:
    """What went wrong, and what it cost. In a resumed run these are figures of now, beside a total."""
    texts = outcome_texts(progress, wording)
    wrong = [outcome.status for outcome in wording.outcomes[1:]]
    figures = [*(texts[status] for status in wrong if progress.count(status)), cost_text(progress)]
    return [f"{each} now" if progress.earlier else each for each in figures if each]


def _progress_line(progress: Progress, wording: Wording) -> str:
    figures = [_done(progress), *motion_texts(progress), *_outcomes(progress, wording), eta_text(progress)]
    return ", ".join(each for each in [*figures, *held_up_texts(progress)] if each)


def _end_line(event: Ended, progress: Progress, wording: Wording) -> str:
    early = f", {event.stopped}" if event.stopped is not None else ""
    left = f"{event.left} left{early}" if event.left else early.removeprefix(", ")
    figures = ", ".join(each for each in [_done(progress), *_outcomes(progress, wording), left] if each)
    return f"{wording.work} {shown(event.run_id)} ended after {duration_text(event.seconds)}: {figures}"


def watcher(kind: Literal["auto", "json", "quiet"], *, out: TextIO, err: TextIO, wording: Wording = RUN) -> Watcher:
    """Whoever is to watch: `json` writes to `out`, the others to `err`; `auto` is live where a person is looking."""
    if kind == "json":
        from .event_json import JsonWatcher

        return JsonWatcher(out)
    if kind == "quiet":
        return QuietWatcher(err)
    if err.isatty() and os.environ.get("TERM") not in ("dumb", "unknown"):
        from .live import LiveWatcher

        return LiveWatcher(err, wording=wording)
    return LineWatcher(err, wording=wording)
