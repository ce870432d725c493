"""Server-Sent Events, read from bytes as they arrive; the bytes may be split anywhere."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import ProtocolError

__all__ = ["SSEParser", "ServerEvent"]

LARGEST_EVENT = 8 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: its name, if it has one, and its data, the lines of which are joined."""

    event: str | None
    data: str


class SSEParser:
    """Feed it chunks of one stream; it returns the events that each chunk completes.

    >>> parser = SSEParser()
    >>> parser.feed(b"event: delta\\ndata: one"), parser.feed(b" word\\n\\n")
    ([], [ServerEvent(event='delta', data='one word')])
    """

    def __init__(self, largest_event: int = LARGEST_EVENT) -> None:
        self._largest = largest_event
        self._first_line = True
        self._after_cr = False
        self._line: list[bytes] = []
        self._line_size = 0
        self._event: str | None = None
        self._data: list[str] = []
        self._data_size = 0

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """The events that end in this chunk. Raises `ProtocolError` for what cannot be read."""
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._after_cr = False
        if not chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        events: list[ServerEvent] = []
        # Bytes, unlike text, are split at CR, LF and CRLF only.
        for piece in chunk.splitlines(keepends=True):
            self._collect(piece)
            if piece.endswith((b"\n", b"\r")):
                self._end_line(events)
        return events

    def close(self) -> list[ServerEvent]:
        """The event, if any, that the end of the stream completes: not every server sends the last empty line."""
        events: list[ServerEvent] = []
        if self._line:
            self._end_line(events)
        self._dispatch(events)
        return events

    def _collect(self, piece: bytes) -> None:
        self._line.append(piece)
        self._line_size += len(piece)
        self._check_size(self._line_size)

    def _check_size(self, size: int) -> None:
        if size > self._largest:
            raise ProtocolError(
                f"an event of the stream is longer than {self._largest} bytes",
                hint="the server does not end its events with an empty line, or is not an LLM API",
            )

    def _end_line(self, events: list[ServerEvent]) -> None:
        line = b"".join(self._line).rstrip(b"\r\n")
        self._line.clear()
        self._line_size = 0
        if self._first_line:
            line = line.removeprefix(_BOM)
            self._first_line = False
        if line:
            self._field(line)
        else:
            self._dispatch(events)

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data_size += len(value) + 1
            self._check_size(self._data_size)
            self._data.append(_text(value))
        elif name == b"event":
            self._event = _text(value) or None

    def _dispatch(self, events: list[ServerEvent]) -> None:
        if self._data:
            events.append(ServerEvent(self._event, "\n".join(self._data)))
        self._event = None
        self._data.clear()
        self._data_size = 0


def _text(value: bytes) -> str:
    try:
        return value.removeprefix(b" ").decode()
    except UnicodeDecodeError as error:
        raise ProtocolError(
            f"an event of the stream is not UTF-8 text (byte {value[error.start]:#04x})", retryable=True
        ) from error
