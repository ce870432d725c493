"""Programs that do what a grader should not: each becomes an error that says so, in bounded time and memory."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from turnwise.graders.base import Grade, GradeError

pytest_plugins = ["grader_fixtures"]

Grading = Callable[..., Grade]
GOOD = 'printf "{\\"score\\": 1}"'


def shell(script: str, **options: Any) -> dict[str, Any]:
    """A grader that is a shell script."""
    return {"type": "code", "command": ["sh", "-c", script], **options}


def python(program: str, **options: Any) -> dict[str, Any]:
    """A grader that is a Python program."""
    return {"type": "code", "command": [sys.executable, "-c", program], **options}


def error_of(grade: Grade) -> GradeError:
    """The error of a grade that has one, and so no score."""
    assert (grade.score, grade.passed) == (None, None)
    assert grade.error is not None
    return grade.error


def is_alive(pid: int) -> bool:
    """Whether there is such a process that still does something."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def gone(pid: int) -> bool:
    """Whether a process is gone within a moment: orphans are buried by the system."""
    for _ in range(100):
        if not is_alive(pid):
            return True
        sleep(0.02)
    return False


@pytest.mark.parametrize("script", [GOOD, f"exec <&-; {GOOD}", f"head -c 10 >/dev/null; {GOOD}"])
def test_a_program_need_not_read_its_input(grade: Grading, script: str) -> None:
    """Ignored, closed or half read, however long it is."""
    assert grade(shell(script), "x" * 3_000_000).score == 1


def test_a_program_that_writes_before_it_reads_is_not_held_up(grade: Grading) -> None:
    """Both pipes are full at the same time; neither waits for the other."""
    text = "import sys; sys.stderr.write('e' * 500_000); given = sys.stdin.read(); print('{\"score\": 1}')"
    assert grade(python(text), "x" * 3_000_000).score == 1


@pytest.mark.parametrize("to", ["", ">&2"])
def test_a_flood_is_stopped(grade: Grading, to: str) -> None:
    """A gigabyte on stdout or stderr is not read to its end, nor kept: the program is ended at its limit."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = monotonic()
    error = error_of(grade(shell(f"head -c 1000000000 /dev/zero {to}"), "x"))
    assert error.kind == "too-much-output"
    assert "1,000,000 bytes" in error.message
    assert monotonic() - started < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kilobytes


def test_an_endless_flood_is_stopped(grade: Grading) -> None:
    """Also of text, at a limit of the author's."""
    error = error_of(grade({"type": "code", "command": ["yes"], "max_output_bytes": 5_000}, "x"))
    assert (error.kind, "5,000 bytes" in error.message) == ("too-much-output", True)


def test_a_flood_that_the_program_does_not_wait_for_is_too_much(grade: Grading) -> None:
    """What a program that has ended left in the pipe counts as well."""
    assert error_of(grade(shell("head -c 20000 /dev/zero", max_output_bytes=10_000), "x")).kind == "too-much-output"


def test_a_program_that_hangs_is_ended(grade: Grading, tmp_path: Path) -> None:
    """With its children; the message has the limit and what it said last."""
    script = "echo still thinking >&2; sleep 60 & echo $! > child; sleep 60"
    started = monotonic()
    error = error_of(grade(shell(script, timeout=0.3), "x", folder=tmp_path))
    assert error.kind == "timeout"
    assert "0.3 s" in error.message
    assert "still thinking" in error.message
    assert monotonic() - started < 5
    assert gone(int((tmp_path / "child").read_text()))


def test_a_program_that_ignores_the_request_to_end_is_killed(grade: Grading, tmp_path: Path) -> None:
    """SIGTERM comes first, SIGKILL after a moment."""
    script = "trap '' TERM; echo $$ > me; while :; do sleep 0.1; done"
    started = monotonic()
    assert error_of(grade(shell(script, timeout=0.3), "x", folder=tmp_path)).kind == "timeout"
    assert monotonic() - started < 5
    assert gone(int((tmp_path / "me").read_text()))


@pytest.mark.parametrize("script", ["exec <&- >&- 2>&-; sleep 60", "kill -STOP $$", "while :; do :; done"])
def test_a_program_may_hang_in_any_way(grade: Grading, script: str) -> None:
    """With its pipes closed, stopped by a signal, or busy."""
    started = monotonic()
    assert error_of(grade(shell(script, timeout=0.3), "x")).kind == "timeout"
    assert monotonic() - started < 5


def test_a_program_may_tidy_up_before_it_ends(grade: Grading, tmp_path: Path) -> None:
    """The time between the two signals is its own."""
    script = "trap 'touch tidied; exit' TERM; while :; do sleep 0.05; done"
    assert error_of(grade(shell(script, timeout=0.4), "x", folder=tmp_path)).kind == "timeout"
    assert (tmp_path / "tidied").exists()


def test_children_that_keep_the_pipes_do_not_hold_up_the_verdict(grade: Grading, tmp_path: Path) -> None:
    """The verdict counts when the program ends; what it leaves behind is ended."""
    started = monotonic()
    assert grade(shell(f"sleep 60 & echo $! > child; {GOOD}"), "x", folder=tmp_path).score == 1
    assert monotonic() - started < 5
    assert gone(int((tmp_path / "child").read_text()))


def test_a_child_that_leaves_the_group_does_not_hold_up_the_verdict(grade: Grading, tmp_path: Path) -> None:
    """It is out of reach, but nobody waits for it."""
    program = (
        "import subprocess\n"
        "child = subprocess.Popen(['sleep', '20'], start_new_session=True)\n"
        "open('child', 'w').write(str(child.pid))\n"
        "child.returncode = 0\n"
        "print('{\"score\": 1}')\n"
    )
    started = monotonic()
    try:
        assert grade(python(program), "x", folder=tmp_path).score == 1
        assert monotonic() - started < 5
    finally:
        os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)


def test_many_children_are_ended_together(grade: Grading, tmp_path: Path) -> None:
    """A program that forks and forks is ended as a whole."""
    script = "for i in $(seq 40); do sleep 60 & echo $! >> children; done; wait"
    assert error_of(grade(shell(script, timeout=1), "x", folder=tmp_path)).kind == "timeout"
    children = [int(line) for line in (tmp_path / "children").read_text().split()]
    assert len(children) == 40
    assert all(gone(child) for child in children)


def test_the_number_of_processes_has_a_bound(grade: Grading) -> None:
    """The limit is in force before the program starts, cannot be raised, and there is no core file."""
    program = (
        "import json, resource as r\n"
        "found = [r.getrlimit(each) for each in (r.RLIMIT_NPROC, r.RLIMIT_CORE, r.RLIMIT_CPU)]\n"
        "print(json.dumps({'score': 1, 'evidence': {'limits': found}}))\n"
    )
    limits = grade(python(program, timeout=10), "x").evidence["limits"]
    (processes, hard), core, (seconds, _) = limits
    assert 512 < processes == hard
    assert core == [0, 0]
    assert seconds == 10 * (os.cpu_count() or 1) + 1


def test_a_pipe_that_nobody_reads_ends_a_program(grade: Grading) -> None:
    """SIGPIPE has its usual meaning in the program, although Python ignores it."""
    script = 'yes | true; printf "{\\"score\\": 1, \\"reason\\": \\"%s\\"}" "${PIPESTATUS[0]}"'
    ended_by_pipe = 128 + signal.SIGPIPE
    assert grade({"type": "code", "command": ["bash", "-c", script]}, "x").reason == str(ended_by_pipe)


@pytest.mark.parametrize(
    ("script", "kind", "words"),
    [
        (f"{GOOD}; echo oh no >&2; exit 3", "crash", "exit code 3; the end of its stderr: oh no"),
        (f"{GOOD}; kill -9 $$", "crash", "SIGKILL"),
        ("kill -SEGV $$", "crash", "SIGSEGV"),
        ("printf '\\033[31mred\\a\\n' >&2; exit 1", "crash", "stderr: red"),
        ("exit 127", "crash", "exit code 127"),
        ("printf '\\377\\376'; exit 0", "bad-output", "not JSON"),
    ],
)
def test_a_program_that_fails_is_no_verdict(grade: Grading, script: str, kind: str, words: str) -> None:
    """Not even if it printed one: the message has the exit code or signal, and the end of stderr."""
    error = error_of(grade(shell(script), "x"))
    assert error.kind == kind
    assert words in error.message


def test_the_end_of_stderr_is_bounded(grade: Grading) -> None:
    """A long complaint is cut, at its beginning."""
    error = error_of(grade(shell("seq 100000 >&2; exit 1"), "x"))
    assert error.message.endswith("100000")
    assert len(error.message) < 700


def test_a_program_that_is_not_there_is_named(grade: Grading, tmp_path: Path) -> None:
    """By its name on the PATH, by its path in the folder, and with the way to write it."""
    (tmp_path / "check.py").write_text("#!/usr/bin/no-such-interpreter\n")
    (tmp_path / "check.py").chmod(0o755)
    for command, words in (
        ("no-such-program-x", "no program 'no-such-program-x' on the PATH"),
        ("./nothing", f"in {tmp_path}"),
        ("check.py", "write './check.py'"),
        ("./check.py", "first line"),
        ("./check.py/x", "no program"),
    ):
        error = error_of(grade({"type": "code", "command": [command]}, "x", folder=tmp_path))
        assert error.kind == "not-found"
        assert words in error.message


def test_a_file_that_cannot_be_run_is_named(grade: Grading, tmp_path: Path) -> None:
    """No permission, no known form, or a folder."""
    (tmp_path / "plain").write_text("echo hi\n")
    (tmp_path / "formless").write_text("echo hi\n")
    (tmp_path / "formless").chmod(0o755)
    for command in ("./plain", "./formless", "./"):
        error = error_of(grade({"type": "code", "command": [command]}, "x", folder=tmp_path))
        assert error.kind == "not-executable"
        assert "#!" in error.message


@pytest.mark.parametrize("argument", ["a\0b", "x" * 3_000_000, "\ud800"])
def test_arguments_that_the_system_refuses_are_an_error(grade: Grading, argument: str) -> None:
    """They may come from variables of a case."""
    assert error_of(grade({"type": "code", "command": ["true", argument]}, "x")).kind in ("cannot-start", "bad-output")
