"""Rows for `turnwise run`: against a bare loop that posts the same bodies, against the clock, and as datasets grow."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from loopback import Counts, Loopback
from measure import HERE, PYTHON, TURNWISE, Cost, Row, best_of_each, cost_of, ratio, require_larger_than_own

__all__ = ["Project", "engine_rows"]

WORKERS = 64
_CASES = 1_000
_STEADY_CASES = 4_000
_DELAY_MS = 50
_FEW, _MANY = 5_000, 50_000
_ROUNDS = 15
_GROWTH_ROUNDS = 3
_STEADY_ROUNDS = 5


@dataclass(frozen=True)
class Ran:
    """A run that is over. `seconds` lie between the start of its first result and the end of its last; `steady` are
    the results a second after start-up: while all workers had something to do."""

    cost: Cost
    seconds: float
    steady: float
    counts: Counts


class Project:
    """A folder with a target at the server, and the suites that it is asked."""

    def __init__(self, folder: Path, server: Loopback) -> None:
        self.folder = folder
        self.server = server
        self._environment = {**os.environ, "BENCH_KEY": "k"}
        settings = folder / ".turnwise" / "targets.yaml"
        settings.parent.mkdir(parents=True)
        target = {"name": "loopback", "provider": "openai", "model": "m", "base_url": server.url}
        text = json.dumps({"targets": [{**target, "api_key": "${{ BENCH_KEY }}"}]}, indent=2)
        settings.write_text(text, encoding="utf-8")

    def suite(self, name: str, cases: int) -> Path:
        """Make a suite; another process does it, so that this one stays small."""
        path = self.folder / name
        subprocess.run([PYTHON, str(HERE / "conversations.py"), str(path), str(cases)], check=True)
        return path

    def bodies(self, suite: Path) -> Path:
        """A file with the very bodies that a run of the suite sends, one a line."""
        path = self.folder / "bodies.txt"
        command = [TURNWISE, "prompt", str(suite), "--target", "loopback", "--format", "json"]
        with (
            subprocess.Popen(
                command, stdout=subprocess.PIPE, text=True, cwd=self.folder, env=self._environment
            ) as prompt,
            open(path, "w", encoding="utf-8") as file,
        ):
            assert prompt.stdout is not None
            for line in prompt.stdout:  # a case a line: all of them at once would make this process large
                if line.startswith("{"):
                    body = json.loads(line.rstrip(",\n"))["request"]["body"]
                    file.write(json.dumps(body, ensure_ascii=False, separators=(",", ":")) + "\n")
        assert prompt.returncode == 0, f"turnwise prompt: exit code {prompt.returncode}"
        return path

    def run(self, suite: Path, cases: int) -> Ran:
        """Run the suite in a process of its own. Every case must have been asked once, and have passed."""
        command = [TURNWISE, "run", str(suite), "--target", "loopback", "--workers", str(WORKERS), "--quiet"]
        self.server.counts()
        cost = cost_of(command, cwd=self.folder, env=self._environment, log=self.folder / "run.log")
        counts = self.server.counts()
        assert counts.completions == cases, f"{counts.completions} requests for {cases} cases"
        return Ran(cost, *self._read_journal(cases), counts)

    def _read_journal(self, cases: int) -> tuple[float, float]:
        """The seconds that the results took, and how many a second came; the run is removed."""
        (journal,) = self.folder.glob(".turnwise/**/results.jsonl")
        begun, ends, passed = "~", array("d"), 0
        with open(journal, encoding="utf-8") as lines:
            for line in lines:
                result = json.loads(line)
                passed += result["status"] == "passed"
                begun = min(begun, result["started_at"])
                ends.append(datetime.fromisoformat(result["finished_at"]).timestamp())
        assert passed == cases, f"{passed} of {cases} passed"
        shutil.rmtree(journal.parent)
        first, last = WORKERS - 1, len(ends) - WORKERS - 1
        steady = (last - first) / (ends[last] - ends[first]) if last > first else 0.0
        return max(ends) - datetime.fromisoformat(begun).timestamp(), steady


def engine_rows(folder: Path) -> list[Row]:
    """Every row about runs."""
    with Loopback() as server:
        project = Project(folder / "at-once", server)
        rows = [*_against_bare(project, "cases.jsonl"), *_against_bare(project, "suite.yaml")]
        rows += _growth(project)
    with Loopback(delay_ms=_DELAY_MS) as server:
        rows.append(_steady(Project(folder / "delayed", server)))
    return rows


def _against_bare(project: Project, name: str) -> list[Row]:
    suite = project.suite(name, _CASES)
    bodies = project.bodies(suite)
    bare_loops: list[float] = []
    run_loops: list[float] = []
    checksums = set()

    def bare() -> float:
        cost, seconds, counts = _bare(project, bodies, _CASES)
        bare_loops.append(seconds)
        checksums.add(counts.checksum)
        return cost.wall

    def run() -> float:
        ran = project.run(suite, _CASES)
        run_loops.append(ran.seconds)
        checksums.add(ran.counts.checksum)
        return ran.cost.wall

    reference, measured = best_of_each(_ROUNDS, bare, run)
    assert len(checksums) == 1, "the run and the bare loop sent different bodies"
    kind = suite.suffix[1:].upper()
    row = ratio(f"`turnwise run`, {_CASES:,} cases of {kind}, server at 0 ms / bare aiohttp", measured, reference, 2)
    loops = f"; without start-up and end {min(run_loops) * 1000:.0f} ms / {min(bare_loops) * 1000:.0f} ms"
    return [Row(row.what, row.figure, row.bar, row.unit, row.detail + loops)]


def _bare(project: Project, bodies: Path, requests: int) -> tuple[Cost, float, Counts]:
    log = project.folder / "bare.log"
    project.server.counts()
    cost = cost_of([PYTHON, str(HERE / "bare.py"), project.server.url, str(bodies), str(WORKERS)], log=log)
    result = json.loads(log.read_text(encoding="utf-8"))
    assert result["answered"] == requests, f"the bare loop had {result['answered']} answers"
    return cost, result["seconds"], project.server.counts()


def _growth(project: Project) -> list[Row]:
    few, many = project.suite("few.jsonl", _FEW), project.suite("many.jsonl", _MANY)
    peaks: dict[int, list[float]] = {_FEW: [], _MANY: []}

    def wall(suite: Path, cases: int) -> Callable[[], float]:
        def measure() -> float:
            cost = project.run(suite, cases).cost
            peaks[cases].append(cost.peak_mb)
            return cost.wall

        return measure

    short, long = best_of_each(_GROWTH_ROUNDS, wall(few, _FEW), wall(many, _MANY))
    size = f"{_FEW:,} to {_MANY:,} JSONL cases"
    each = f"{short / _FEW * 1e6:.0f} µs to {long / _MANY * 1e6:.0f} µs a case"
    before, after = min(peaks[_FEW]), min(peaks[_MANY])
    require_larger_than_own(before)
    return [
        Row(f"wall time for each case, {size}: `turnwise run`", long / _MANY / (short / _FEW), 1.1, " ×", each),
        Row(f"peak memory, {size}: `turnwise run`", after - before, 30, " MB", f"{before:.1f} MB to {after:.1f} MB"),
    ]


def _steady(project: Project) -> Row:
    """Results a second after start-up, against as many as can be."""
    suite = project.suite("cases.jsonl", _STEADY_CASES)
    ideal = WORKERS / (_DELAY_MS / 1000)
    reached = max(project.run(suite, _STEADY_CASES).steady for _ in range(_STEADY_ROUNDS))
    what = f"`turnwise run`, {_STEADY_CASES:,} cases, server at {_DELAY_MS} ms: results a second / {ideal:.0f}"
    return Row(what, reached / ideal, 0.9, " ×", f"{reached:.0f} / {ideal:.0f} a second", at_least=True)
