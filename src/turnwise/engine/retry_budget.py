"""How many retries a target is worth: enough for a bad moment, not for a bad day."""

from __future__ import annotations

__all__ = ["RetryBudget"]

_EACH_WORKER = 4
_LEAST = 20
_EARNED = 0.5


class RetryBudget:
    """A reserve of retries. Every answer earns half a retry, up to the reserve.

    A server that is down would otherwise cost every case all of its retries, and their pauses: with an empty reserve,
    a case fails at its first attempt, and can be done again when the run is resumed.

    >>> budget = RetryBudget(workers=1)
    >>> [budget.take() for _ in range(21)][-2:]
    [True, False]
    """

    def __init__(self, workers: int) -> None:
        self._most = float(max(_LEAST, _EACH_WORKER * workers))
        self._left = self._most

    def take(self) -> bool:
        """Whether there is a retry left; then it is used."""
        if self._left < 1:
            return False
        self._left -= 1
        return True

    def earn(self) -> None:
        """An answer came."""
        self._left = min(self._most, self._left + _EARNED)
