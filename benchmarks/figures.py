"""Rows for the statistics of a calibration: all figures of four judges on 10,000 samples, and of their differences.

Run by itself it prints the rows; exits with 1 if a bar is missed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import combinations
from time import perf_counter

from measure import HERE, PYTHON, Row
from results import rows_table

__all__ = ["KINDS", "figure_rows"]

KINDS = ("binary", "ordinal", "continuous")
_SAMPLES = 10_000
_CLUSTERS = 4_000
_MODELS = 4
_SEED = 1
_BAR = 3.0
_REPEATS = 3
_CORES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def figure_rows() -> list[Row]:
    """A row for each kind of scale, without clusters and with thousands of them."""
    return [_row(kind, clustered) for kind in KINDS for clustered in (False, True)]


def _row(kind: str, clustered: bool) -> Row:
    command = [PYTHON, str(HERE / "figures.py"), kind, "clustered" if clustered else "independent"]
    one_core = {**os.environ, **dict.fromkeys(_CORES, "1")}
    runs = [json.loads(subprocess.check_output(command, env=one_core, text=True)) for _ in range(_REPEATS)]
    best = min(runs, key=lambda run: float(run["seconds"]))
    samples = f"{_SAMPLES:,} samples" + (f" in {_CLUSTERS:,} clusters" if clustered else "")
    what = f"all figures of {_MODELS} judges and of their differences, {kind}, {samples}"
    return Row(what, best["seconds"], _BAR, " s", f"one core, 2,000 draws; peak memory {best['peak_mb']:.0f} MB")


def _measure(kind: str, clustered: bool) -> dict[str, float]:
    """In a fresh process: the seconds for everything, and the largest resident set."""
    from resource import RUSAGE_SELF, getrusage

    from figures_work import columns, differences, figures

    human, judges, clusters = columns(kind, _SAMPLES, _MODELS, _CLUSTERS if clustered else None)
    begun = perf_counter()
    found = [figure for judge in judges for figure in figures(kind, human, judge, clusters, _SEED)]
    compared = [
        each for pair in combinations(judges, 2) for each in differences(kind, human, *pair, clusters, seed=_SEED)
    ]
    seconds = perf_counter() - begun
    assert all(each.lo is not None for each in found), "a figure has no interval"
    assert all(each.lo is not None for each in compared), "a difference has no interval"
    return {"seconds": seconds, "peak_mb": getrusage(RUSAGE_SELF).ru_maxrss / 1024}


def main(arguments: list[str]) -> int:
    """Measure one kind for the process that asked, or print all rows."""
    if arguments:
        print(json.dumps(_measure(arguments[0], arguments[1] == "clustered")))
        return 0

    rows = figure_rows()
    print(rows_table(rows))
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
