"""A κ or a concordance without a standard error to believe: that of full agreement, and that of a constant rater."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .agreement import proportion
from .pairs import Codes, Floats
from .statistic import ONE_CLUSTER, Statistic, bare

__all__ = ["perfect_statistic", "why_constant"]


def perfect_statistic(
    human: Codes | Floats, judge: Codes | Floats, hits: NDArray[np.bool_], groups: Codes | None, level: float
) -> Statistic:
    """A figure of 1, whose lower bound is that of the agreement, corrected for chance; `hits` are the pairs that agree.

    >>> column = np.array([0, 1, 0, 1])
    >>> perfect_statistic(column, column, column == column, None, 0.95).method
    'wilson-agreement'
    """
    least = proportion(hits, groups, level).lo
    if least is None:
        return bare(1.0, human.size, ONE_CLUSTER)
    chance = _chance(human, judge)
    lo = max((least - chance) / (1.0 - chance), -1.0)
    method = "wilson-agreement" if groups is None else "wilson-agreement-clustered"
    return Statistic(1.0, human.size, lo, 1.0, method, 0.0)


def why_constant(human: Codes | Floats, judge: Codes | Floats, what: str) -> str | None:
    """Why the figure cannot be but 0, whatever the other rater does; None where both raters vary.

    >>> why_constant(np.array([0, 0]), np.array([0, 1]), "label")
    'one of the raters gave one and the same label throughout'
    """
    constant = [column.min() == column.max() for column in (human, judge)]
    if all(constant):
        return f"each rater gave one {what} throughout, and not the same one"
    return f"one of the raters gave one and the same {what} throughout" if any(constant) else None


def _chance(human: Codes | Floats, judge: Codes | Floats) -> float:
    """How often two raters with these habits would give the same value without looking."""
    values, codes = np.unique(np.concatenate([human, judge]), return_inverse=True)
    first, second = (np.bincount(each, minlength=values.size) for each in np.split(codes, 2))
    return float(first @ second) / human.size**2
