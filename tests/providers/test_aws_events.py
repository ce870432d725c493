"""Amazon's event streams, with botocore's own reader to compare with."""

from __future__ import annotations

import struct
from typing import Any
from zlib import crc32

import pytest
from botocore.eventstream import EventStreamBuffer
from hypothesis import given
from hypothesis import strategies as st

from turnwise.errors import ProtocolError
from turnwise.providers.aws_events import AwsEvent, AwsEventParser


def frame(payload: bytes, *headers: bytes) -> bytes:
    block = b"".join(headers)
    prelude = struct.pack(">II", 16 + len(block) + len(payload), len(block))
    message = prelude + struct.pack(">I", crc32(prelude)) + block + payload
    return message + struct.pack(">I", crc32(message))


def header(name: str, kind: int, value: bytes = b"") -> bytes:
    return bytes([len(name.encode())]) + name.encode() + bytes([kind]) + value


def text(name: str, value: str, kind: int = 7) -> bytes:
    return header(name, kind, struct.pack(">H", len(value.encode())) + value.encode())


def parsed(*chunks: bytes) -> list[AwsEvent]:
    parser = AwsEventParser()
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    parser.close()
    return events


def by_botocore(stream: bytes) -> list[tuple[dict[str, Any], bytes]]:
    buffer = EventStreamBuffer()
    buffer.add_data(stream)
    return [(message.headers, message.payload) for message in buffer]


VALUES = st.one_of(
    st.sampled_from([(0, b""), (1, b"")]),
    st.integers(-128, 127).map(lambda n: (2, struct.pack(">b", n))),
    st.integers(-(2**15), 2**15 - 1).map(lambda n: (3, struct.pack(">h", n))),
    st.integers(-(2**31), 2**31 - 1).map(lambda n: (4, struct.pack(">i", n))),
    st.sampled_from([5, 8]).flatmap(
        lambda kind: st.integers(-(2**63), 2**63 - 1).map(lambda n: (kind, struct.pack(">q", n)))
    ),
    st.binary(max_size=20).map(lambda data: (6, struct.pack(">H", len(data)) + data)),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20).map(
        lambda word: (7, struct.pack(">H", len(word.encode())) + word.encode())
    ),
    st.binary(min_size=16, max_size=16).map(lambda data: (9, data)),
)
FRAMES = st.builds(
    lambda headers, payload: frame(payload, *(header(name, *value) for name, value in headers.items())),
    st.dictionaries(st.sampled_from([":event-type", ":message-type", "x", "é"]), VALUES, max_size=4),
    st.binary(max_size=60),
)


@given(st.lists(FRAMES, max_size=4), st.data())
def test_agrees_with_botocore_in_any_split(frames: list[bytes], data: st.DataObject) -> None:
    """Headers of every type and payloads are read as botocore reads them, however the stream is cut."""
    stream = b"".join(frames)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    chunks = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert [(event.headers, event.payload) for event in parsed(*chunks)] == by_botocore(stream)


def test_one_event() -> None:
    """A frame gives its headers by name and its payload."""
    stream = frame(b'{"a":1}', text(":event-type", "contentBlockDelta"), header("yes", 0), header("no", 1))
    assert parsed(stream) == [AwsEvent({":event-type": "contentBlockDelta", "yes": True, "no": False}, b'{"a":1}')]


@pytest.mark.parametrize("place", [0, 5, 9, 14, 30, -1])
def test_one_wrong_byte_is_found(place: int) -> None:
    """A byte that was changed on the way, wherever it is, makes the frame damaged."""
    stream = bytearray(frame(b"payload of the frame", text(":event-type", "x")))
    stream[place] ^= 0x40
    with pytest.raises(ProtocolError, match="damaged"):
        parsed(bytes(stream))


@pytest.mark.parametrize(("length", "headers"), [(12, 0), (20, 5), (2**25, 0), (2**23, 2**18)])
def test_impossible_lengths(length: int, headers: int) -> None:
    """Lengths that contradict each other or exceed the bounds are refused before anything is awaited."""
    prelude = struct.pack(">II", length, headers)
    with pytest.raises(ProtocolError, match=f"frame of {length} bytes"):
        AwsEventParser().feed(prelude + struct.pack(">I", crc32(prelude)))


@pytest.mark.parametrize(
    "block",
    [b"\x09short", b"\x01x", b"\x01x\x63", b"\x01x\x04\x00", b"\x01x\x07\x00\x09abc", b"\x01\xff\x00",
     text("x", "1") + text("x", "2")],
)  # fmt: skip
def test_headers_that_cannot_be_read(block: bytes) -> None:
    """Headers that end too early, have an unknown type, are not text or occur twice are damaged, checksums or not."""
    with pytest.raises(ProtocolError, match="damaged"):
        parsed(frame(b"", block))


def test_end_in_the_middle() -> None:
    """A stream that ends in the middle of a frame is an error that may pass."""
    with pytest.raises(ProtocolError, match="middle of a frame") as caught:
        parsed(frame(b"payload")[:-3])
    assert caught.value.retryable
