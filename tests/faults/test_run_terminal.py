"""A run on a real terminal: Ctrl-C reaches it as a person presses it, and the terminal is as before afterwards."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fault_server import Fault, FaultServer, Received, serving
from faults.runs import KEY, done_once, good, journal, make_project, run_folder, word_of, words

CTRL_C = b"\x03"
HIDE_CURSOR, SHOW_CURSOR, OTHER_SCREEN = b"\x1b[?25l", b"\x1b[?25h", b"\x1b[?1049h"


class _Terminal:
    """The other end of a run's terminal: what it shows, and keys to press."""

    def __init__(self, process: subprocess.Popen[bytes], keys: int) -> None:
        self.process = process
        self.keys = keys
        self.shown = b""

    def press(self, key: bytes) -> None:
        os.write(self.keys, key)

    def until(self, holds: Callable[[], bool], seconds: float = 20.0) -> None:
        """Show what comes until something holds; bounded."""
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, self.shown.decode("utf-8", "replace")
            self._read(0.02)

    def end(self) -> int:
        self.until(lambda: self.process.poll() is not None)
        while self._read(0.05):
            pass
        return self.process.wait()

    def _read(self, seconds: float) -> bool:
        if not select.select([self.keys], [], [], seconds)[0]:
            return False
        try:
            self.shown += os.read(self.keys, 65536)
        except OSError:  # Linux says so where the other end is closed
            return False
        return True


@contextmanager
def _on_a_terminal(root: Path, *arguments: str) -> Iterator[_Terminal]:
    """`turnwise run`, as a shell starts it: in the foreground of a terminal of its own."""
    keys, screen = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "RUN_KEY": KEY, "COLUMNS": "100", "LINES": "30"}
    program = (
        "import os, sys; os.login_tty(0); os.execv(sys.executable, [sys.executable, '-m', 'turnwise', *sys.argv[1:]])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, "run", *arguments],
        cwd=root, env=environment, stdin=screen, stdout=screen, stderr=screen,
    )  # fmt: skip
    before = termios.tcgetattr(screen)
    try:
        yield _Terminal(process, keys)
        assert termios.tcgetattr(screen) == before
    finally:
        process.kill()
        process.wait()
        os.close(screen)
        os.close(keys)


def _asked(server: FaultServer, count: int) -> Callable[[], bool]:
    return lambda: len(server.received) >= count


def test_ctrl_c_finishes_and_gives_the_terminal_back(tmp_path: Path) -> None:
    """The cursor is back, no other screen is left, the way to resume is shown, and what was under way is kept."""
    with serving(good, delay=0.1) as server:
        root = make_project(tmp_path / "project", server.url, 200)
        with _on_a_terminal(root, "suite.yaml", "--target", "model", "--workers", "4") as terminal:
            terminal.until(_asked(server, 9))
            terminal.press(CTRL_C)
            assert terminal.end() == 130
        assert len(journal(root)) == len(server.received) < 200
    assert terminal.shown.count(HIDE_CURSOR) > 0
    assert terminal.shown.rfind(SHOW_CURSOR) > terminal.shown.rfind(HIDE_CURSOR)
    assert OTHER_SCREEN not in terminal.shown
    assert f"turnwise run --resume {run_folder(root).name}".encode() in terminal.shown
    assert b"Traceback" not in terminal.shown


def test_ctrl_c_twice_ends_at_once(tmp_path: Path) -> None:
    """A server that hangs holds nobody at the terminal."""

    def reply(request: Received) -> Fault | bytes:
        return good(request) if word_of(request) < "w00008" else Fault([], then="hang")

    with serving(reply) as server:
        root = make_project(tmp_path / "project", server.url, 50)
        with _on_a_terminal(root, "suite.yaml", "--target", "model", "--workers", "4") as terminal:
            terminal.until(_asked(server, 12))
            terminal.press(CTRL_C)
            terminal.until(lambda: b"in flight" in terminal.shown and b"again" in terminal.shown)
            began = time.monotonic()
            terminal.press(CTRL_C)
            assert terminal.end() == 130
            assert time.monotonic() - began < 2
        assert done_once(journal(root)) == words(8)
    assert terminal.shown.rfind(SHOW_CURSOR) > terminal.shown.rfind(HIDE_CURSOR)
    assert b"Traceback" not in terminal.shown
