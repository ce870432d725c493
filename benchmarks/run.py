"""Measures start-up, speed and memory, each against a reference in the same run; see README.md.

Exits with 1 if a bar is missed. The results are printed and written to RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from calibrate import calibrate_rows
from figures import figure_rows
from generate import CASES, Files
from measure import HERE, PYTHON, TURNWISE, Row, best_of_each, cost_of, like_installed, ratio, require_larger_than_own
from results import rows_table, write_section

from engine import engine_rows

_SMALL_SUITE = str(HERE.parent / "examples" / "support" / "suite.yaml")

_START_UPS = 40
_LOADS = 7
_PEAKS = 2
_ROUNDS = 5


def start_up() -> list[Row]:
    """The whole life of a process, from outside."""
    bare, usage, prompt = best_of_each(
        _START_UPS,
        lambda: cost_of([PYTHON, "-c", "pass"]).wall,
        lambda: cost_of([TURNWISE, "--help"]).wall,
        lambda: cost_of([TURNWISE, "prompt", _SMALL_SUITE]).wall,
    )
    return [
        ratio("`turnwise --help` / `python -c pass`", usage, bare, 5),
        ratio("`turnwise prompt`, small suite / `python -c pass`", prompt, bare, 16),
    ]


def speed(files: Files) -> list[Row]:
    """Load, validate and convert, inside a fresh process."""
    reference, from_yaml, from_jsonl = best_of_each(
        _LOADS,
        lambda: _work("reference", files.yaml)["seconds"],
        lambda: _work("convert", files.yaml)["seconds"],
        lambda: _work("convert", files.jsonl)["seconds"],
    )
    _same_work(files)
    size = f"{CASES:,} cases"
    return [
        ratio(f"load + validate + convert, YAML of {size} / PyYAML `CSafeLoader`", from_yaml, reference, 0.35),
        ratio(f"load + validate + convert, JSONL / YAML, {size}", from_jsonl, from_yaml, 0.5),
    ]


def providers() -> list[Row]:
    """Encoding and decoding, and the CPU that a provider takes for many requests at once."""
    rows = []
    for name in ("openai", "responses", "anthropic", "gemini", "bedrock"):
        microseconds = _provider_work("wire", name)["microseconds"]
        what = f"encode + decode, 20 turns, `{name}`, JSON text included"
        rows.append(Row(what, microseconds, 150, " µs", "best of 40 × 50"))
    server = subprocess.Popen(
        [PYTHON, str(HERE / "providers.py"), "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{json.loads(server.stdout.readline())['port']}/v1"
        bare, ours = best_of_each(
            _ROUNDS, lambda: _provider_work("bare", url)["cpu"], lambda: _provider_work("provider", url)["cpu"]
        )
    finally:
        server.communicate()
    rows.append(ratio("CPU of 1,000 requests, 64 at once, through a provider / bare aiohttp", ours, bare, 2))
    return rows


def _provider_work(job: str, argument: str) -> dict[str, float]:
    command = [PYTHON, str(HERE / "providers.py"), job, argument]
    result: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert result.get("answered", 1000) == 1000, f"{job}: only {result['answered']} answers"
    return result


def memory(small: Path, large: Path, size: str) -> list[Row]:
    """How much more a process needs at its peak for the larger dataset."""
    commands: dict[str, Callable[[Path], list[str]]] = {
        "Python API": lambda path: [PYTHON, str(HERE / "worker.py"), "convert", str(path)],
        "`turnwise prompt --format json`": lambda path: [TURNWISE, "prompt", "--format", "json", str(path)],
        "`turnwise validate`": lambda path: [TURNWISE, "validate", str(path)],
    }
    return [_growth(f"peak memory, {size}: {name}", make, small, large) for name, make in commands.items()]


def _growth(what: str, make: Callable[[Path], list[str]], small: Path, large: Path) -> Row:
    before, after = best_of_each(_PEAKS, lambda: cost_of(make(small)).peak_mb, lambda: cost_of(make(large)).peak_mb)
    require_larger_than_own(before)
    return Row(what, after - before, 20, " MB", f"{before:.1f} MB to {after:.1f} MB")


def _same_work(files: Files) -> None:
    """YAML and JSONL hold the same cases: the same must come out."""
    results = [_work("convert", path) for path in (files.yaml, files.jsonl)]
    outcomes = {(result["cases"], result["characters"]) for result in results}
    assert len(outcomes) == 1, f"YAML and JSONL gave different conversations: {outcomes}"
    assert results[0]["cases"] == CASES


def _work(job: str, path: Path) -> dict[str, float]:
    command = [PYTHON, str(HERE / "worker.py"), job, str(path)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result: dict[str, float] = json.loads(output)
    return result


def measure_all(folder: Path, huge: bool) -> list[Row]:
    """Every row; the files are made by another process, so that this one stays small."""
    command = [PYTHON, str(HERE / "generate.py"), str(folder), *(["--huge"] if huge else [])]
    subprocess.run(command, check=True)
    files = Files(folder)
    rows = [
        *start_up(),
        *speed(files),
        *providers(),
        *engine_rows(folder),
        # Before calibrations, whose reports this process reads, and grows by.
        *memory(files.jsonl_10k, files.jsonl_100k, "10,000 to 100,000 JSONL cases"),
        *figure_rows(),
        *calibrate_rows(folder),
    ]
    if huge:
        rows += memory(files.jsonl_10k, files.jsonl_huge, "10,000 JSONL cases to 1 GB")
    return rows


def main() -> int:
    """Measure, print, write; whether a bar was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--huge", action="store_true", help="also a JSONL file of 1 GB: takes many minutes")
    huge = parser.parse_args().huge
    with tempfile.TemporaryDirectory(prefix="turnwise-bench-") as folder:
        like_installed(Path(folder, "bytecode"))
        rows = measure_all(Path(folder), huge)
    print(rows_table(rows))
    write_section("Turnwise", "python benchmarks/run.py --huge" if huge else "make bench", rows_table(rows))
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
