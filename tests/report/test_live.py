"""Watching a run on a terminal: a real one, though nobody sits at it."""

from __future__ import annotations

import io
import os
import re
import select
import signal
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from turnwise.engine.events import Begun, Event, Notice, ResultDone, Retried, Slowed, Started, Stopping
from turnwise.errors import RateLimitError
from turnwise.providers.retries import Retry
from turnwise.report.highlights import Highlight, failure_line
from turnwise.report.live import LiveWatcher, _Board, _print_above, board_rows
from turnwise.report.progress import Progress

fcntl = pytest.importorskip("fcntl")
pty = pytest.importorskip("pty")
termios = pytest.importorskip("termios")

LONGEST_WAIT = 10.0
HIDE, SHOW = b"\x1b[?25l", b"\x1b[?25h"
STARTED = Started("r1", Path("runs/r1"), 1000, 0, ("small",), ("suite.yaml",), 8)
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
HARM = "a\x1b[2J\x1b]0;forged\x07\r\n[bold red]b[/] :smile:"

# The child says READY on standard output, which is a pipe, when the display is up.
PROGRAM = """
import sys, time
from pathlib import Path
from turnwise.engine.events import Notice, ResultDone, Started
from turnwise.report.lines import watcher

def result(case_id):
    grades = [{{"name": "exact", "passed": False, "reason": {harm!r}}}]
    return ResultDone(dict(case_id=case_id, target={harm!r}, variant=None, trial=1, status="failed", error=None,
        grades=grades, score=0.0, threshold=0.5, attempts=1, cost_usd=None, paid=True), 3)

def ready():
    sys.stdout.write("READY\\n")
    sys.stdout.flush()

try:
    with watcher("auto", out=sys.stdout, err=sys.stderr) as watch:
        watch(Started("r1", Path("runs/r1"), 50, 0, ("small",), ("suite.yaml",), 8))
        {body}
except KeyboardInterrupt:
    sys.exit(130)
except ZeroDivisionError:
    sys.exit(3)
"""


def set_columns(terminal: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


class Child:
    """A process whose standard error is a terminal; `shown` is all that appeared there."""

    def __init__(self, body: str, columns: int = 80, no_color: str = "") -> None:
        self.terminal, inner = pty.openpty()
        set_columns(self.terminal, columns)
        kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "FORCE_COLOR")}
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM.format(harm=HARM, body=body)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=inner,
            env={**kept, "TERM": "xterm-256color", "NO_COLOR": no_color},
        )  # fmt: skip
        os.close(inner)
        self.shown = b""

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.terminal)
        with self.process:
            if self.process.poll() is None:
                self.process.kill()

    def wait_until_ready(self) -> None:
        assert self.process.stdout is not None
        assert select.select([self.process.stdout], [], [], LONGEST_WAIT)[0], "the display did not come up"
        assert self.process.stdout.readline() == b"READY\n"

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"go on\n")
        self.process.stdin.flush()

    def read(self) -> bool:
        """Take what is there; False: nobody writes any more."""
        assert select.select([self.terminal], [], [], LONGEST_WAIT)[0], "nothing was painted"
        try:
            read = os.read(self.terminal, 65536)
        except OSError:  # as Linux has it
            read = b""
        self.shown += read
        return bool(read)

    def end(self) -> int:
        """Read all there will be; the exit code."""
        while self.read():
            pass
        return self.process.wait(LONGEST_WAIT)


def visible_lines(shown: bytes) -> list[str]:
    """What was written, without what only moves and colours."""
    return [line for line in re.split(r"[\r\n]+", ESCAPES.sub("", shown.decode())) if line]


@pytest.mark.parametrize(
    ("body", "code"), [("watch(result('one'))", 0), ("1 / 0", 3), ("raise KeyboardInterrupt", 130)]
)
def test_the_terminal_is_given_back(body: str, code: int) -> None:
    """The cursor is hidden while the display is up and shown when it is over, whatever ended it."""
    with Child(body) as child:
        assert child.end() == code
    assert HIDE in child.shown
    assert child.shown.rindex(SHOW) > child.shown.rindex(HIDE)
    assert b"Traceback" not in child.shown


def test_the_terminal_is_given_back_after_ctrl_c() -> None:
    """An interrupt in the middle of it leaves a cursor, too."""
    with Child("ready(); time.sleep(20)") as child:
        child.wait_until_ready()
        child.process.send_signal(signal.SIGINT)
        assert child.end() == 130
    assert child.shown.rindex(SHOW) > child.shown.rindex(HIDE)
    assert b"Traceback" not in child.shown


def test_no_text_of_others_commands_the_terminal() -> None:
    """Escape sequences, line breaks and markup of ids, targets and reasons are shown, not obeyed."""
    with Child(f"watch(result({HARM!r})); watch(Notice({HARM!r}))", columns=300) as child:
        assert child.end() == 0
    assert b"\x1b[2J" not in child.shown
    assert b"\x1b]" not in child.shown
    assert b"\x07" not in child.shown
    seen = "a␛[2J␛]0;forged␇␍␊[bold red]b[/] :smile:"
    lines = visible_lines(child.shown)
    assert f"✗ {seen}  {seen}  exact: {seen}" in lines
    assert f"note: {seen}" in lines


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colour_is_a_wish(no_color: str, coloured: bool) -> None:
    """With NO_COLOR, nothing is coloured or made bold."""
    with Child("watch(result('one'))", no_color=no_color) as child:
        assert child.end() == 0
    assert bool(re.search(rb"\x1b\[[0-9;]*m", child.shown)) is coloured


def test_a_terminal_that_shrinks_gets_shorter_lines() -> None:
    """What is painted after a change has the new width."""
    with Child("ready(); sys.stdin.readline(); watch(result('late'))", columns=100) as child:
        child.wait_until_ready()
        while b"0 errors" not in child.shown:
            assert child.read()
        before = visible_lines(child.shown)
        set_columns(child.terminal, 40)
        child.go_on()
        assert child.end() == 0
    assert max(len(line) for line in before) == 100
    lines = visible_lines(child.shown)
    begin = next(number for number, line in enumerate(lines) if line.startswith("✗ late"))
    assert all(len(line) <= 40 for line in lines[begin:])


def test_a_long_failure_is_wrapped_not_cut() -> None:
    """On a narrow terminal every word of it is there, and what continues a line is indented."""
    reason = " ".join(f"word{number:02}" for number in range(30))
    event = result("failed", grades=[{"name": "exact", "passed": False, "reason": reason}])
    console = Console(file=io.StringIO(), width=40, force_terminal=True, no_color=True)
    with console.capture() as capture:
        _print_above(console, [Highlight(failure_line(event.record), "red")])
    first, *others = ESCAPES.sub("", capture.get()).splitlines()
    assert first.startswith("✗ capital  small  exact: word00")
    assert max(map(len, (first, *others))) <= 40
    assert all(line.startswith("  ") for line in others)
    assert " ".join(line.strip() for line in (first, *others)).endswith(f"exact: {reason}")


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_no_terminal_is_too_narrow(width: int) -> None:
    """Even one without room for an indent loses no letter."""
    console = Console(file=io.StringIO(), width=width, force_terminal=True, no_color=True)
    with console.capture() as capture:
        _print_above(console, [Highlight("abcdefgh", "red")])
    lines = ESCAPES.sub("", capture.get()).splitlines()
    assert "".join(line.strip() for line in lines) == "abcdefgh"
    assert max(map(len, lines)) <= width


def test_what_others_print_stands_above_the_board() -> None:
    """A grader or an agent that writes to standard error is read; standard output is left alone."""
    with Child("ready(); print('from a plugin', file=sys.stderr)") as child:
        child.wait_until_ready()
        assert child.end() == 0
    assert "from a plugin" in visible_lines(child.shown)
    assert b"READY" not in child.shown


def result(status: str = "passed", *, in_flight: int = 3, **fields: Any) -> ResultDone:
    error = {"kind": "timeout", "message": "late"} if status == "error" else None
    record: dict[str, Any] = {
        "case_id": "capital", "target": "small", "variant": None, "trial": 1, "status": status, "error": error,
        "grades": [], "score": 0.0, "threshold": 0.5, "attempts": 1, "cost_usd": None, "paid": True,
    }  # fmt: skip
    return ResultDone({**record, **fields}, in_flight)


class Clock:
    """Stands still until it is told."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def busy() -> Progress:
    """A run of which there is everything to say."""
    clock = Clock()
    progress = Progress(clock)
    retry = Retried("small", Retry(2, 4, 1.0, RateLimitError("busy")))
    answers = [result(cost_usd=0.12), result("failed"), result("failed"), result("ungraded"), result("error")]
    events: list[Event] = [STARTED, *answers, result(attempts=0), retry, retry, Slowed("small", 2, 8)]
    for event in events:
        progress(event)
    clock.now = 3.0
    return progress


def words(progress: Progress, width: int = 1000) -> list[str]:
    return [" · ".join(piece.text for piece in row) for row in board_rows(progress, width)]


def test_the_board_says_it_all() -> None:
    """What came of it; how fast, how dear and how long; who is slow."""
    assert words(busy()) == [
        "2 passed · 2 failed · 1 ungraded · 1 error",
        "run r1 · 3s · 2.0/s · 3 in flight · 2 retries · 1 from the cache · ≥ $0.12, 3 unknown · ETA 8m17s",
        "slowed: small 2 of 8 at once",
    ]


def test_the_board_says_nothing_that_it_does_not_know() -> None:
    """At the start there is no rate, no cost and no end in sight."""
    assert words(Progress()) == ["0 passed · 0 failed · 0 ungraded · 0 errors"]


def test_the_board_moves_before_the_first_result() -> None:
    """The run's id, the time and what is in flight are there from the start; what rests is told."""
    clock = Clock()
    progress = Progress(clock)
    events = (STARTED, Begun(1), Begun(2), Retried("small", Retry(2, 4, 30.0, RateLimitError("busy"))))
    for event in events:
        progress(event)
    clock.now = 12.0
    assert words(progress)[1:] == ["run r1 · 12s · 2 in flight · 1 retry", "resting before a retry: small 18s"]


def test_a_resumed_run_says_what_was_there() -> None:
    """The bar counts all results, the outcomes only those of now."""
    progress = Progress(Clock())
    progress(Started("r1", Path("runs/r1"), 20, 18, ("small",), ("suite.yaml",), 8))
    progress(result("failed"))
    assert words(progress)[0] == "0 passed · 1 failed · 0 ungraded · 0 errors · 18 done before"


def test_stopping_is_told_with_those_in_flight_now() -> None:
    """The number goes down as they finish; a budget is named."""
    progress = busy()
    progress(Stopping("interrupted", 12))
    assert words(progress)[-1] == "finishing 12 in flight; press Ctrl-C again to stop now"
    progress(result(in_flight=11))
    assert words(progress)[-1] == "finishing 11 in flight; press Ctrl-C again to stop now"
    progress(Stopping("budget", 4))
    assert words(progress)[-1] == "the budget is used up: finishing 4 in flight"


@pytest.mark.parametrize("width", [10, 20, 40, 79, 200])
def test_the_board_fits_every_width(width: int) -> None:
    """It takes more rows instead of wider ones, and loses no figure at forty columns."""
    progress = busy()
    progress(Slowed("ein sehr langer Name 世界" * 9, 1, 2))
    progress(Stopping("interrupted", 12))
    console = Console(file=io.StringIO(), width=width, force_terminal=True, no_color=True)
    with console.capture() as capture:
        console.print(_Board(progress))
    lines = ESCAPES.sub("", capture.get()).splitlines()
    assert max(cell_len(line) for line in lines) == width
    if width >= 40:
        text = " ".join(line.strip() for line in lines)
        for figure in ("6/1000", "2 passed", "1 error", "12 in flight", "≥ $0.12, 3 unknown", "again to stop now"):
            assert figure in text


@pytest.mark.parametrize(("done", "total", "filled"), [(0, 10, 0), (5, 10, 10), (10, 10, 20), (0, 0, 0)])
def test_the_bar_fills(done: int, total: int, filled: int) -> None:
    """In proportion, from nothing to all; a run of nothing has an empty one."""
    progress = Progress()
    progress(Started("r1", Path("runs/r1"), total, done, ("small",), ("suite.yaml",), 8))
    label = f" {done}/{total}"
    console = Console(file=io.StringIO(), width=20 + len(label), force_terminal=True, no_color=True)
    with console.capture() as capture:
        console.print(_Board(progress))
    bar = capture.get().splitlines()[0]
    assert bar == "━" * filled + "─" * (20 - filled) + label


def test_twenty_failures_are_shown_and_no_more() -> None:
    """Then a line says so, once; retries are counted and not shown."""
    stream = io.StringIO()
    events: list[Event] = [STARTED, *[result("failed")] * 30, Notice("the disk is nearly full")]
    with LiveWatcher(stream) as watch:
        for event in events:
            watch(event)
        watch(Retried("small", Retry(2, 4, 1.0, RateLimitError("busy"))))
    lines = stream.getvalue().splitlines()
    assert [line[:1] for line in lines[:20]] == ["✗"] * 20
    assert lines[20:22] == ["… and more: `results.jsonl` has them all", "note: the disk is nearly full"]
    assert "busy" not in stream.getvalue()


def watch_a_vanishing_terminal(reached: list[str]) -> None:
    class Gone(io.StringIO):
        def write(self, text: str, /) -> int:
            if reached:
                raise OSError(5, "Input/output error")
            return super().write(text)

    with LiveWatcher(Gone()) as watch:
        reached.append("gone")
        watch(result("failed"))
        reached.append("after")


def test_a_run_outlives_its_terminal() -> None:
    """A terminal that is gone does not stop the results; it is raised when the run is over."""
    reached: list[str] = []
    with pytest.raises(OSError, match="Input/output error"):
        watch_a_vanishing_terminal(reached)
    assert reached == ["gone", "after"]


def test_rich_is_imported_only_to_show() -> None:
    """Choosing a watcher costs no start-up time."""
    program = "import sys, turnwise.report.live; print('rich' in sys.modules, 'pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
