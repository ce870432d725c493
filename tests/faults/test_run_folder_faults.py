"""The folder of a run: unwritable, deleted, or wanted by two processes at once."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from fault_server import serving
from faults.runs import done_once, good, journal, make_project, run_folder, started, words

RUN = ("suite.yaml", "--target", "model", "--json", "--workers", "4")


@pytest.mark.parametrize("runs_dir", ["in-the-way", "in-the-way/below", "/proc/turnwise-runs", "/dev/null/runs"])
def test_an_unwritable_place_is_told_before_anything_is_asked(tmp_path: Path, runs_dir: str) -> None:
    """The message names the folder and what to do, and nothing was sent."""
    with serving(good) as server:
        root = make_project(tmp_path / "project", server.url, 5)
        (root / "in-the-way").write_text("a file")
        (root / ".turnwise/config.yaml").write_text(json.dumps({"runs_dir": runs_dir}))
        with started(root, *RUN) as running:
            assert running.end() == 2
        assert f"the run's folder {runs_dir}" in running.stderr
        assert "hint: check the permissions and the space there, or set `runs_dir`" in running.stderr
        assert not server.received


def test_a_run_whose_folder_is_deleted_stops(tmp_path: Path) -> None:
    """Answers that could not be kept are not asked for: the message says what happened, and promises no resuming."""
    with serving(good, delay=0.02) as server:
        root = make_project(tmp_path / "project", server.url, 500)
        with started(root, *RUN) as running:
            running.until_results(10)
            # Moved first: the program must not find the folder half deleted, without its journal.
            shutil.rmtree(run_folder(root).rename(tmp_path / "deleted"))
            assert running.end() == 3
    assert "the journal has been deleted" in running.stderr
    assert "--resume" not in running.stderr
    assert len(running.results) < 500
    assert len(server.received) <= len(running.results) + 2 * 4
    [group] = running.events[-1]["summary"]["targets"]
    assert group["passed"] == len(running.results)


def test_two_runs_of_a_suite_at_once(tmp_path: Path) -> None:
    """Each has a folder of its own, and both are whole, though they share one cache."""
    with serving(good, delay=0.005) as server:
        root = make_project(tmp_path / "project", server.url, 150)
        with ExitStack() as both:
            runs = [both.enter_context(started(root, *RUN, "--cache")) for _ in range(2)]
            assert [running.end() for running in runs] == [0, 0]
    folders = list((root / ".turnwise/runs").iterdir())
    assert len(folders) == 2
    for folder in folders:
        lines = (folder / "results.jsonl").read_bytes().splitlines()
        assert done_once(map(json.loads, lines)) == words(150)
    with closing(sqlite3.connect(root / ".turnwise/cache.sqlite3")) as cache:
        assert cache.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_run_has_one_writer(tmp_path: Path) -> None:
    """A second process that would resume it is refused, with the number of the first; the first is not disturbed."""
    with serving(good, delay=0.02) as server:
        root = make_project(tmp_path / "project", server.url, 150)
        with started(root, *RUN) as first:
            first.until_results(10)
            first.signal(signal.SIGSTOP)
            with started(root, "--resume", run_folder(root).name) as second:
                assert second.end() == 2
            first.signal(signal.SIGCONT)
            assert first.end() == 0
    assert f"the process {first.process.pid} is writing the run" in second.stderr
    assert done_once(journal(root)) == words(150)
    assert len(server.received) == 150
