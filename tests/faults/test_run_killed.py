"""A run that is killed loses nothing that it has reported, and a resumed one repeats nothing that is done."""

from __future__ import annotations

import json
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from fault_server import FaultServer, serving
from faults.runs import (
    Running,
    done_once,
    good,
    journal,
    journal_lines,
    make_project,
    run_folder,
    started,
    word_of,
    words,
)

WORKERS = 16
KILLS = 5


def _killed(running: Running, chance: random.Random, most: int) -> list[dict[str, Any]]:
    """The results that a run had reported before it was killed at a random moment."""
    running.until_results(chance.randint(1, most))
    time.sleep(chance.random() * 0.02)
    running.signal(signal.SIGKILL)
    assert running.end() == -signal.SIGKILL
    return running.results


def _check_reported(reported: list[dict[str, Any]], root: Path) -> None:
    """Each result that was reported is in the journal, and says the same there."""
    kept = {record["case_id"]: record for record in journal(root)}
    for event in reported:
        told = {name: event[name] for name in ("status", "score", "latency_ms", "attempts", "trial", "target")}
        assert {name: kept[event["case_id"]][name] for name in told} == told


def _kill_and_resume(root: Path, server: FaultServer, cases: int, options: tuple[str, ...]) -> None:
    chance = random.Random(cases)
    arguments: tuple[str, ...] = ("suite.yaml", "--target", "model", *options)
    reported: list[dict[str, Any]] = []
    before: list[bytes] = []
    asked_until_then = 0
    for _ in range(KILLS):
        with started(root, *arguments, "--json", "--workers", str(WORKERS)) as running:
            reported += _killed(running, chance, most=cases * 3 // 20)
        lines = journal_lines(root)
        assert lines[: len(before)] == before
        _check_reported(reported, root)
        asked_again = {word_of(each) for each in server.received[asked_until_then:]}
        assert asked_again.isdisjoint(record["case_id"] for record in map(json.loads, before))
        before, asked_until_then = lines, len(server.received)
        arguments = ("--resume", run_folder(root).name)


@pytest.mark.parametrize(("cases", "options"), [(2000, ()), (300, ("--durable",))], ids=["2000", "durable"])
def test_a_run_survives_being_killed(tmp_path: Path, cases: int, options: tuple[str, ...]) -> None:
    """Killed five times and resumed, it has each case once, asks none that is done, and keeps all it has reported."""
    with serving(good, delay=0.004) as server:
        root = make_project(tmp_path / "project", server.url, cases)
        _kill_and_resume(root, server, cases, options)
        with started(root, "--resume", run_folder(root).name, "--json") as last:
            assert last.end() == 0
    records = journal(root)
    assert done_once(records) == words(cases)
    assert len(records) == cases
    assert cases <= len(server.received) <= cases + KILLS * WORKERS
