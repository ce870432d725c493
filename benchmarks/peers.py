"""Measures `turnwise run` against other tools that do the same work; see README.md.

Installs them under build/peers, then measures without any network but loopback. Exits with 1 if a bar is missed. The
results are printed and written to RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from loopback import Loopback
from measure import HERE, PYTHON, Cost, Row, cost_of, like_installed
from peer_install import NODE, install, node_program
from peer_tools import PEERS, Peer, Work
from results import markdown_table, rows_table, write_section

from engine import WORKERS, Project

_INSTALLED = HERE.parent / "build" / "peers"
_CASES = 1_000
_ROUNDS = {_CASES: 3, 1: 5}
_OURS = "Turnwise"
_NO_NETWORK = ("unshare", "--user", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "-")


class Contest:
    """Everybody's costs, by tool and number of cases. Who cannot take part is in `out`, with the reason; `failures` are
    rounds that went wrong for a tool that did well in others."""

    def __init__(self, folder: Path, server: Loopback, out: dict[str, str]) -> None:
        self.folder = folder
        self.server = server
        self.out = out
        self.failures: list[str] = []
        self.costs: dict[tuple[str, int], Cost] = {}
        self._project = Project(folder / "ours", server)

    def hold(self) -> None:
        """Every tool does the work in turn, several times; the least of each cost is kept."""
        self._measure(1, self.out)  # once for nothing: files are read for the first time
        self.costs.clear()
        for cases, rounds in _ROUNDS.items():
            reasons: dict[str, str] = {}
            for _ in range(rounds):
                self._measure(cases, reasons)
            for name, reason in reasons.items():
                if (name, cases) in self.costs:
                    self.failures.append(f"{name} failed in a round of {cases:,} cases: {reason}")
                else:
                    self.out[name] = reason

    def _measure(self, cases: int, reasons: dict[str, str]) -> None:
        suite = self._project.folder / f"cases-{cases}.jsonl"
        if not suite.exists():
            self._project.suite(suite.name, cases)
        self._keep(_OURS, cases, self._project.run(suite, cases).cost)
        for peer in PEERS:
            if peer.name in self.out:
                continue
            try:
                self._keep(peer.name, cases, self._cost(peer, suite, cases))
            except (subprocess.CalledProcessError, OSError, AssertionError, ValueError, LookupError) as error:
                print(f"{peer.name}: {error} {getattr(error, 'output', '')}", file=sys.stderr)
                reasons[peer.name] = _reason(error)

    def _cost(self, peer: Peer, suite: Path, cases: int) -> Cost:
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            work = Work(_INSTALLED / peer.home, node_program(_INSTALLED), Path(scratch), cases, self.server.url)
            shutil.copyfile(suite, work.dataset)
            job, log = peer.job(work), work.folder / "output.log"
            plain = {"PATH": os.environ["PATH"], "HOME": scratch, "LANG": "C.UTF-8"}
            self.server.counts()
            cost = cost_of(job.command, cwd=work.folder, env={**plain, **job.environment}, log=log)
            asked = self.server.counts().completions
            assert asked == cases, f"it sent {asked:,} requests for {cases:,} cases"
            passed = job.passed(log.read_text(encoding="utf-8", errors="replace"))
            assert passed == cases, f"{passed:,} of {cases:,} cases passed"
            return cost

    def _keep(self, name: str, cases: int, cost: Cost) -> None:
        print(f"{name}: {cases:,} cases, {cost.wall:.2f} s, CPU {cost.cpu:.2f} s", flush=True)
        best = self.costs.setdefault((name, cases), cost)
        self.costs[name, cases] = replace(best, wall=min(best.wall, cost.wall), cpu=min(best.cpu, cost.cpu))


def _reason(error: Exception) -> str:
    text = str(error)
    if isinstance(error, subprocess.CalledProcessError) and error.output:
        lines = [line.strip() for line in error.output.splitlines() if line.strip()]
        told = next((line for line in reversed(lines) if "error" in line.lower()), lines[-1])
        text = f"exit code {error.returncode}: {told}"
    return text.replace("|", "/")[:300]


def bars(contest: Contest) -> list[Row]:
    """How many times faster we are than the fastest of the others; and than a client that nobody would want to keep."""
    tools = [peer.name for peer in PEERS if not peer.own_client and peer.name not in contest.out]
    lean = [peer.name for peer in PEERS if peer.own_client and peer.name not in contest.out]
    if not tools:
        return []
    work = f"{_CASES:,} cases"
    rows = [
        _faster(contest, tools, f"wall time, {work}", _CASES, "wall", 4),
        _faster(contest, tools, f"CPU, {work}", _CASES, "cpu", 4),
        _part(contest, tools),
    ]
    if lean:
        rows += [
            _faster(contest, lean, f"wall time, {work}, own client", _CASES, "wall", 1),
            _faster(contest, lean, f"CPU, {work}, own client", _CASES, "cpu", 1),
        ]
    return rows


def _fastest(contest: Contest, names: list[str], cases: int, kind: str) -> tuple[float, str]:
    return min((getattr(contest.costs[name, cases], kind), name) for name in names)


def _faster(contest: Contest, names: list[str], what: str, cases: int, kind: str, bar: float) -> Row:
    theirs, name = _fastest(contest, names, cases, kind)
    ours: float = getattr(contest.costs[_OURS, cases], kind)
    detail = f"{name} {theirs:.2f} s / {ours:.2f} s"
    return Row(f"{what}: fastest peer / ours", theirs / ours, bar, " ×", detail, at_least=True)


def _part(contest: Contest, names: list[str]) -> Row:
    theirs, name = _fastest(contest, names, 1, "wall")
    ours = contest.costs[_OURS, 1].wall
    return Row(
        "wall time, one case: ours / fastest peer", ours / theirs, 0.5, " ×", f"{ours:.2f} s / {name} {theirs:.2f} s"
    )


def costs_table(contest: Contest) -> str:
    """What everybody needed."""
    head = ("tool", "version", "at once", f"{_CASES:,} cases", "CPU", "one case", "CPU")
    lines = [head, _line(contest, _OURS, version("turnwise"), WORKERS)]
    lines += [_line(contest, peer.name, peer.version, peer.workers) for peer in PEERS if peer.name not in contest.out]
    notes = [f"{name} could not be measured: {reason}" for name, reason in contest.out.items()]
    notes += contest.failures
    return "\n".join([markdown_table(lines), *([""] if notes else []), *(f"- {note}" for note in notes)])


def _line(contest: Contest, name: str, release: str, workers: int) -> tuple[str, ...]:
    costs = [contest.costs[name, cases] for cases in (_CASES, 1)]
    times = [f"{seconds:.2f} s" for cost in costs for seconds in (cost.wall, cost.cpu)]
    return name, release, str(workers), *times


def measure(out: dict[str, str]) -> int:
    """Measure, print, write; whether a bar was missed."""
    with tempfile.TemporaryDirectory(prefix="turnwise-peers-") as folder, Loopback() as server:
        like_installed(Path(folder, "bytecode"))
        contest = Contest(Path(folder), server, out)
        contest.hold()
    rows = bars(contest)
    body = f"{costs_table(contest)}\n\n{rows_table(rows)}\n\nNode.js for promptfoo and AgentV: {NODE.split('@')[1]}."
    print(body)
    write_section("Turnwise and its peers", "make bench-peers", body)
    return 0 if rows and all(row.met for row in rows) else 1


def install_all() -> dict[str, str]:
    """Install the peers; who could not be installed, and why."""
    out = {}
    for peer in PEERS:
        try:
            install(peer, _INSTALLED)
        except (OSError, subprocess.CalledProcessError) as error:
            out[peer.name] = f"not installed: {error}"
    return out


def main() -> int:
    """Install with the network, and measure without it where the system can take it away."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", metavar="JSON", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure is not None:
        return measure(json.loads(arguments.measure))
    out = install_all()
    command = [PYTHON, str(HERE / "peers.py"), "--measure", json.dumps(out)]
    try:
        subprocess.run([*_NO_NETWORK, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        print("note: the network stays on: this system cannot take it away from a process", file=sys.stderr)
        return subprocess.run(command, check=False).returncode
    return subprocess.run([*_NO_NETWORK, *command], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
