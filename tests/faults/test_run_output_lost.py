"""Whoever reads the output of a run may leave: it is done all the same, and its exit code is that of its verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from fault_server import Received, serving
from faults.runs import completion, done_once, good, journal, make_project, started, word_of, words

CASES = 60


def _half_good(request: Received) -> bytes:
    return good(request) if word_of(request) < "w00030" else completion("wrong")


@pytest.mark.parametrize("option", ["--json", "--quiet", "--no-cache"])
def test_a_reader_that_leaves_does_not_hide_failures(tmp_path: Path, option: str) -> None:
    """Every case is asked, and a run with failures does not end as if all were good."""
    with serving(_half_good) as server:
        root = make_project(tmp_path / "project", server.url, CASES)
        with started(root, "suite.yaml", "--target", "model", option) as running:
            assert running.process.stdout is not None
            running.process.stdout.close()
            assert running.process.wait(30) == 1
    records = journal(root)
    assert len(records) == CASES
    assert done_once(records) == words(30)
    assert "Traceback" not in running.stderr


def test_an_output_that_is_full_is_told(tmp_path: Path) -> None:
    """Lines that could not be written are an error of their own, though the results are all there."""
    with serving(good) as server:
        root = make_project(tmp_path / "project", server.url, CASES)
        with (
            open("/dev/full", "wb") as full,
            started(root, "suite.yaml", "--target", "model", "--json", out=full) as run,
        ):
            assert run.process.wait(30) == 74
    assert "the output cannot be written: No space left on device" in run.stderr
    assert done_once(journal(root)) == words(CASES)
