"""What every measurement shares: a row and its bar, repeats that take turns, and what a process cost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from threading import Timer
from time import perf_counter

__all__ = [
    "HERE",
    "PYTHON",
    "TURNWISE",
    "Cost",
    "Row",
    "best_of_each",
    "cost_of",
    "like_installed",
    "ratio",
    "require_larger_than_own",
]

HERE = Path(__file__).resolve().parent
PYTHON = sys.executable
TURNWISE = str(Path(sys.executable).with_name("turnwise"))
_LONGEST = 900.0
_PEAK_UNITS = 1024 * 1024 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Row:
    """One line of the table: a figure that must not exceed its bar, or must reach it (`at_least`)."""

    what: str
    figure: float
    bar: float
    unit: str
    detail: str
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the figure keeps to its bar."""
        return self.figure >= self.bar if self.at_least else self.figure <= self.bar

    def cells(self) -> tuple[str, ...]:
        """The line as text."""
        verdict = "met" if self.met else "NOT MET"
        bar = f"{'≥' if self.at_least else '≤'} {self.bar:g}{self.unit}"
        return self.what, f"{self.figure:.2f}{self.unit}", bar, verdict, self.detail


@dataclass(frozen=True)
class Cost:
    """What a process cost, with all that it started: seconds by the clock, of CPU, and its largest resident set."""

    wall: float
    cpu: float
    peak_mb: float


def cost_of(
    command: Sequence[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None, log: Path | None = None
) -> Cost:
    """Run a process to its end. Raises `CalledProcessError` if it fails; `log` keeps what it prints, and its end is
    told with the error.

    Linux lets the resident set of a process start from its parent's, so this one should stay small.
    """
    with open(log or os.devnull, "wb") as output:
        start = perf_counter()
        process = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        giving_up = Timer(_LONGEST, process.kill)
        giving_up.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = perf_counter() - start
        giving_up.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        said = log.read_text(encoding="utf-8", errors="replace")[-2000:] if log else ""
        error = subprocess.CalledProcessError(process.returncode, command, output=said)
        error.add_note(said)
        raise error
    peak = usage.ru_maxrss / _PEAK_UNITS
    return Cost(wall, usage.ru_utime + usage.ru_stime, peak)


def require_larger_than_own(peak_mb: float) -> None:
    """Refuse a peak that may be no more than what a process took over from this one."""
    own = getrusage(RUSAGE_SELF).ru_maxrss / _PEAK_UNITS
    assert peak_mb > own, f"a peak of {peak_mb:.1f} MB shows nothing: the process that measures has {own:.1f} MB itself"


def best_of_each(repeats: int, *measures: Callable[[], float]) -> list[float]:
    """The least of several repeats. They take turns, so that a busy machine slows all of them alike."""
    rounds = [[measure() for measure in measures] for _ in range(repeats)]
    return [min(figures) for figures in zip(*rounds, strict=True)]


def ratio(what: str, measured: float, reference: float, bar: float) -> Row:
    """A row for two times: how much longer the first is."""
    return Row(what, measured / reference, bar, " ×", f"{measured * 1000:.0f} ms / {reference * 1000:.0f} ms")


def like_installed(bytecode: Path) -> None:
    """Let the processes find compiled modules, as after an installation, whatever the environment says."""
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"):
        os.environ.pop(name, None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(bytecode)
