"""Mutation testing: changes the code in small ways, and names the changes that no test notices.

    python tools/mutate.py 'src/turnwise/stats/*.py=tests/stats' --sample 20 --minutes 30

Every argument is `MODULES=TESTS`: a glob of modules, and the files or folders (with commas between them) of the tests
that concern them. A mutant is one module with one change, written into a temporary copy of the package that is found
before the real one. First run the doctests of the module and the test files that name it, then all of its tests; the
first test that fails has killed it. `--near` leaves out the second step. A mutant that takes too long counts as timed
out, which is as good as killed. Whatever survives is either a hole in the tests, or a change that means nothing: those
are listed, with the reason, in tests/mutants.md. `--sample` takes so many mutants of every module, by `--seed`.

Each mutant runs in a fork of this process, which has loaded the large libraries once: most take less than a second.
The exit code is 1 if a mutant survived. It needs Linux, as it forks and limits memory.
"""

from __future__ import annotations

import argparse
import compileall
import glob
import importlib
import importlib.util
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Literal

from mutants import Mutant, mutants_of

Outcome = Literal["killed", "survived", "timed out"]

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = Path("src")
LARGE = (
    *("numpy", "scipy.stats", "sklearn.metrics", "statsmodels.stats.inter_rater", "statsmodels.stats.multitest"),
    *("aiohttp", "click.testing", "hypothesis.strategies", "pydantic", "pytest", "rich.console", "rich.table", "yaml"),
)
MEMORY = 6 * 2**30
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-m", "not slow", "-W", "ignore::pytest.PytestAssertRewriteWarning")


class Trial:
    """A temporary copy of the package, in which one mutant at a time is tried."""

    def __init__(self, folder: Path, limit: float) -> None:
        self.folder, self.limit = folder, limit
        shutil.copytree(PACKAGES, folder, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
        compileall.compile_dir(folder, quiet=1)

    def copy_of(self, module: Path) -> Path:
        """Where the module is in the copy."""
        return self.folder / module.relative_to(PACKAGES)

    def of(self, mutant: Mutant, rounds: list[list[str]]) -> Outcome:
        """What became of a mutant after all rounds of tests."""
        copy = self.copy_of(mutant.module)
        original = mutant.module.read_bytes()
        # Two mutants of one second and one size would share their compiled file.
        Path(importlib.util.cache_from_source(str(copy))).unlink(missing_ok=True)
        copy.write_text(mutant.source, encoding="utf-8")
        try:
            outcomes = (self.run([str(copy), *tests] if not at else tests) for at, tests in enumerate(rounds))
            return next((each for each in outcomes if each != "survived"), "survived")
        finally:
            copy.write_bytes(original)

    def check(self, rounds: dict[Path, list[list[str]]]) -> None:
        """Give up unless all tests pass without a mutant: what always fails would kill every mutant."""
        near = [(str(self.copy_of(module)), *tests[0]) for module, tests in rounds.items()]
        for tests in [*near, *{tuple(each) for others in rounds.values() for each in others[1:]}]:
            if self.run(list(tests)) != "survived":
                sys.exit(f"without a mutant, tests fail or take more than {self.limit:g} s: {' '.join(tests)}")

    def run(self, tests: list[str]) -> Outcome:
        """Run tests on the copy, in a process of their own that ends within the limit."""
        process = multiprocessing.get_context("fork").Process(target=_run_tests, args=(self.folder, tests))
        process.start()
        process.join(self.limit)
        if process.is_alive() and process.pid is not None:
            os.killpg(process.pid, signal.SIGKILL)
            process.join()
            return "timed out"
        return "killed" if process.exitcode else "survived"


def _run_tests(folder: Path, tests: list[str]) -> None:
    import pytest

    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    os.environ |= {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(folder))
    os._exit(pytest.main([*OPTIONS, f"--rootdir={ROOT}", f"--confcutdir={ROOT}", "-c", "pyproject.toml", *tests]))


def rounds_for(module: Path, tests: list[str], near: bool) -> list[list[str]]:
    """The test files that name the module, and then all; only all if none does."""
    name = ".".join(module.relative_to(PACKAGES).with_suffix("").parts)
    files = [
        file for each in tests for file in ([Path(each)] if each.endswith(".py") else Path(each).rglob("test_*.py"))
    ]
    named = [str(file) for file in sorted(files) if f"{name} " in file.read_text(encoding="utf-8")]
    return [named] if named and near else [named, tests] if named else [tests]


def main() -> int:
    """Try the mutants that the command line asks for; 1 if one survived."""
    parser = argparse.ArgumentParser(description="mutation testing", epilog="the docstring of this file says more")
    parser.add_argument("pairs", nargs="+", metavar="MODULES=TESTS")
    parser.add_argument("--sample", type=int, default=10**6, help="mutants of every module (all of them)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=90.0, help="seconds for one mutant and round (90)")
    parser.add_argument("--minutes", type=float, default=55.0, help="for all of it (55)")
    parser.add_argument("--near", action="store_true", help="only the test files that name the module")
    asked = parser.parse_args()
    os.chdir(ROOT)
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    for name in LARGE:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        return _try_all(asked, Trial(Path(folder), asked.limit))


def _chosen(asked: argparse.Namespace) -> list[tuple[Mutant, list[list[str]]]]:
    """The sample, in an order by chance: where the time runs out, every module has had its share."""
    chance, chosen = random.Random(asked.seed), []
    for modules, _, tests in (pair.partition("=") for pair in asked.pairs):
        for module in sorted(map(Path, glob.glob(modules))):
            every, rounds = mutants_of(module), rounds_for(module, tests.split(","), asked.near)
            chosen += [(mutant, rounds) for mutant in chance.sample(every, min(asked.sample, len(every)))]
    chance.shuffle(chosen)
    return chosen


def _try_all(asked: argparse.Namespace, trial: Trial) -> int:
    chosen, end = _chosen(asked), time.monotonic() + asked.minutes * 60
    trial.check({mutant.module: rounds for mutant, rounds in chosen})
    tally: dict[str, Counter[str]] = {}
    for mutant, rounds in chosen:
        if time.monotonic() > end:
            print("the time is up; the other mutants were not tried")
            break
        outcome = trial.of(mutant, rounds)
        tally.setdefault(str(mutant.module), Counter())[outcome] += 1
        if outcome != "killed":
            print(f"{outcome}  {mutant}", flush=True)
    for name, counts in sorted(tally.items()):
        print(f"{name}: {', '.join(f'{number} {outcome}' for outcome, number in sorted(counts.items()))}")
    return int(any(counts["survived"] for counts in tally.values()))


if __name__ == "__main__":
    sys.exit(main())
