"""Whether a score is enough: one rule for cases, graders, lines and judges. Pure."""

from __future__ import annotations

__all__ = ["reaches"]

# Three times 0.7 is a little less than 2.1: a mean that falls short by that much does reach the threshold.
_ROUNDING = 1e-9


def reaches(score: float, threshold: float) -> bool:
    """Whether a score is enough, with what rounding may have taken from it.

    >>> reaches((0.7 + 0.7 + 0.7) / 3, 0.7), reaches(0.69, 0.7)
    (True, False)
    """
    return score >= threshold - _ROUNDING
