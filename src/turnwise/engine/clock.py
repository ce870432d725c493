"""The time of a run: it never goes back, whatever is done to the clock of the machine meanwhile."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

__all__ = ["RunClock"]


class RunClock:
    """Reads the machine's clock once, and counts from there."""

    def __init__(self) -> None:
        self._began = datetime.now(UTC)
        self._zero = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds since the clock was made."""
        return time.monotonic() - self._zero

    def now(self) -> str:
        """The moment, as ISO 8601 in UTC."""
        return (self._began + timedelta(seconds=time.monotonic() - self._zero)).isoformat()
