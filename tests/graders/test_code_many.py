"""Many programs at once, and programs that nobody waits for any more."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from pydantic import TypeAdapter

from turnwise.graders.base import Grader, Submission
from turnwise.graders.specs import make_graders
from turnwise.suite.format import GraderSpec


def grader_of(spec: Any) -> Grader:
    """The grader of a spec."""
    checked: Any = TypeAdapter(GraderSpec).validate_python(spec)
    (grader,), problems = make_graders([checked])
    assert problems == []
    return grader


@pytest.mark.parametrize(("workers", "most"), [(3, 3), (None, os.cpu_count() or 1)])
def test_two_hundred_gradings_keep_the_bound(tmp_path: Path, workers: int | None, most: int) -> None:
    """No more programs run at once than there are places, and each grading gets its own verdict."""
    script = 'echo + >> log; sleep 0.01; echo - >> log; printf "{\\"score\\": 1, \\"reason\\": \\"$0\\"}"'
    spec = {"type": "code", **({} if workers is None else {"workers": workers})}

    async def graded() -> list[str]:
        made = [grader_of({**spec, "command": ["sh", "-c", script, f"n{number}"]}) for number in range(200)]
        submission = Submission(question="", text="", folder=tmp_path)
        return [grade.reason for grade in await asyncio.gather(*(each.grade(submission) for each in made))]

    assert asyncio.run(graded()) == [f"n{number}" for number in range(200)]
    running, seen = 0, 0
    for line in (tmp_path / "log").read_text().split():
        running += 1 if line == "+" else -1
        seen = max(seen, running)
    assert (running, seen <= most) == (0, True)


@pytest.mark.parametrize("script", ["sleep 60 & echo $! $$ > pids; wait", "trap '' TERM; echo $$ > pids; sleep 60"])
def test_a_cancelled_grading_leaves_no_process(tmp_path: Path, script: str) -> None:
    """When the cancellation is through, the program and its children are gone; also one that ignores SIGTERM."""

    async def cancelled() -> None:
        grader = grader_of({"type": "code", "command": ["sh", "-c", script]})
        task = asyncio.ensure_future(grader.grade(Submission(question="", text="", folder=tmp_path)))
        while not (tmp_path / "pids").exists() or not (tmp_path / "pids").read_text().endswith("\n"):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    started = monotonic()
    asyncio.run(cancelled())
    assert monotonic() - started < 10
    pids = (tmp_path / "pids").read_text().split()
    assert pids
    assert not any(_runs(pid) for pid in pids)


def test_those_that_wait_for_a_place_can_be_cancelled(tmp_path: Path) -> None:
    """They start nothing then, and give no place away that they never had."""

    async def cancelled() -> float | None:
        grader = grader_of({"type": "code", "command": ["sh", "-c", "sleep 0.3; echo '{\"score\": 1}'"], "workers": 1})
        submission = Submission(question="", text="", folder=tmp_path)
        first, second = (asyncio.ensure_future(grader.grade(submission)) for _ in range(2))
        await asyncio.sleep(0.05)
        second.cancel()
        await asyncio.wait([second])
        assert second.cancelled()
        assert (await first).score == 1
        return (await grader.grade(submission)).score

    assert asyncio.run(cancelled()) == 1


def test_the_event_loop_goes_on_meanwhile() -> None:
    """A program that sleeps keeps nobody else from working."""

    async def counted() -> int:
        task = asyncio.ensure_future(
            grader_of({"code": "sh -c 'sleep 0.5; echo {}'"}).grade(Submission(question="", text=""))
        )
        ticks = 0
        while not task.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return ticks

    assert asyncio.run(counted()) > 10


def test_programs_end_with_the_interpreter(tmp_path: Path) -> None:
    """Even if it exits in the middle of a grading."""
    program = (
        "import sys, threading, time\n"
        "from pathlib import Path\n"
        "from turnwise.programs.program import Program, run_program\n"
        "program = Program(command=('sh', '-c', 'echo $$ > pid; exec sleep 60'), folder=Path(sys.argv[1]),\n"
        "                  environment={'PATH': '/usr/bin:/bin'}, seconds=60, most_bytes=10)\n"
        "threading.Thread(target=run_program, args=(program, b'', threading.Event()), daemon=True).start()\n"
        "while not (Path(sys.argv[1]) / 'pid').exists(): time.sleep(0.01)\n"
        "time.sleep(0.1)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True, timeout=30)
    pid = (tmp_path / "pid").read_text().strip()
    for _ in range(100):
        if not _runs(pid):
            break
        subprocess.run(["sleep", "0.02"], check=True)
    assert not _runs(pid)


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
