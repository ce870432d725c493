"""The one place that talks HTTP: requests go out, whole answers or typed errors come back."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from ..errors import BadRequestError, ProviderConnectionError, UsageError
from .base import HttpRequest
from .http_failures import LONGEST_CONNECT, failure, redirect, too_large
from .proxies import proxy_for, ssl_context

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from types import TracebackType

    from aiohttp import ClientResponse, ClientSession, ClientTimeout
    from yarl import URL

__all__ = ["LARGEST_BODY", "HttpAnswer", "Transport", "body_bytes", "case_insensitive", "serialised"]

LARGEST_BODY = 64 * 1024 * 1024
"""Bytes of an answer, after decompression."""

_MOST_ROUTES = 1024
_LINGER = 0.2
_JSON = "application/json"
# Made once, since `json.dumps` makes one for every call that is not by its defaults.
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_ASCII_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


class _Headers(Mapping[str, str]):
    """Headers whose names are the same in any case."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._values = {name.lower(): value for name, value in headers.items()}

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def case_insensitive(headers: Mapping[str, str]) -> Mapping[str, str]:
    """The headers, to be looked up in any case.

    >>> case_insensitive({"Retry-After": "1"})["retry-after"]
    '1'
    """
    return _Headers(headers) if isinstance(headers, dict) else headers


@dataclass(slots=True)
class HttpAnswer:
    """What a server sent back. `headers` are looked up in any case, `body` is decompressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def __post_init__(self) -> None:
        self.headers = case_insensitive(self.headers)


def serialised(body: Any) -> bytes:
    """The exact bytes that JSON data is sent as.

    >>> serialised({"text": "né"}).decode()
    '{"text":"né"}'
    """
    try:
        return _ENCODER.encode(body).encode()
    except UnicodeEncodeError:  # half a surrogate pair has no UTF-8 form, but JSON can escape it
        return _ASCII_ENCODER.encode(body).encode()


def body_bytes(body: Any) -> bytes:
    """The same for a body that a user may have filled with anything. Raises `BadRequestError` if it is no JSON."""
    try:
        return serialised(body)
    except (ValueError, TypeError, RecursionError) as error:
        raise BadRequestError(
            f"the request's body is not JSON data: {error}", hint="check `extra_body`, `body` and the tools' schemas"
        ) from error


@dataclass(frozen=True, slots=True)
class _Route:
    """What all requests to one URL have in common; `place` names it in messages, without secrets."""

    url: URL
    place: str
    options: Mapping[str, Any]


class Transport:
    """A pool of connections for one event loop, opened when first used. Close it, or use it with `async with`."""

    def __init__(self, environment: Mapping[str, str] | None = None, *, max_body_bytes: int = LARGEST_BODY) -> None:
        self._environment = dict(os.environ if environment is None else environment)
        self._max_body = max_body_bytes
        self._session: ClientSession | None = None
        self._loop: AbstractEventLoop | None = None
        self._closed = False
        self._routes: dict[str, _Route] = {}
        self._timeouts: dict[float, ClientTimeout] = {}

    async def send(self, request: HttpRequest, *, timeout: float) -> HttpAnswer:
        """Send the request and bring back the whole answer, of any status but a redirect.

        Raises `ProviderError` where no whole answer comes within `timeout` seconds.
        """
        route = self._route(request.url)
        response = await self._open(route, request, timeout)
        try:
            return HttpAnswer(response.status, response.headers, await self._body(route, response, timeout))
        finally:
            response.close()

    async def stream(self, request: HttpRequest, *, timeout: float, on_chunk: Callable[[bytes], object]) -> HttpAnswer:
        """The same, but the body of a success goes to `on_chunk` piece by piece, and is empty in the result.

        Reading ends early when `on_chunk` returns True: some servers leave a stream open that has said all.
        """
        route = self._route(request.url)
        response = await self._open(route, request, timeout)
        try:
            if not 200 <= response.status < 300:
                return HttpAnswer(response.status, response.headers, await self._body(route, response, timeout))
            await self._pieces(route, response, timeout, on_chunk)
            return HttpAnswer(response.status, response.headers, b"")
        finally:
            response.close()

    async def close(self) -> None:
        """Close all connections. Nothing may be sent afterwards."""
        self._closed = True
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _open(self, route: _Route, request: HttpRequest, timeout: float) -> ClientResponse:
        session = self._open_session()
        headers, data = _outgoing(request)
        try:
            response = await session.request(
                request.method,
                route.url,
                data=data,
                headers=headers,
                allow_redirects=False,
                timeout=self._timeouts.get(timeout) or self._timeout(timeout),
                **route.options,
            )
        except Exception as error:
            raise failure(error, route.place, timeout, headers) from error
        if 300 <= response.status < 400:
            response.close()
            raise redirect(response, route.place)
        return response

    async def _body(self, route: _Route, response: ClientResponse, timeout: float) -> bytes:
        length = response.content_length
        if length is not None and length <= self._max_body and "Content-Encoding" not in response.headers:
            try:
                return await response.read()
            except Exception as error:
                raise failure(error, route.place, timeout, body=True) from error
        pieces: list[bytes] = []
        await self._pieces(route, response, timeout, pieces.append)
        return b"".join(pieces)

    async def _pieces(
        self, route: _Route, response: ClientResponse, timeout: float, on_chunk: Callable[[bytes], object]
    ) -> None:
        if (response.content_length or 0) > self._max_body:
            raise too_large(route.place, self._max_body)
        left = self._max_body
        while True:
            try:
                chunk = await response.content.readany()
            except Exception as error:
                raise failure(error, route.place, timeout, body=True) from error
            if not chunk:
                return None
            left -= len(chunk)
            if left < 0:
                raise too_large(route.place, self._max_body)
            if on_chunk(chunk) is True:
                return await _to_the_end(response)

    def _open_session(self) -> ClientSession:
        import asyncio

        loop = asyncio.get_running_loop()
        if self._closed:
            raise ProviderConnectionError("the connections of this target are closed already", retryable=False)
        if self._session is None:
            from aiohttp import ClientSession, DummyCookieJar, TCPConnector, ThreadedResolver

            connector = TCPConnector(limit=0, resolver=ThreadedResolver())
            self._session = ClientSession(connector=connector, cookie_jar=DummyCookieJar(), trust_env=False)
            self._loop = loop
        elif loop is not self._loop:
            raise ProviderConnectionError(
                "the connections of this target belong to another event loop",
                retryable=False,
                hint="make one provider for each asyncio.run()",
            )
        return self._session

    def _timeout(self, seconds: float) -> ClientTimeout:
        from aiohttp import ClientTimeout

        # Not `connect`: it would set a timer for each request, also where a connection is there already.
        made = ClientTimeout(total=seconds, sock_connect=min(seconds, LONGEST_CONNECT))
        if len(self._timeouts) < _MOST_ROUTES:
            self._timeouts[seconds] = made
        return made

    def _route(self, url: str) -> _Route:
        route = self._routes.get(url)
        if route is None:
            try:
                route = _new_route(url, self._environment)
            except UsageError as error:
                raise ProviderConnectionError(str(error), retryable=False, hint=error.hint) from error
            if len(self._routes) < _MOST_ROUTES:
                self._routes[url] = route
        return route


async def _to_the_end(response: ClientResponse) -> None:
    """Read what is left, if it comes at once: only a connection that was read to the end can be used again."""
    import asyncio

    import aiohttp

    with suppress(TimeoutError, aiohttp.ClientError):
        async with asyncio.timeout(_LINGER):
            while await response.content.readany():
                pass


def _outgoing(request: HttpRequest) -> tuple[Mapping[str, str], bytes | None]:
    if request.body is None:
        return request.headers, None
    data = body_bytes(request.body)
    if any(name.lower() == "content-type" for name in request.headers):
        return request.headers, data
    return {**request.headers, "Content-Type": _JSON}, data


def _new_route(url: str, environment: Mapping[str, str]) -> _Route:
    from yarl import URL

    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
        # What is ASCII already goes out as it was written: quoting it anew would change what was signed.
        target = URL(url, encoded=url.isascii() and url.isprintable() and " " not in url)
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise BadRequestError(
            f"not a URL that a request can be sent to: {_without_secrets(url)!r}",
            hint="check `base_url`, `endpoint` or `url`: it starts with https:// or http:// and a host name",
        )
    proxy = proxy_for(url, environment)
    options: dict[str, Any] = {"proxy": proxy} if proxy else {}
    if parts.scheme == "https" or (proxy or "").startswith("https:"):
        options["ssl"] = ssl_context(environment)
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return _Route(target, place + _through(proxy), options)


def _through(proxy: str | None) -> str:
    if proxy is None:
        return ""
    parts = urlsplit(proxy)
    return f" through the proxy {parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"


def _without_secrets(url: str) -> str:
    address = url.partition("?")[0].partition("#")[0]
    scheme, separator, rest = address.rpartition("://")
    authority, slash, path = rest.partition("/")
    return scheme + separator + authority.rpartition("@")[2] + slash + path
