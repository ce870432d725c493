"""Server-Sent Events, whole and in pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.errors import ProtocolError
from turnwise.providers.sse import ServerEvent, SSEParser


def parsed(*chunks: bytes) -> list[ServerEvent]:
    parser = SSEParser()
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return events + parser.close()


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: a\n\n", [(None, "a")]),
        (b"data:a\n\ndata:  b\n\n", [(None, "a"), (None, " b")]),
        (b"event: x\ndata: a\n\ndata: b\n\n", [("x", "a"), (None, "b")]),
        (b"data: a\ndata: b\n\n", [(None, "a\nb")]),
        (b"data: a\r\n\r\ndata: b\r\rdata: c\n\n", [(None, "a"), (None, "b"), (None, "c")]),
        (b": ping\n\ndata: a\n: ping\n\n", [(None, "a")]),
        (b"event: x\n\ndata: a\n\n", [(None, "a")]),
        (b"data\n\ndata:\n\n", [(None, ""), (None, "")]),
        (b"id: 1\nretry: 5\nother: x\ndata: a:b\n\n", [(None, "a:b")]),
        (b"\xef\xbb\xbfdata: a\n\n", [(None, "a")]),
        ("data: né\u2028x\x0b\n\n".encode(), [(None, "né\u2028x\x0b")]),
        (b"data: a\n\ndata: [DONE]", [(None, "a"), (None, "[DONE]")]),
        (b"data: a\n\ndata: b\n", [(None, "a"), (None, "b")]),
        (b"", []),
    ],
)
def test_events(stream: bytes, events: list[tuple[str | None, str]]) -> None:
    """Fields, comments, line ends of all kinds and a last event without an empty line are read as servers mean them."""
    expected = [ServerEvent(*event) for event in events]
    assert parsed(stream) == expected
    assert parsed(*(stream[i : i + 1] for i in range(len(stream)))) == expected


LINES = st.sampled_from(
    [b"data: x", "data: né 😀".encode(), b"data:", b"event: e", b": comment", b"id: 3", b"", b"\xef\xbb\xbfdata: y"]
)


@given(st.lists(st.tuples(LINES, st.sampled_from([b"\n", b"\r", b"\r\n"])), max_size=12), st.data())
def test_any_split_gives_the_same_events(lines: list[tuple[bytes, bytes]], data: st.DataObject) -> None:
    """However a stream is cut into chunks, its events are the same."""
    stream = b"".join(line + end for line, end in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    chunks = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert parsed(*chunks) == parsed(stream)


def test_events_come_as_soon_as_they_are_complete() -> None:
    """An event is returned by the chunk that completes it, not later."""
    parser = SSEParser()
    assert parser.feed(b"data: a\r") == []
    assert parser.feed(b"\n\r") == [ServerEvent(None, "a")]
    assert parser.feed(b"\n") == []
    assert parser.close() == []


def test_not_utf8() -> None:
    """Data that is not UTF-8 is a protocol error that may pass."""
    with pytest.raises(ProtocolError, match="not UTF-8") as caught:
        parsed(b"data: \xff\n\n")
    assert caught.value.retryable


@pytest.mark.parametrize("stream", [b"data: " + b"x" * 100, b"data: xxxx\n" * 20, b": " + b"x" * 100])
def test_size_is_bounded(stream: bytes) -> None:
    """Neither one line nor the lines of one event may exceed the bound, in however small chunks they come."""
    parser = SSEParser(largest_event=60)
    with pytest.raises(ProtocolError, match="longer than 60 bytes"):
        [parser.feed(stream[i : i + 1]) for i in range(len(stream))]


def test_bound_is_for_each_event() -> None:
    """Many small events may together exceed the bound."""
    assert len(SSEParser(largest_event=60).feed(b"data: xxxx\n\n" * 100)) == 100
