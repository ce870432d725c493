"""A server on 127.0.0.1 that answers with the very bytes a test wants, however wrong, and then does what it is told."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any, Self

__all__ = ["Fault", "FaultServer", "Received", "answer", "serving"]


def answer(
    body: Any = b"", status: int = 200, headers: Iterable[tuple[str, str]] = (), *, content_type: str | None = None
) -> bytes:
    """A well-formed answer; a body that is not bytes is sent as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} Reason", f"Content-Type: {content_type or 'application/json'}"]
    lines += [f"{name}: {value}" for name, value in headers]
    if not any(line.lower().startswith(("content-length:", "transfer-encoding:")) for line in lines):
        lines.append(f"Content-Length: {len(data)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


@dataclass(frozen=True, slots=True)
class Fault:
    """What to do with one request: send `pieces`, with `pause` seconds after each, and then go on as `then` says.

    `keep` waits for the next request, `close` closes, `reset` breaks the connection, `hang` does nothing until the
    client goes away.
    """

    pieces: Sequence[bytes] = ()
    pause: float = 0.0
    then: str = "keep"


@dataclass(slots=True)
class Received:
    """One request, as it came; `connection` counts sockets, from 1."""

    connection: int
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(slots=True)
class FaultServer:
    """Use it with `async with`; the script's last entry is repeated. Bytes in the script are whole answers.

    With `reply`, the answer depends on the request instead of its number; `delay` are seconds before every answer.
    """

    script: Sequence[Fault | bytes] = ()
    tls: ssl.SSLContext | None = None
    reply: Callable[[Received], Fault | bytes] | None = None
    delay: float = 0.0
    received: list[Received] = field(default_factory=list)
    connections: int = 0
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client has closed its connection while the server was waiting or sending."""
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=self.tls)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            await self._serve(reader, writer, self.connections)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.gone.set()
        except asyncio.CancelledError:
            pass  # the test is over; a task of a stream's callback that ends as cancelled is reported as an error
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    def _fault_for(self, request: Received) -> Fault:
        entry = self.reply(request) if self.reply else self.script[min(len(self.received), len(self.script)) - 1]
        return Fault([entry]) if isinstance(entry, bytes) else entry

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int) -> None:
        while True:
            request = await _read_request(reader, connection)
            self.received.append(request)
            fault = self._fault_for(request)
            if self.delay:
                await asyncio.sleep(self.delay)
            for piece in fault.pieces:
                writer.write(piece)
                await writer.drain()
                if fault.pause:
                    await asyncio.sleep(fault.pause)
            if fault.then == "hang":
                await reader.readexactly(1)
            if fault.then == "reset":
                _break_off(writer)
            if fault.then != "keep":
                writer.close()
                await writer.wait_closed()
                return


@contextmanager
def serving(reply: Callable[[Received], Fault | bytes], delay: float = 0.0) -> Iterator[FaultServer]:
    """A server in a thread of its own, for clients that are other processes."""
    server = FaultServer(reply=reply, delay=delay)
    loop, over, ready = asyncio.new_event_loop(), asyncio.Event(), Event()

    async def serve() -> None:
        async with server:
            ready.set()
            await over.wait()

    thread = Thread(target=lambda: loop.run_until_complete(serve()), name="fault-server")
    thread.start()
    try:
        assert ready.wait(10)
        yield server
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(10)
        loop.close()


async def _read_request(reader: asyncio.StreamReader, connection: int) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(connection, method, path, headers, body)


def _break_off(writer: asyncio.StreamWriter) -> None:
    """Make the close a TCP reset, as a crashed server's machine would."""
    connected: socket.socket = writer.get_extra_info("socket")
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
