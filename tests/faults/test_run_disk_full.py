"""A disk without room: the run stops with a clear message, the journal is valid, and with room the run goes on."""

from __future__ import annotations

import resource
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from fault_server import serving
from faults.runs import Running, done_once, good, journal, make_project, run_folder, started, words

CASES = 400
ROOM = 100_000
RUN = ("suite.yaml", "--target", "model", "--json", "--workers", "8")


def _check_stopped(running: Running, root: Path, reason: str) -> None:
    """It says why, with the exit code of a run that is not whole; what it has reported is there."""
    assert running.end() == 3
    assert f"cannot be written: {reason}" in running.stderr
    assert "turnwise run --resume" in running.stderr
    kept = done_once(journal(root))
    assert kept == sorted(event["case_id"] for event in running.results)
    assert 0 < len(kept) < CASES
    assert running.events[-1]["event"] == "summary"


def test_a_file_that_may_not_grow_stops_the_run(tmp_path: Path) -> None:
    """A limit on the size of files is told like a full disk, and a run without it goes on where this one stopped."""
    with serving(good) as server:
        root = make_project(tmp_path / "project", server.url, CASES)
        with started(root, *RUN, environment={"PYTHONDONTWRITEBYTECODE": "1"}) as running:
            resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (ROOM, ROOM))
            _check_stopped(running, root, "File too large")
        with started(root, "--resume", run_folder(root).name, "--json") as running:
            assert running.end() == 0
    assert done_once(journal(root)) == words(CASES)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a few pages; the test is skipped where this may not be mounted."""
    disk = tmp_path / "project/.turnwise/runs"
    disk.mkdir(parents=True)
    if subprocess.run(_mount(disk, "size=200k"), capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def _mount(disk: Path, options: str) -> list[str]:
    return ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)]


def test_a_full_disk_stops_the_run(tmp_path: Path, small_disk: Path) -> None:
    """A disk that is full is told; when there is room, the run goes on."""
    with serving(good) as server:
        root = make_project(tmp_path / "project", server.url, CASES)
        with started(root, *RUN) as running:
            _check_stopped(running, root, "No space left on device")
        subprocess.run(_mount(small_disk, "remount,size=8m"), check=True, capture_output=True)
        with started(root, "--resume", run_folder(root).name, "--json") as running:
            assert running.end() == 0
        assert done_once(journal(root)) == words(CASES)


def test_a_disk_that_is_full_from_the_start(tmp_path: Path, small_disk: Path) -> None:
    """Nothing is asked if not even the description of the run can be written."""
    with serving(good) as server:
        root = make_project(tmp_path / "project", server.url, CASES)
        _fill(small_disk)
        with started(root, *RUN) as running:
            assert running.end() == 2
        assert "No space left on device" in running.stderr
        assert not server.received


def _fill(disk: Path) -> None:
    with (disk / "ballast").open("wb", buffering=0) as ballast, suppress(OSError):
        for _ in range(1000):
            ballast.write(b"x" * 4096)
    assert shutil.disk_usage(disk).free == 0
