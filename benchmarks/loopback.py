"""A server on loopback that answers chat completions at once, or after a delay, and counts what it was asked.

It knows just enough of HTTP to be several times quicker than any client, so that a measurement shows the client. Run as
a script, `python loopback.py MILLISECONDS ANSWER`, it prints its port, and then its counts, reset, for each line that
it is sent; it ends with its standard input. `Loopback` is the other end of that.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self
from zlib import crc32

__all__ = ["ANSWER", "Counts", "Loopback"]

ANSWER = "The annual plan can be refunded within 30 days of the purchase; write to the billing desk. " * 3
_USAGE = {"prompt_tokens": 200, "completion_tokens": 60, "total_tokens": 260}
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_STREAMED = re.compile(rb'"stream": ?true')
_LONGEST_HEAD = 64 * 1024


@dataclass
class Counts:
    """What came in. `checksum` adds up the bodies' checksums, so that their order does not matter."""

    completions: int = 0
    others: int = 0
    checksum: int = 0
    connections: int = 0


def _response(status: str, kind: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _serialised(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _completion(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": _USAGE}
    return _response("200 OK", "application/json", _serialised(body))


def _stream(text: str) -> bytes:
    """The same answer for clients that always stream."""
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    whole = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
    end = {"index": 0, "delta": {}, "finish_reason": "stop"}
    chunks = [{**head, "choices": [whole]}, {**head, "choices": [end]}, {**head, "choices": [], "usage": _USAGE}]
    events = b"".join(b"data: %s\n\n" % _serialised(chunk) for chunk in chunks)
    return _response("200 OK", "text/event-stream", events + b"data: [DONE]\n\n")


_MISSING = _response("404 Not Found", "application/json", b'{"error":{"message":"only chat completions"}}')


class _Connection(asyncio.Protocol):
    """One connection: requests one after the other, each answered when it is whole."""

    def __init__(self, counts: Counts, delay: float, completion: bytes, stream: bytes) -> None:
        self._counts = counts
        self._delay = delay
        self._completion = completion
        self._stream = stream
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count it."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._counts.connections += 1

    def data_received(self, data: bytes) -> None:
        """Answer every request that is whole now."""
        self._received = self._received + data if self._received else data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            length = _LENGTH.search(self._received, 0, end)
            total = end + 4 + (int(length[1]) if length else 0)
            if len(self._received) < total:
                return
            self._answer(self._received[:end], self._received[end + 4 : total])
            self._received = self._received[total:]
        if len(self._received) > _LONGEST_HEAD:
            self._transport.abort()

    def _answer(self, head: bytes, body: bytes) -> None:
        if b"/chat/completions" not in head[: head.find(b"\r\n")]:
            self._counts.others += 1
            self._transport.write(_MISSING)
            return
        self._counts.completions += 1
        self._counts.checksum += crc32(body)
        response = self._stream if _STREAMED.search(body) else self._completion
        if self._delay:
            asyncio.get_running_loop().call_later(self._delay, self._transport.write, response)
        else:
            self._transport.write(response)


async def _serve(delay: float, text: str) -> None:
    counts = Counts()
    answers = _completion(text), _stream(text)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(counts, delay, *answers), "127.0.0.1", 0, backlog=1024)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(vars(counts)), flush=True)
        for each in fields(counts):
            setattr(counts, each.name, 0)
    server.close()


class Loopback:
    """The server in a process of its own, which always gives the same answer. A context manager."""

    def __init__(self, *, delay_ms: int = 0, answer: str = ANSWER) -> None:
        self.delay_ms = delay_ms
        self.answer = answer

    def __enter__(self) -> Self:
        command = [sys.executable, str(Path(__file__).resolve()), str(self.delay_ms), self.answer]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{self._line()['port']}/v1"
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.communicate()

    def counts(self) -> Counts:
        """What came in since the last call."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return Counts(**self._line())

    def _line(self) -> dict[str, int]:
        assert self._process.stdout is not None
        line: dict[str, int] = json.loads(self._process.stdout.readline())
        return line


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]) / 1000, sys.argv[2]))
