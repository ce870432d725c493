"""The pipes of a process, served together and in bounded memory: none of them can hold up the others."""

from __future__ import annotations

import os
import selectors
import subprocess
from contextlib import suppress
from time import monotonic
from typing import IO

__all__ = ["Pipes"]

_BLOCK = 64 * 1024
_TAIL = 4096


class Pipes:
    """Gives a process its input, and takes what it writes: `output`, and the last of stderr as `complaint`."""

    def __init__(self, process: subprocess.Popen[bytes], given: bytes, most_bytes: int, tail: int = _TAIL) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.output = bytearray()
        self.complaint = b""
        self._most = most_bytes
        self._tail = tail
        self._complained = 0
        self._left = memoryview(given)
        self._stdin, self._stdout, self._stderr = process.stdin, process.stdout, process.stderr
        self._selector = selectors.DefaultSelector()
        for pipe in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_WRITE if pipe is self._stdin else selectors.EVENT_READ)

    @property
    def are_open(self) -> bool:
        """Whether there is anything left to serve."""
        return bool(self._selector.get_map())

    @property
    def is_too_much(self) -> bool:
        """Whether more was written than allowed."""
        return len(self.output) > self._most or self._complained > self._most

    def serve(self, seconds: float) -> bool:
        """Wait until a pipe can be served, and serve it; whether there was anything to do."""
        ready = self._selector.select(seconds)
        for key, _ in ready:
            if key.fileobj is self._stdin:
                self._give()
            elif key.fileobj is self._stdout:
                self.output += self._taken(self._stdout)
            else:
                block = self._taken(self._stderr)
                self._complained += len(block)
                self.complaint = (self.complaint + block)[-self._tail :]
        return bool(ready)

    def drain(self, deadline: float) -> None:
        """Take what a process that has ended left in its pipes. Somebody who left its group may go on writing there:
        that is none of its output."""
        self._done(self._stdin)
        while self.are_open and not self.is_too_much and monotonic() < deadline and self.serve(0):
            pass

    def close(self) -> None:
        """Let go of all pipes."""
        for pipe in (self._stdin, self._stdout, self._stderr):
            self._done(pipe)
        self._selector.close()

    def _give(self) -> None:
        try:
            self._left = self._left[os.write(self._stdin.fileno(), self._left[:_BLOCK]) :]
        except BlockingIOError:
            return
        except OSError:
            # A program need not read its input.
            self._left = memoryview(b"")
        if not self._left:
            self._done(self._stdin)

    def _taken(self, pipe: IO[bytes]) -> bytes:
        try:
            block = os.read(pipe.fileno(), _BLOCK)
        except BlockingIOError:
            return b""
        if not block:
            self._done(pipe)
        return block

    def _done(self, pipe: IO[bytes]) -> None:
        if not pipe.closed:
            self._selector.unregister(pipe)
            with suppress(OSError):
                pipe.close()
