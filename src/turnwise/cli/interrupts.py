"""A request to end that came: remembered, because not everything that it interrupts lets it through as it is."""

from __future__ import annotations

import signal
from types import FrameType

__all__ = ["end_on", "was_asked_to_end"]

_asked = False


def end_on(*numbers: signal.Signals) -> None:
    """Have these signals end what is going on, like Ctrl-C; those that the caller has chosen to ignore stay ignored."""
    global _asked  # noqa: PLW0603  (signals are of the whole process)
    _asked = False
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def was_asked_to_end() -> bool:
    """Whether such a signal came. A library that builds classes in native code may have made another error of it."""
    return _asked


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  (what every handler is given)
    global _asked  # noqa: PLW0603
    _asked = True
    raise KeyboardInterrupt
