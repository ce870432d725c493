"""The folder of a run: made once, described whole, written by one process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from turnwise.engine.run_folder import RUN, RunFolder, find_run, new_run_id
from turnwise.errors import RunError, UsageError

HOLD = """
import sys, time
from pathlib import Path
from turnwise.engine.run_folder import RunFolder
folder = RunFolder.open(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def test_names_sort_by_time_and_differ() -> None:
    """A later run comes later in a list, and two runs of one second are two."""
    earlier, later = (new_run_id(datetime(2026, 1, day, tzinfo=UTC)) for day in (1, 2))
    assert earlier < later
    assert new_run_id(datetime(2026, 1, 1, tzinfo=UTC)) != earlier


def test_a_run_says_what_it_was_started_with(tmp_path: Path) -> None:
    """`run.json` is there as soon as the run is, and nothing else but the lock."""
    with RunFolder.create(tmp_path / "runs", lambda _: {"targets": ["é"]}) as folder:
        assert folder.description() == {"targets": ["é"]}
        assert sorted(os.listdir(folder.path)) == [RUN, "run.lock"]
        folder.describe({"targets": []})
        assert folder.description() == {"targets": []}


def test_a_run_is_found_by_its_name_and_by_its_path(tmp_path: Path) -> None:
    """An unknown one is an error that names the latest."""
    folder = RunFolder.create(tmp_path, lambda _: {}, "20260101-000000-abc")
    folder.close()
    assert find_run(folder.id, tmp_path) == folder.path
    assert find_run(str(folder.path), tmp_path / "elsewhere") == folder.path
    with pytest.raises(UsageError, match="no run 'x'") as caught:
        find_run("x", tmp_path)
    assert folder.id in (caught.value.hint or "")
    with pytest.raises(UsageError) as caught:
        find_run("x", tmp_path / "elsewhere")
    assert "no runs" in (caught.value.hint or "")


def test_a_name_is_used_once(tmp_path: Path) -> None:
    """A second run of the same name does not touch the first."""
    RunFolder.create(tmp_path, lambda _: {"n": 1}, "a").close()
    with pytest.raises(RunError, match="exists already"):
        RunFolder.create(tmp_path, lambda _: {"n": 2}, "a")
    assert RunFolder.open(tmp_path / "a").description() == {"n": 1}


def test_two_processes_never_write_one_run(tmp_path: Path) -> None:
    """The second is told who the first is; when that is killed, the run is free at once."""
    RunFolder.create(tmp_path, lambda _: {}, "a").close()
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path / "a")], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(RunError, match=f"the process {holder.pid} is writing the run a") as caught:
            RunFolder.open(tmp_path / "a")
        assert caught.value.hint
        holder.send_signal(signal.SIGKILL)
    RunFolder.open(tmp_path / "a").close()


def test_a_process_locks_a_run_once(tmp_path: Path) -> None:
    """Also within one process, a run has one writer at a time."""
    with RunFolder.create(tmp_path, lambda _: {}, "a") as first, pytest.raises(RunError, match="is writing the run"):
        RunFolder.open(first.path)
    RunFolder.open(first.path).close()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff"])
def test_a_description_that_cannot_be_read_is_an_error(tmp_path: Path, content: bytes) -> None:
    """The file is named, and what to do."""
    folder = RunFolder.create(tmp_path, lambda _: {}, "a")
    (folder.path / RUN).write_bytes(content)
    with pytest.raises(RunError, match=RUN) as caught:
        folder.description()
    assert caught.value.hint
    folder.close()


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    """A file where the folder should be, for instance; nothing is left open."""
    (tmp_path / "runs").write_text("")
    with pytest.raises(RunError, match="cannot be written") as caught:
        RunFolder.create(tmp_path / "runs", lambda _: {})
    assert "runs_dir" in (caught.value.hint or "")
    with pytest.raises(RunError, match="cannot be written"):
        RunFolder.open(tmp_path / "missing")
