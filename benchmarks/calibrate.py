"""Rows for `turnwise calibrate`: recorded verdicts compared with labels, and judges asked, against a bare loop.

Run by itself it prints the rows; exits with 1 if a bar is missed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from calibrate_work import DECK, OUTPUTS, SAMPLES, TARGET
from loopback import ANSWER, Counts, Loopback
from measure import HERE, PYTHON, TURNWISE, Cost, Row, best_of_each, cost_of, like_installed, ratio
from results import rows_table

__all__ = ["calibrate_rows"]

WORKERS = 64
_RECORDED = 100_000
_ASKED = 1_000
_REPLAY_ROUNDS = 2
_ROUNDS = 10
_LONGEST, _LARGEST = 10.0, 500.0
_VERDICT = json.dumps({"score": 4, "reason": ANSWER})
_DECK_TEXT = """+++
[scale]
kind = "ordinal"
min = 1
max = 5
+++
Grade the support agent's last answer from 1, useless, to 5, all that the customer needs.
"""


def calibrate_rows(folder: Path) -> list[Row]:
    """Every row about calibrations."""
    return [*_replay(folder / "replayed"), _against_bare(folder / "asked")]


def _files(folder: Path, count: int) -> None:
    folder.mkdir(parents=True)
    subprocess.run([PYTHON, str(HERE / "calibrate_work.py"), "files", str(folder), str(count)], check=True)


def _replay(folder: Path) -> list[Row]:
    """Samples and recorded outputs, from the files to the report in JSON."""
    _files(folder, _RECORDED)
    command = [TURNWISE, "calibrate", "--samples", SAMPLES, "--replay", OUTPUTS, "--format", "json"]
    log = folder / "report.json"
    costs = [cost_of(command, cwd=folder, log=log) for _ in range(_REPLAY_ROUNDS)]
    text = log.read_text(encoding="utf-8")
    [model] = json.loads(text[text.index("{") :])["models"]
    assert model["statistics"]["agreement"]["n"] == _RECORDED, "not every verdict was compared"
    wall, peak = min(cost.wall for cost in costs), min(cost.peak_mb for cost in costs)
    what = f"`turnwise calibrate --replay`, {_RECORDED:,} verdicts"
    detail = f"{wall / _RECORDED * 1e6:.0f} µs a verdict, 2,000 draws"
    return [
        Row(what, wall, _LONGEST, " s", detail),
        Row(f"peak memory: {what}", peak, _LARGEST, " MB", "whole process"),
    ]


class _Project:
    """A folder with a deck, its samples, and a target at the server."""

    def __init__(self, folder: Path, server: Loopback) -> None:
        _files(folder, _ASKED)
        self.folder, self.server = folder, server
        self.loops: list[float] = []
        self.bare_loops: list[float] = []
        self.environment = {**os.environ, "BENCH_KEY": "k"}
        (folder / DECK).write_text(_DECK_TEXT, encoding="utf-8")
        settings = folder / ".turnwise" / "targets.yaml"
        settings.parent.mkdir()
        target = {"name": TARGET, "provider": "openai", "model": "m", "base_url": server.url}
        settings.write_text(json.dumps({"targets": [{**target, "api_key": "${{ BENCH_KEY }}"}]}), encoding="utf-8")

    def bodies(self) -> Path:
        """A file with the bodies that the calibration sends."""
        path = self.folder / "bodies.txt"
        command = [PYTHON, str(HERE / "calibrate_work.py"), "bodies", str(self.folder), path.name]
        subprocess.run(command, check=True, env=self.environment)
        return path

    def calibrate(self) -> tuple[Cost, Counts]:
        """Ask about every sample once; the calibration is removed."""
        command = [TURNWISE, "calibrate", DECK, "--samples", SAMPLES, "-m", TARGET, "-c", str(WORKERS), "--quiet"]
        self.server.counts()
        cost = cost_of(command, cwd=self.folder, env=self.environment, log=self.folder / "calibrate.log")
        self._read_journal()
        return cost, self.server.counts()

    def _read_journal(self) -> None:
        """Keep the seconds from the start of the first answer to the end of the last."""
        [journal] = self.folder.glob(".turnwise/calibrations/*/results.jsonl")
        lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
        begun, ended = min(line["started_at"] for line in lines), max(line["finished_at"] for line in lines)
        self.loops.append((datetime.fromisoformat(ended) - datetime.fromisoformat(begun)).total_seconds())
        shutil.rmtree(journal.parent.parent)

    def bare(self, bodies: Path) -> tuple[Cost, Counts]:
        """Post the same bodies."""
        log = self.folder / "bare.log"
        self.server.counts()
        cost = cost_of([PYTHON, str(HERE / "bare.py"), self.server.url, str(bodies), str(WORKERS)], log=log)
        self.bare_loops.append(json.loads(log.read_text(encoding="utf-8"))["seconds"])
        return cost, self.server.counts()


def _against_bare(folder: Path) -> Row:
    """The whole process, report included, against a loop that only posts and reads."""
    sent = set()
    with Loopback(answer=_VERDICT) as server:
        project = _Project(folder, server)
        bodies = project.bodies()

        def wall(measured: tuple[Cost, Counts]) -> float:
            cost, counts = measured
            assert counts.completions == _ASKED, f"{counts.completions} requests for {_ASKED} samples"
            sent.add(counts.checksum)
            return cost.wall

        reference, ours = best_of_each(_ROUNDS, lambda: wall(project.bare(bodies)), lambda: wall(project.calibrate()))
    assert len(sent) == 1, "the calibration and the bare loop sent different bodies"
    row = ratio(f"`turnwise calibrate`, {_ASKED:,} samples, server at 0 ms / bare aiohttp", ours, reference, 2)
    ours_only, bare_only = min(project.loops) * 1000, min(project.bare_loops) * 1000
    return replace(row, detail=f"{row.detail}; without start-up and report {ours_only:.0f} ms / {bare_only:.0f} ms")


def main() -> int:
    """Measure and print; whether a bar was missed."""
    with tempfile.TemporaryDirectory(prefix="turnwise-bench-") as folder:
        like_installed(Path(folder, "bytecode"))
        rows = calibrate_rows(Path(folder))
    print(rows_table(rows))
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
