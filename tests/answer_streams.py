"""Streamed answers for tests: the bytes of one, read as a provider reads them, and Amazon's frames."""

from __future__ import annotations

import json
import struct
from typing import Any
from zlib import crc32

from turnwise.providers.streaming import AnswerStream
from turnwise.providers.wire.base import Wire

__all__ = ["aws_frame", "read_stream"]


def read_stream(wire: Any, data: bytes, *, step: int, aws: bool = False) -> tuple[Any, float | None]:
    """What comes together from bytes that arrive `step` at a time, and when its first piece came."""
    module: Wire = wire
    context = {"api": module.API, "retry_statuses": frozenset({429, 529}), "credential": None, "secrets": frozenset()}
    stream = AnswerStream(module.Assembly(), context, aws=aws)
    for start in range(0, len(data), step):
        stream.feed(data[start : start + step])
    return stream.result(), stream.first_at


def aws_frame(kind: str, payload: Any, *, exception: bool = False) -> bytes:
    """An event, or an exception, as Amazon frames it."""
    sort = "exception" if exception else "event"
    headers = {f":{sort}-type": kind, ":content-type": "application/json", ":message-type": sort}
    head = b"".join(_header(name, value) for name, value in headers.items())
    body = json.dumps(payload).encode()
    lengths = struct.pack(">II", 16 + len(head) + len(body), len(head))
    frame = lengths + struct.pack(">I", crc32(lengths)) + head + body
    return frame + struct.pack(">I", crc32(frame))


def _header(name: str, value: str) -> bytes:
    text = 7
    return struct.pack(">B", len(name)) + name.encode() + struct.pack(">BH", text, len(value)) + value.encode()
