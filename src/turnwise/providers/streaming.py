"""A streamed answer, from bytes to the API's JSON: frames, events, and the moment of the first piece."""

from __future__ import annotations

import json
from collections.abc import Mapping
from time import perf_counter
from typing import Any

from ..errors import ProtocolError, ProviderConnectionError
from .wire.base import Assembly
from .wire.reported import reported_in

__all__ = ["AnswerStream"]

_END = "[DONE]"


class AnswerStream:
    """Takes the bytes of one answer as they come.

    `context` is what errors are told with: `api`, `retry_statuses`, `credential` and `secrets`. `aws` says that the
    bytes are Amazon's frames, not server-sent events.
    """

    def __init__(self, assembly: Assembly, context: Mapping[str, Any], *, aws: bool = False) -> None:
        self.first_at: float | None = None
        self._assembly = assembly
        self._context = context
        self._api = context["api"]
        self._ended = False
        self._whole: list[bytes] | None = None
        self._started = False
        self._parser: Any
        if aws:
            from .aws_events import AwsEventParser

            self._parser = AwsEventParser()
        else:
            from .sse import SSEParser

            self._parser = SSEParser()
        self._aws = aws

    @property
    def finished(self) -> bool:
        """Whether the whole answer is here, although the connection may stay open; what follows is passed over."""
        return self._ended or self._assembly.finished

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        if self.finished:
            return
        if not self._started and chunk.strip():
            self._started = True
            # A server that does not stream sends its JSON, or a page for people, in one piece.
            self._whole = [] if not self._aws and chunk.lstrip()[:1] in (b"{", b"<") else None
        if self._whole is not None:
            self._whole.append(chunk)
            return
        for event in self._parser.feed(chunk):
            if not self.finished:
                self._add(event)

    def result(self) -> Any:
        """The API's JSON. Raises `ProviderConnectionError` if the stream ended too early."""
        if self._whole is not None:
            from .http import HttpAnswer
            from .status import json_body

            return self._sound(json_body(HttpAnswer(200, {}, b"".join(self._whole)), **self._context))
        if not self.finished:
            for event in self._parser.close() or ():
                self._add(event)
        if not (self._ended or self._assembly.done):
            raise ProviderConnectionError(f"{self._api}: the stream ended before the answer was whole")
        return self._assembly.result()

    def _add(self, event: Any) -> None:
        if self._aws:
            data = self._parsed(event.payload.decode("utf-8", "replace"))
            if exception := event.headers.get(":exception-type"):
                self._sound({"error": {"code": exception, **(data if isinstance(data, dict) else {})}})
            self._assembly.add({str(event.headers.get(":event-type", "event")): data})
        elif event.data == _END:
            self._ended = True
        elif event.data:
            self._assembly.add(self._sound(self._parsed(event.data)))
        if self.first_at is None and self._assembly.begun:
            self.first_at = perf_counter()

    def _sound(self, data: Any) -> Any:
        """The data, unless it reports an error: the status has been sent already, so a failure can only come here."""
        report = reported_in(data)
        if report is not None:
            from .status import reported_error

            raise reported_error(report, **self._context)
        return data

    def _parsed(self, text: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            for secret in self._context.get("secrets", ()):
                text = text.replace(secret, "***")
            message = f"{self._api}: an event of the stream is not JSON: {text[:80]!r}"
            raise ProtocolError(message, retryable=True) from error
