"""A request to end that came: remembered, because not everything that it interrupts lets it through as it is."""

from __future__ import annotations

import os
import signal
import time
from types import FrameType

__all__ = ["end_on", "leave_on", "was_asked_to_end"]

# A key that is held, or a signal to the group and to the process: no second wish.
_SAME_WISH_S = 1.0
_INTERRUPTED = 130

_asked = False


def end_on(*numbers: signal.Signals) -> None:
    """Have these signals end what is going on, like Ctrl-C; those that the caller has chosen to ignore stay ignored."""
    global _asked  # noqa: PLW0603  (signals are of the whole process)
    _asked = False
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def leave_on(*numbers: signal.Signals) -> None:
    """Have these signals, once it is ending anyway, raise nothing: they end the process, if it has not ended soon."""
    since = time.monotonic()

    def leave(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if time.monotonic() - since > _SAME_WISH_S:
            os._exit(_INTERRUPTED)

    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, leave)


def was_asked_to_end() -> bool:
    """Whether such a signal came. A library that builds classes in native code may have made another error of it."""
    return _asked


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  (what every handler is given)
    global _asked  # noqa: PLW0603
    _asked = True
    # The way out has handlers of its own, which another exception would tear.
    leave_on(signal.SIGINT, signal.SIGTERM)
    raise KeyboardInterrupt
