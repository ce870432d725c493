"""A signal that comes while the command ends anyway: it raises nothing, and it still ends what does not end."""

from __future__ import annotations

import subprocess
import sys

ENDS = """
import os, signal, time
from turnwise.cli import interrupts
interrupts._SAME_WISH_S = {patience}
interrupts.end_on(signal.SIGINT, signal.SIGTERM)
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)
except KeyboardInterrupt:
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(os.getpid(), number)
        time.sleep(0.01)
    print("told", flush=True)
"""


def _ended(patience: float) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", ENDS.format(patience=patience)]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


def test_a_key_that_is_held_is_one_wish() -> None:
    """Whoever ends in order is not torn out of it by the same wish, said again."""
    done = _ended(patience=5)
    assert (done.returncode, done.stdout, done.stderr) == (0, "told\n", "")


def test_a_second_wish_ends_what_does_not_end() -> None:
    """After a while, a signal ends the process at once, with the exit code of an interruption."""
    done = _ended(patience=-1)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
