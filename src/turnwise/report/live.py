"""Watching a run on a terminal: a bar that stays at the bottom, and what fails above it as it happens.

Events only count and queue; a thread of its own paints, eight times a second. Rich is imported when it starts.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator
from threading import Event as Flag
from threading import Thread
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, TextIO

from ..engine.events import Event
from .highlights import Highlight, Highlights
from .progress import Progress
from .progress_text import RUN, Wording, cost_text, eta_text, held_up_texts, motion_texts, outcome_texts, stopping_text
from .words import duration_text, shown

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.live import Live
    from rich.text import Text

__all__ = ["LiveWatcher", "Piece", "board_rows"]

MOST_FAILURES = 20
PAINTS_PER_SECOND = 8
_BETWEEN = " · "
_INDENT = "  "
_COLOURS = {"failed": "red", "ungraded": "yellow", "error": "magenta"}


class Piece(NamedTuple):
    """A few words of the board that stay together, and their colour."""

    text: str
    colour: str = ""


class LiveWatcher:
    """Shows a run on a terminal. Leaving gives the terminal back, whatever happened."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = monotonic, wording: Wording = RUN) -> None:
        self.progress = Progress(clock)
        self._stream = stream
        self._wording = wording
        self._highlights = Highlights(MOST_FAILURES, wording.more)
        self._pending: deque[Highlight] = deque()
        self._over = Flag()
        self._painter = Thread(target=self._paint_until_over, name="turnwise-display", daemon=True)
        self._lost: OSError | None = None
        self._live: Live | None = None

    def __call__(self, event: Event, /) -> None:
        """Count an event, and remember what is to be shown of it."""
        self.progress(event)
        highlight = self._highlights.of(event)
        if highlight is not None:
            self._pending.append(highlight)

    def __enter__(self) -> LiveWatcher:
        self._live = _live(self._stream, self.progress, self._wording)
        try:
            self._live.start(refresh=True)
            self._painter.start()
        except BaseException:
            self._restore()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        try:
            self._over.set()
            self._painter.join()
            self._paint()
        finally:
            self._restore()
        if error is None and self._lost is not None:
            raise self._lost

    def _paint_until_over(self) -> None:
        while self._lost is None and not self._over.wait(1 / PAINTS_PER_SECOND):
            self._paint()

    def _paint(self) -> None:
        if self._live is None or self._lost is not None:
            return
        try:
            lines = [self._pending.popleft() for _ in range(len(self._pending))]
            if lines:
                _print_above(self._live.console, lines)  # repaints the board, too
            else:
                self._live.refresh()
        except OSError as error:  # the terminal is gone: the run goes on, and this is raised at its end
            self._lost = error

    def _restore(self) -> None:
        assert self._live is not None
        try:
            self._live.stop()
        except OSError as error:
            self._lost = self._lost or error
        except BaseException:  # a Ctrl-C in between must not leave the cursor hidden
            self._live.console.show_cursor(True)
            raise


def _live(stream: TextIO, progress: Progress, wording: Wording) -> Live:
    from rich.console import Console
    from rich.live import Live

    console = Console(file=stream, markup=False, emoji=False, highlight=False)
    return Live(
        _Board(progress, wording),
        console=console,
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,  # it may be a file: what belongs there must not end up here
        redirect_stderr=stream is sys.stderr,
    )


def _print_above(console: Console, lines: list[Highlight]) -> None:
    from rich.console import Group
    from rich.text import Text

    rows = [_wrapped(Text(line.text, style=line.colour), console) for line in lines]
    console.print(Group(*(row for each in rows for row in each)))


def _wrapped(text: Text, console: Console) -> Iterator[Text]:
    """The text in lines that fit the terminal; what continues a line is indented."""
    from rich.text import Text

    room = max(console.width - len(_INDENT), 1)
    for number, line in enumerate(text.wrap(console, room, overflow="fold")):
        indent = _INDENT if number and console.width > len(_INDENT) else ""
        yield Text.assemble(indent, line, no_wrap=True, overflow="crop")


class _Board:
    """What stays at the bottom: made anew, at the terminal's present width, each time it is painted."""

    def __init__(self, progress: Progress, wording: Wording = RUN) -> None:
        self._progress = progress
        self._wording = wording

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        full, empty = ("=", "-") if options.ascii_only else ("━", "─")
        yield Text.assemble(*_bar(self._progress, options.max_width, full, empty), no_wrap=True, overflow="crop")
        for row in board_rows(self._progress, options.max_width, self._wording):
            yield Text(_BETWEEN, overflow="ellipsis").join(Text(*piece) for piece in row)


def _bar(progress: Progress, width: int, full: str, empty: str) -> list[tuple[str, str]]:
    label = f" {progress.done}/{progress.total}"
    room = max(width - len(label), 0)
    filled = room * min(progress.done, progress.total) // progress.total if progress.total else 0
    return [(full * filled, "green"), (empty * (room - filled), ""), (label, "")]


def board_rows(progress: Progress, width: int, wording: Wording = RUN) -> list[list[Piece]]:
    """The rows below the bar: each holds as many pieces as fit."""
    work = wording.work
    groups = (_outcomes(progress, wording), _motion(progress, work), _held_up(progress), _stopping(progress, work))
    return [row for group in groups for row in _packed(group, width)]


def _packed(pieces: list[Piece], width: int) -> Iterator[list[Piece]]:
    row: list[Piece] = []
    for piece in pieces:
        if row and len(_BETWEEN.join(each.text for each in [*row, piece])) > width:
            yield row
            row = []
        row.append(piece)
    if row:
        yield row


def _outcomes(progress: Progress, wording: Wording) -> list[Piece]:
    hoped_for = wording.outcomes[0].status
    colours = {**_COLOURS, hoped_for: "green"}
    outcomes = [
        Piece(text, colours[status] if progress.count(status) else "")
        for status, text in outcome_texts(progress, wording).items()
    ]
    return [*outcomes, Piece(f"{progress.earlier:,} done before")] if progress.earlier else outcomes


def _motion(progress: Progress, work: str) -> list[Piece]:
    texts = (
        *([f"{work} {shown(progress.run_id, 40)}", duration_text(progress.elapsed)] if progress.run_id else ()),
        *motion_texts(progress),
        f"{progress.from_cache:,} from the cache" if progress.from_cache else "",
        cost_text(progress),
        eta_text(progress),
    )
    return [Piece(text) for text in texts if text]


def _held_up(progress: Progress) -> list[Piece]:
    return [Piece(text, "yellow") for text in held_up_texts(progress)]


def _stopping(progress: Progress, work: str) -> list[Piece]:
    reason = progress.stopping
    return [] if reason is None else [Piece(stopping_text(reason, progress.in_flight, work), "yellow")]
