"""Amazon's binary event streams (`application/vnd.amazon.eventstream`), read from bytes as they arrive.

A frame is: its length, the length of its headers, a checksum of these two; headers; payload; a checksum of it all.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from zlib import crc32

from ..errors import ProtocolError

__all__ = ["AwsEvent", "AwsEventParser", "HeaderValue"]

HeaderValue = bool | int | str | bytes

LARGEST_FRAME = 24 * 1024 * 1024
LARGEST_HEADERS = 128 * 1024
_PRELUDE = struct.Struct(">III")
_CHECKSUM = struct.Struct(">I")
_SMALLEST_FRAME = _PRELUDE.size + _CHECKSUM.size

_TRUE, _FALSE, _BYTES, _STRING, _UUID = 0, 1, 6, 7, 9
# Byte, short, integer, long and timestamp, by the number of their type.
_NUMBERS = {2: struct.Struct(">b"), 3: struct.Struct(">h"), 4: struct.Struct(">i"), 5: struct.Struct(">q")}
_NUMBERS[8] = _NUMBERS[5]
_LENGTH = struct.Struct(">H")


@dataclass(frozen=True, slots=True)
class AwsEvent:
    """One frame: its headers, such as `:event-type`, and its payload, which usually is JSON."""

    headers: dict[str, HeaderValue]
    payload: bytes


class AwsEventParser:
    """Feed it chunks of one stream; it returns the events that each chunk completes."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, chunk: bytes) -> list[AwsEvent]:
        """The events that end in this chunk. Raises `ProtocolError` for a frame that is damaged."""
        self._buffer += chunk
        events: list[AwsEvent] = []
        while len(self._buffer) >= _PRELUDE.size:
            length, header_length = _lengths(bytes(self._buffer[: _PRELUDE.size]))
            if len(self._buffer) < length:
                break
            events.append(_event(bytes(self._buffer[:length]), header_length))
            del self._buffer[:length]
        return events

    def close(self) -> None:
        """Say that the stream has ended. Raises `ProtocolError` in the middle of a frame."""
        if self._buffer:
            raise ProtocolError(
                f"the event stream ended in the middle of a frame, of which {len(self._buffer)} bytes came",
                retryable=True,
            )


def _lengths(prelude: bytes) -> tuple[int, int]:
    length, header_length, checksum = _PRELUDE.unpack(prelude)
    if crc32(prelude[:8]) != checksum:
        raise _damaged("the checksum of a frame's lengths is wrong")
    if length > LARGEST_FRAME or header_length > LARGEST_HEADERS or header_length > length - _SMALLEST_FRAME:
        raise _damaged(f"a frame of {length} bytes with {header_length} bytes of headers is not possible")
    return length, header_length


def _event(frame: bytes, header_length: int) -> AwsEvent:
    end = len(frame) - _CHECKSUM.size
    if crc32(frame[:end]) != _CHECKSUM.unpack_from(frame, end)[0]:
        raise _damaged("the checksum of a frame is wrong")
    split = _PRELUDE.size + header_length
    return AwsEvent(_headers(frame[_PRELUDE.size : split]), frame[split:end])


def _headers(data: bytes) -> dict[str, HeaderValue]:
    headers: dict[str, HeaderValue] = {}
    place = 0
    try:
        while place < len(data):
            raw_name, place = _slice(data, place + 1, data[place])
            kind = data[place]
            name = raw_name.decode()
            if name in headers:
                raise _damaged(f"a frame has two headers {name!r}")
            headers[name], place = _value(data, place + 1, kind)
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise _damaged("the headers of a frame cannot be read") from error
    return headers


def _value(data: bytes, place: int, kind: int) -> tuple[HeaderValue, int]:
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE, place
    if kind in _NUMBERS:
        number: int = _NUMBERS[kind].unpack_from(data, place)[0]
        return number, place + _NUMBERS[kind].size
    if kind == _UUID:
        return _slice(data, place, 16)
    if kind not in (_BYTES, _STRING):
        raise _damaged(f"a frame has a header of the unknown type {kind}")
    value, end = _slice(data, place + _LENGTH.size, _LENGTH.unpack_from(data, place)[0])
    return (value.decode() if kind == _STRING else value), end


def _slice(data: bytes, place: int, length: int) -> tuple[bytes, int]:
    if place + length > len(data):
        raise IndexError(place)
    return data[place : place + length], place + length


def _damaged(what: str) -> ProtocolError:
    return ProtocolError(
        f"the event stream is damaged: {what}",
        retryable=True,
        hint="if this repeats, check that `base_url` is a Bedrock runtime endpoint, and the proxy",
    )
