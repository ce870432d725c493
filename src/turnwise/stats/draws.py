"""Drawing with replacement: clusters as rows of sums, distinct rows with their counts, and the sums of what is drawn.

Rows that are the same need not be told apart. What is drawn depends on the seed and the number of rows alone, so that
models and figures of the same samples share it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .pairs import cluster_codes

__all__ = ["Clusters", "Counts", "Floats", "cluster_rows", "distinct_rows", "drawn_sums"]

Floats: TypeAlias = npt.NDArray[np.float64]
Counts: TypeAlias = npt.NDArray[np.int64]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Clusters: TypeAlias = Sequence[Hashable] | None
"""The cluster of each sample; one whose cluster is None is a cluster of its own. None: all are independent."""

WORTH_COUNTING = 8
"""So many samples per distinct row make drawing a count for each row quicker than drawing every sample."""
WIDE = 64
"""Rows of more columns than this are held in memory no more often than they must."""
CHUNK = 1_000_000
"""How many draws are held in memory at once, as large numbers."""
KEPT = 32_000_000
"""How many counts are kept, a byte each, for whoever draws as many again with the same seed."""
EXACT = 2.0**24
"""Single precision holds every whole number up to this."""


def distinct_rows(table: Floats) -> tuple[Floats, Counts]:
    """The distinct rows, in an order that is their own, and how often each occurs."""
    # Ten times as quick as np.unique on wide rows.
    keys = _row_keys(table)
    tally = Counter(keys)
    first = dict(zip(reversed(keys), range(len(keys) - 1, -1, -1), strict=True))
    places = np.array([first[key] for key in tally], dtype=np.intp)
    order = np.lexsort(table[places].T) if table.shape[1] else np.arange(len(places))
    rows = table[places[order]]
    rows += 0.0  # makes -0 the 0 that it equals
    return rows, np.fromiter(tally.values(), np.int64, len(tally))[order]


def _row_keys(table: Floats) -> list[bytes]:
    """For each row a key that rows share where they are the same: its bytes, or a digest where these are many."""
    if table.shape[1] <= WIDE:
        return [row.tobytes() for row in table + 0.0]
    return [blake2b((row + 0.0).tobytes(), digest_size=16).digest() for row in table]


def cluster_rows(table: Floats, clusters: Clusters) -> Floats:
    """The sum of each cluster's rows; the rows themselves where every one is a cluster of its own."""
    if clusters is None:
        return table
    if len(clusters) != len(table):
        raise ValueError(f"every row needs a cluster; found {len(table)} rows and {len(clusters)} clusters")
    codes = cluster_codes(clusters, len(table))
    if codes is None:
        return table
    # Sums of floats depend on the order at the last digit, so that the rows set it themselves.
    order = np.arange(len(table)) if _exact(table, len(table)) else np.array(_order_of_rows(table), dtype=np.intp)
    order = order[np.argsort(codes[order], kind="stable")]
    sums: Floats = np.add.reduceat(table[order], _starts(np.bincount(codes)), axis=0)
    return sums


def _order_of_rows(table: Floats) -> list[int]:
    return sorted(range(len(table)), key=lambda place: table[place].tobytes())


def _starts(lengths: Counts) -> Counts:
    """Where each of several runs begins that follow one another."""
    return np.asarray(np.cumsum(lengths) - lengths, dtype=np.int64)


def _exact(table: Floats, total: int) -> bool:
    """Whether the rows hold whole numbers so small that any sum of `total` is exact, even in single precision."""
    return float(np.abs(table).max(initial=0.0)) * total < EXACT and bool((table == np.rint(table)).all())


def drawn_sums(rows: Floats, times: Counts, draws: int, seed: int) -> Floats:
    """The sums of resamples, a line each: as many rows as there are, with replacement, a row counting `times` times."""
    total = int(times.sum())
    if not total:
        return np.zeros((0, rows.shape[1]))
    single = _exact(rows, total)
    return np.concatenate([_product(counts, rows, single) for counts in _row_counts(times, total, draws, seed)])


def _product(counts: npt.NDArray[np.integer], rows: Floats, single: bool) -> Floats:
    """The sums of what was drawn; single precision is twice as quick, where it loses nothing."""
    if single:
        return (counts.astype(np.float32) @ rows.astype(np.float32)).astype(np.float64)
    return np.asarray(counts.astype(np.float64) @ rows, dtype=np.float64)


def _row_counts(times: Counts, total: int, draws: int, seed: int) -> Iterator[npt.NDArray[np.integer]]:
    """How often each distinct row is drawn: a line for every resample, in blocks."""
    if len(times) * WORTH_COUNTING <= total:
        rng = np.random.default_rng(seed)
        for lines in _block_sizes(draws, len(times)):
            yield rng.multinomial(total, times / total, size=lines)
        return
    for counts in _place_counts(total, draws, seed):
        yield counts if len(times) == total else np.add.reduceat(counts, _starts(times), axis=1, dtype=np.int32)


def _place_counts(total: int, draws: int, seed: int) -> Iterator[Bytes]:
    """How often each of `total` places is drawn in `total` draws: a line for every resample, in blocks."""
    if total * draws > KEPT:
        yield from _fresh_counts(total, draws, seed)
        return
    start = 0
    for lines in _block_sizes(draws, total):
        yield _kept_counts(total, draws, seed)[start : start + lines]
        start += lines


@lru_cache(maxsize=1)
def _kept_counts(total: int, draws: int, seed: int) -> Bytes:
    """The counts as one table, kept because several models and figures ask for the very same."""
    table = np.concatenate([np.zeros((0, total), dtype=np.uint8), *_fresh_counts(total, draws, seed)])
    table.setflags(write=False)
    return table


def _fresh_counts(total: int, draws: int, seed: int) -> Iterator[Bytes]:
    rng = np.random.default_rng(seed)
    for lines in _block_sizes(draws, total):
        chosen = rng.integers(0, total, size=(lines, total))
        chosen += np.arange(lines)[:, None] * total
        # A byte will do: that one of over 255 places comes up over 255 times has a chance of 1 in 10^500.
        yield np.bincount(chosen.ravel(), minlength=lines * total).reshape(lines, total).astype(np.uint8)


def _block_sizes(lines: int, width: int) -> list[int]:
    """How many lines of this width go into each block."""
    step = max(1, CHUNK // width)
    return [min(step, lines - start) for start in range(0, lines, step)]
