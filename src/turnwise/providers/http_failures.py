"""What goes wrong between here and a server, as typed errors: no connection, no time, no HTTP."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import BadRequestError, ProtocolError, ProviderConnectionError, ProviderError, ProviderTimeoutError

if TYPE_CHECKING:
    from aiohttp import ClientResponse

__all__ = ["LONGEST_CONNECT", "failure", "redirect", "too_large"]

LONGEST_CONNECT = 10.0
"""Seconds that a connection may take to be made."""


def redirect(response: ClientResponse, place: str) -> ProtocolError:
    """The error for an answer that leads elsewhere: a key must not follow it."""
    try:
        location = urlsplit(response.headers.get("Location", ""))
        target = f"{location.scheme}://{location.netloc.rpartition('@')[2]}" if location.hostname else None
    except ValueError:
        target = None
    return ProtocolError(
        f"{place} redirects the request (status {response.status}), which Turnwise does not follow",
        status=response.status,
        hint=f"it leads to {target}: if that is the API, use its address in the target"
        if target
        else "check the address in the target: API addresses do not redirect",
    )


def too_large(place: str, limit: int) -> ProtocolError:
    """The error for an answer that is not read to its end."""
    return ProtocolError(
        f"the answer of {place} is larger than {limit} bytes, which is the most that is read",
        hint="check that the address is an LLM API, or ask for shorter answers",
    )


def failure(
    error: Exception, place: str, timeout: float, headers: Mapping[str, str] | None = None, *, body: bool = False
) -> ProviderError:
    """The typed error for whatever aiohttp, TLS or the operating system raised."""
    import aiohttp
    from aiohttp.http_exceptions import HttpProcessingError

    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return ProviderTimeoutError(f"no connection to {place} within {min(timeout, LONGEST_CONNECT):g} s")
    if isinstance(error, TimeoutError):
        what = "the answer of {} was not whole" if body else "no answer came from {}"
        return ProviderTimeoutError(
            f"{what.format(place)} within {timeout:g} s", hint="raise `timeout` in the target if answers take longer"
        )
    if isinstance(error, aiohttp.ClientConnectorError):
        return _no_connection(error, place)
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return _refused_by_proxy(error, place)
    if isinstance(error, aiohttp.ClientPayloadError):
        return _broken_body(error, place)
    if isinstance(error, (aiohttp.ClientResponseError, HttpProcessingError)):
        return ProtocolError(
            f"{place} did not answer in HTTP, or with headers that cannot be read",
            hint="check the address and the port: another kind of server listens there",
        )
    if isinstance(error, aiohttp.ClientConnectionError):
        when = "in the middle of its answer" if body else "without an answer"
        return ProviderConnectionError(f"{place} closed the connection {when}")
    if isinstance(error, (aiohttp.ClientError, OSError)):
        return ProviderConnectionError(f"the request to {place} failed: {type(error).__name__}")
    return _unsendable(error, place, headers or {})


def _no_connection(error: Any, place: str) -> ProviderError:
    import socket
    import ssl

    import aiohttp

    reason: OSError = getattr(error, "certificate_error", None) or error.os_error
    if isinstance(reason, ssl.SSLCertVerificationError):
        return ProviderConnectionError(
            f"the TLS certificate of {place} is not trusted: {reason.verify_message}",
            retryable=False,
            hint="set SSL_CERT_FILE or REQUESTS_CA_BUNDLE to a PEM file with the certificate of its authority",
        )
    if isinstance(reason, ssl.SSLError):
        broke_off = isinstance(reason, (ssl.SSLEOFError, ssl.SSLZeroReturnError))
        return ProviderConnectionError(
            f"no TLS connection to {place}: {reason.reason or 'the handshake failed'}",
            retryable=broke_off,
            hint=None if broke_off else "check the address: a server without TLS is reached by http://",
        )
    if isinstance(error, aiohttp.ClientConnectorDNSError) or isinstance(reason, socket.gaierror):
        passes = reason.errno == socket.EAI_AGAIN
        return ProviderConnectionError(
            f"the host name of {place} is not known" + (" for now" if passes else ""),
            retryable=passes,
            hint="check the address in the target, and that this machine is online",
        )
    said = os.strerror(reason.errno) if reason.errno else "it failed"
    return ProviderConnectionError(f"no connection to {place}: {said}", hint="check the address and that it is running")


def _refused_by_proxy(error: Any, place: str) -> ProviderError:
    return ProviderConnectionError(
        f"no connection to {place}: the proxy answered with status {error.status}",
        status=error.status,
        retryable=error.status >= 500,
        hint="check the user and password in the proxy's URL" if error.status == 407 else "check the proxy's settings",
    )


def _broken_body(error: Exception, place: str) -> ProviderError:
    from aiohttp.http_exceptions import ContentEncodingError, ContentLengthError, TransferEncodingError

    cause = error.__cause__
    if isinstance(cause, ContentEncodingError):
        return ProtocolError(f"the answer of {place} cannot be decompressed")
    if isinstance(cause, (ContentLengthError, TransferEncodingError, OSError)) or cause is None:
        return ProviderConnectionError(f"{place} closed the connection in the middle of its answer")
    return ProtocolError(f"the answer of {place} is not well-formed HTTP")


def _unsendable(error: Exception, place: str, headers: Mapping[str, str]) -> ProviderError:
    """An error of the request itself; the values of headers are secrets, so only their names are said."""
    bad = [name for name, value in headers.items() if not (name.isascii() and value.isprintable())]
    what = f"the header {bad[0]!r} holds characters that HTTP forbids" if bad else type(error).__name__
    return BadRequestError(
        f"the request to {place} cannot be sent: {what}",
        hint="check the key and `headers` for line breaks and other invisible characters" if bad else None,
    )
