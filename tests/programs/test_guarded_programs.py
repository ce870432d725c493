"""Programs end with Turnwise, however it ends; and what they know of secrets is not kept."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from turnwise.programs.environment import without_hidden
from turnwise.programs.guard import Guard
from turnwise.programs.program import Program, run_program

HOLDS_A_PROGRAM = """
import sys, threading
from pathlib import Path
from turnwise.programs.program import Program, run_program
script = 'sleep 60 & echo $! > child; echo $$ > leader; trap "" TERM; sleep 60; sleep 60'
program = Program(command=("sh", "-c", script), folder=Path(sys.argv[1]), environment={"PATH": "/usr/bin:/bin"},
                  seconds=60, most_bytes=10)
run_program(program, b"", threading.Event())
"""


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _until(holds: Callable[[], bool], seconds: float = 15.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_who_is_killed_leaves_no_program(tmp_path: Path, number: signal.Signals) -> None:
    """A program and its children end soon after us, even if we could not do anything about it."""
    holder = subprocess.Popen([sys.executable, "-c", HOLDS_A_PROGRAM, str(tmp_path)])
    try:
        written = [tmp_path / "child", tmp_path / "leader"]
        assert _until(lambda: all(path.exists() and path.read_text().strip() for path in written))
        child, leader = (path.read_text().strip() for path in written)
        assert _runs(child)
        holder.send_signal(number)
        assert _until(lambda: not _runs(child) and not _runs(leader))
    finally:
        holder.kill()
        holder.wait()


def test_a_guard_is_needed_by_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no guard can be started, programs run all the same."""
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    guard = Guard()
    guard.watch(4242424)
    guard.forget(4242424)
    guard.close()


def test_what_has_ended_is_not_ended_again() -> None:
    """A group that was forgotten is left alone: its number may be somebody else's by now."""
    process = subprocess.Popen(["sleep", "30"], start_new_session=True)
    try:
        guard = Guard()
        guard.watch(process.pid)
        guard.forget(process.pid)
        guard.close()
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def test_secrets_are_taken_out_of_all_texts() -> None:
    """Longest first, so that a secret which begins like another leaves nothing behind; in keys and lists, too."""
    hidden = {"A": "sk-abcdefgh", "B": "sk-abcdefgh-project-TAIL"}
    assert without_hidden({"sk-abcdefgh": ["x sk-abcdefgh-project-TAIL y", 3, None]}, hidden) == {
        "[A]": ["x [B] y", 3, None]
    }


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_places_go_with_us(tmp_path: Path) -> None:
    """A folder that was ours is removed when we are gone without a word, and who works there in a session of its own
    is ended; one that is to stay is left alone."""
    for name in ("ours", "stays"):
        (tmp_path / name / "sub").mkdir(parents=True)
    script = (
        "import os, subprocess, sys\nfrom pathlib import Path\nfrom turnwise.programs.guard import guard\n"
        "from turnwise.programs.strays import MARK\nhere = Path(sys.argv[1])\n"
        "for name in ('ours', 'stays'): guard().watch_place(here / name)\n"
        "guard().forget_place(here / 'stays')\n"
        "stray = subprocess.Popen(['sleep', '60'], start_new_session=True, env={**os.environ, MARK: 'ours'})\n"
        "(here / 'pid').write_text(str(stray.pid))\nos.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False, timeout=30)
    assert _until(lambda: not (tmp_path / "ours").exists())
    assert _until(lambda: not _runs((tmp_path / "pid").read_text()))
    assert (tmp_path / "stays/sub").is_dir()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_who_leaves_the_group_is_found_by_the_mark(tmp_path: Path) -> None:
    """A child in a session of its own ends with the program that started it, and its late words are no output."""
    child = "setsid sh -c 'echo $$ > stray; sleep 0.3; echo late; exec sleep 60'"
    script = f"{child} & while [ ! -s stray ]; do :; done; echo ok"
    program = Program(
        command=("sh", "-c", script),
        folder=tmp_path,
        environment={"PATH": "/usr/bin:/bin"},
        seconds=20,
        most_bytes=1000,
        mark="mark-of-this-test",
    )
    done = run_program(program, b"", Event())
    assert done.output == b"ok\n"
    assert not _runs((tmp_path / "stray").read_text().strip())
