"""Two columns of labels or scores for the same samples, checked, and the clusters that the samples belong to."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .exact import LARGEST

__all__ = ["Clusters", "Codes", "Floats", "cluster_codes", "code_pairs", "score_pairs"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Clusters = Iterable[Hashable] | NDArray[Any] | None
"""The cluster of each pair; a pair whose cluster is None is a cluster of its own. None: all pairs are independent."""


def score_pairs(human: ArrayLike, judge: ArrayLike) -> tuple[Floats, Floats]:
    """Both columns as floats. Raises `ValueError` for columns of different lengths and for what is no finite number."""
    columns = np.asarray(human, dtype=np.float64), np.asarray(judge, dtype=np.float64)
    _check_shapes(*columns)
    for column in columns:
        unusable = column[~(np.abs(column) <= LARGEST)]
        if unusable.size:
            raise ValueError(
                f"a score must be a finite number of a size up to {LARGEST:g}; found {float(unusable[0])!r}"
            )
    return columns


def code_pairs(human: ArrayLike, judge: ArrayLike, classes: int | None = None) -> tuple[Codes, Codes]:
    """Both columns as codes 0, 1, …; `classes` bounds them. Raises `ValueError` for anything that is no such code."""
    raw = [np.asarray(column) for column in (human, judge)]
    for column in raw:
        if column.size and column.dtype.kind not in "iub":
            raise ValueError(f"labels must be whole-number codes; found values of type {column.dtype}")
    first, second = (column.astype(np.int64) for column in raw)
    _check_shapes(first, second)
    both = np.concatenate([first, second])
    if both.size and (both.min() < 0 or (classes is not None and both.max() >= classes)):
        bound = "0 or more" if classes is None else f"0 to {classes - 1}"
        wrong = both.min() if both.min() < 0 else both.max()
        raise ValueError(f"a label's code must be {bound}; found {int(wrong)}")
    return first, second


def cluster_codes(clusters: Clusters, n: int) -> Codes | None:
    """The number of each pair's cluster; None where every pair is a cluster of its own.

    >>> cluster_codes(["a", "b", "a", None], 4)
    array([0, 1, 0, 2])
    >>> cluster_codes(["a", "b"], 2) is None
    True
    """
    if clusters is None:
        return None
    numbers: dict[Hashable, int] = {}
    # A name that no caller can use stands for "alone".
    names = [(index, cluster_codes) if name is None else name for index, name in enumerate(clusters)]
    if len(names) != n:
        raise ValueError(f"each of the {n} pairs needs a cluster; found {len(names)} clusters")
    codes = [numbers.setdefault(name, len(numbers)) for name in names]
    return None if len(numbers) == n else np.array(codes, dtype=np.int64)


def _check_shapes(human: NDArray[Any], judge: NDArray[Any]) -> None:
    if human.ndim != 1 or judge.ndim != 1 or human.size != judge.size:
        raise ValueError(f"both raters need one value per sample; found shapes {human.shape} and {judge.shape}")
