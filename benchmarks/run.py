"""Measures start-up, speed and memory, each against a reference in the same run; see README.md.

Exits with 1 if a bar is missed. The results are printed and written to RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

from generate import CASES, Files

_HERE = Path(__file__).resolve().parent
_PYTHON = sys.executable
_TURNWISE = str(Path(sys.executable).with_name("turnwise"))
_SMALL_SUITE = str(_HERE.parent / "examples" / "support" / "suite.yaml")

_START_UPS = 40
_LOADS = 7
_PEAKS = 2
_ROUNDS = 5


@dataclass(frozen=True)
class Row:
    """One line of the table: a figure that must not exceed its bar."""

    what: str
    figure: float
    bar: float
    unit: str
    detail: str

    @property
    def met(self) -> bool:
        """Whether the figure is within its bar."""
        return self.figure <= self.bar

    def cells(self) -> tuple[str, ...]:
        """The line as text."""
        verdict = "met" if self.met else "NOT MET"
        return self.what, f"{self.figure:.2f}{self.unit}", f"≤ {self.bar:g}{self.unit}", verdict, self.detail


def best_of_each(repeats: int, *measures: Callable[[], float]) -> list[float]:
    """The least of several repeats. They take turns, so that a busy machine slows all of them alike."""
    rounds = [[measure() for measure in measures] for _ in range(repeats)]
    return [min(figures) for figures in zip(*rounds, strict=True)]


def like_installed(bytecode: Path) -> None:
    """Let the processes find compiled modules, as after an installation, whatever the environment says."""
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"):
        os.environ.pop(name, None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(bytecode)


def start_up() -> list[Row]:
    """The whole life of a process, from outside."""
    bare, usage, prompt = best_of_each(
        _START_UPS,
        lambda: _wall_time([_PYTHON, "-c", "pass"]),
        lambda: _wall_time([_TURNWISE, "--help"]),
        lambda: _wall_time([_TURNWISE, "prompt", _SMALL_SUITE]),
    )
    return [
        _ratio("`turnwise --help` / `python -c pass`", usage, bare, 5),
        _ratio("`turnwise prompt`, small suite / `python -c pass`", prompt, bare, 16),
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
        _ratio(f"load + validate + convert, YAML of {size} / PyYAML `CSafeLoader`", from_yaml, reference, 0.35),
        _ratio(f"load + validate + convert, JSONL / YAML, {size}", from_jsonl, from_yaml, 0.5),
    ]


def providers() -> list[Row]:
    """Encoding and decoding, and the CPU that a provider takes for many requests at once."""
    rows = []
    for name in ("openai", "responses", "anthropic", "gemini", "bedrock"):
        microseconds = _provider_work("wire", name)["microseconds"]
        what = f"encode + decode, 20 turns, `{name}`, JSON text included"
        rows.append(Row(what, microseconds, 150, " µs", "best of 40 × 50"))
    server = subprocess.Popen(
        [_PYTHON, str(_HERE / "providers.py"), "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{json.loads(server.stdout.readline())['port']}/v1"
        bare, ours = best_of_each(
            _ROUNDS, lambda: _provider_work("bare", url)["cpu"], lambda: _provider_work("provider", url)["cpu"]
        )
    finally:
        server.communicate()
    rows.append(_ratio("CPU of 1,000 requests, 64 at once, through a provider / bare aiohttp", ours, bare, 2))
    return rows


def _provider_work(job: str, argument: str) -> dict[str, float]:
    command = [_PYTHON, str(_HERE / "providers.py"), job, argument]
    result: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert result.get("answered", 1000) == 1000, f"{job}: only {result['answered']} answers"
    return result


def memory(small: Path, large: Path, size: str) -> list[Row]:
    """How much more a process needs at its peak for the larger dataset."""
    commands: dict[str, Callable[[Path], list[str]]] = {
        "Python API": lambda path: [_PYTHON, str(_HERE / "worker.py"), "convert", str(path)],
        "`turnwise prompt --format json`": lambda path: [_TURNWISE, "prompt", "--format", "json", str(path)],
        "`turnwise validate`": lambda path: [_TURNWISE, "validate", str(path)],
    }
    return [_growth(f"peak memory, {size}: {name}", make, small, large) for name, make in commands.items()]


def _growth(what: str, make: Callable[[Path], list[str]], small: Path, large: Path) -> Row:
    before, after = best_of_each(_PEAKS, lambda: _peak_megabytes(make(small)), lambda: _peak_megabytes(make(large)))
    return Row(what, after - before, 20, " MB", f"{before:.1f} MB to {after:.1f} MB")


def _ratio(what: str, measured: float, reference: float, bar: float) -> Row:
    return Row(what, measured / reference, bar, " ×", f"{measured * 1000:.0f} ms / {reference * 1000:.0f} ms")


def _same_work(files: Files) -> None:
    """YAML and JSONL hold the same cases: the same must come out."""
    results = [_work("convert", path) for path in (files.yaml, files.jsonl)]
    outcomes = {(result["cases"], result["characters"]) for result in results}
    assert len(outcomes) == 1, f"YAML and JSONL gave different conversations: {outcomes}"
    assert results[0]["cases"] == CASES


def _wall_time(command: Sequence[str]) -> float:
    start = perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return perf_counter() - start


def _work(job: str, path: Path) -> dict[str, float]:
    command = [_PYTHON, str(_HERE / "worker.py"), job, str(path)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result: dict[str, float] = json.loads(output)
    return result


def _peak_megabytes(command: Sequence[str]) -> float:
    """The largest resident set of a process. Linux lets it start from its parent's, so this process stays small."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = [("what", "measured", "bar", "", "figures"), *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    text = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(text)


def machine() -> str:
    """What the figures were measured on, without saying whose it is."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1024**3
    packages = ", ".join(f"{name} {version(name)}" for name in ("PyYAML", "pydantic", "click", "aiohttp"))
    return (
        f"{os.cpu_count()} cores, {pages:.0f} GB memory, {platform.system()} {platform.release()} "
        f"({platform.machine()}), {platform.python_implementation()} {platform.python_version()}; {packages}"
    )


def write_results(rows: Sequence[Row], command: str) -> None:
    """RESULTS.md, as README.md explains it."""
    text = f"# Results\n\nMachine: {machine()}\n\nCommand: `{command}`\n\n{table(rows)}\n"
    (_HERE / "RESULTS.md").write_text(text, encoding="utf-8")


def measure_all(folder: Path, huge: bool) -> list[Row]:
    """Every row; the files are made by another process, so that this one stays small."""
    command = [_PYTHON, str(_HERE / "generate.py"), str(folder), *(["--huge"] if huge else [])]
    subprocess.run(command, check=True)
    files = Files(folder)
    rows = [
        *start_up(),
        *speed(files),
        *providers(),
        *memory(files.jsonl_10k, files.jsonl_100k, "10,000 to 100,000 JSONL cases"),
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
    print(table(rows))
    write_results(rows, "python benchmarks/run.py --huge" if huge else "make bench")
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
