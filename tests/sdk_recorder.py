"""A server on 127.0.0.1 that keeps what an SDK sends, and answers with what a test wants the SDK to read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from unittest.mock import patch

__all__ = ["Recorded", "Recorder", "recorder"]

# What this machine is set up for is no business of a test.
_SETTINGS = re.compile(r"(ANTHROPIC|AWS|AZURE|GEMINI|GOOGLE|OPENAI)_.*|.*_PROXY", re.IGNORECASE)
_NO_SETTINGS = {
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}


@dataclass(frozen=True)
class Recorded:
    """One request; `target` is path and query, names of headers are in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: Any


@dataclass
class Recorder:
    """What came, and what is answered."""

    url: str
    requests: list[Recorded] = field(default_factory=list)
    answer: bytes = b"{}"
    content_type: str = "application/json"

    @property
    def last(self) -> Recorded:
        """The latest request."""
        return self.requests[-1]

    def answer_json(self, body: Any) -> None:
        """Answer with JSON."""
        self.answer, self.content_type = json.dumps(body).encode(), "application/json"

    def answer_events(self, events: Iterable[Any], *, named: bool = False, end: str | None = None) -> bytes:
        """Answer with server-sent events; `named` repeats each event's `type` as its name. Returns the bytes."""
        lines = [(f"event: {each['type']}\n" if named else "") + f"data: {json.dumps(each)}\n\n" for each in events]
        self.answer = "".join([*lines, *([f"data: {end}\n\n"] if end else [])]).encode()
        self.content_type = "text/event-stream"
        return self.answer


@contextmanager
def recorder() -> Iterator[Recorder]:
    """Run a recorder while the block runs; SDKs find no settings of their own in the environment meanwhile."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    kept = Recorder(f"http://127.0.0.1:{server.server_address[1]}")
    server.kept = kept  # type: ignore[attr-defined]
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    others = {name: value for name, value in os.environ.items() if _SETTINGS.fullmatch(name) is None}
    try:
        with patch.dict(os.environ, {**others, **_NO_SETTINGS}, clear=True):
            yield kept
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        kept: Recorder = self.server.kept  # type: ignore[attr-defined]
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        kept.requests.append(Recorded(self.command, self.path, headers, json.loads(data)))
        self.send_response(200)
        self.send_header("Content-Type", kept.content_type)
        self.send_header("Content-Length", str(len(kept.answer)))
        self.end_headers()
        self.wfile.write(kept.answer)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""
