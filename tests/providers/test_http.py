"""The HTTP transport against a server that misbehaves in every way."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import ssl
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from fault_server import Fault, FaultServer, answer
from turnwise.errors import (
    BadRequestError,
    OverloadedError,
    ProtocolError,
    ProviderConnectionError,
    ProviderError,
    ProviderTimeoutError,
)
from turnwise.providers.base import HttpRequest
from turnwise.providers.http import HttpAnswer, Transport, case_insensitive, serialised
from turnwise.providers.retries import RetryPolicy, with_retries
from turnwise.providers.status import json_body, status_error

T = TypeVar("T")
Entry = Fault | bytes


def post(url: str, body: Any = None, **headers: str) -> HttpRequest:
    return HttpRequest(method="POST", url=url, headers=headers, body={"n": 1} if body is None else body)


def with_server(
    script: list[Entry], act: Callable[[Transport, FaultServer], Awaitable[T]], *, max_body: int = 100_000
) -> T:
    async def run() -> T:
        async with FaultServer(script) as server, Transport({}, max_body_bytes=max_body) as transport:
            return await act(transport, server)

    return asyncio.run(run())


def sent(*script: Entry, timeout: float = 5.0, max_body: int = 100_000) -> HttpAnswer:
    return with_server(
        list(script), lambda transport, server: transport.send(post(server.url), timeout=timeout), max_body=max_body
    )


def streamed(*script: Entry, timeout: float = 5.0, max_body: int = 100_000) -> tuple[HttpAnswer, list[bytes]]:
    chunks: list[bytes] = []
    got = with_server(
        list(script),
        lambda transport, server: transport.stream(post(server.url), timeout=timeout, on_chunk=chunks.append),
        max_body=max_body,
    )
    return got, chunks


def failed(url: str, environment: dict[str, str] | None = None) -> ProviderError:
    async def run() -> None:
        async with Transport(environment or {}) as transport:
            await transport.send(post(url), timeout=5.0)

    with pytest.raises(ProviderError) as caught:
        asyncio.run(run())
    return caught.value


def chunked(*pieces: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


class TestRequests:
    def test_body_is_sent_as_compact_json(self) -> None:
        """The body goes out as the bytes of `serialised`, with a JSON content type and the headers given."""

        async def act(transport: Transport, server: FaultServer) -> Any:
            await transport.send(post(f"{server.url}/v1/x?a=b", {"text": "né"}, Authorization="Bearer k"), timeout=5)
            return server.received[0]

        received = with_server([answer({})], act)
        assert (received.method, received.path) == ("POST", "/v1/x?a=b")
        assert received.body == '{"text":"né"}'.encode() == serialised({"text": "né"})
        assert received.headers["content-type"] == "application/json"
        assert received.headers["authorization"] == "Bearer k"

    def test_given_content_type_is_kept(self) -> None:
        """A content type of the request's own is not replaced, in whatever case its name is written."""

        async def act(transport: Transport, server: FaultServer) -> Any:
            request = HttpRequest(
                method="POST", url=server.url, headers={"content-TYPE": "application/x-own"}, body=[1, 2]
            )
            await transport.send(request, timeout=5)
            return server.received[0].headers["content-type"]

        assert with_server([answer({})], act) == "application/x-own"

    def test_no_body_sends_none(self) -> None:
        """A request without a body is sent without one."""

        async def act(transport: Transport, server: FaultServer) -> Any:
            await transport.send(HttpRequest(method="GET", url=server.url, headers={}), timeout=5)
            return server.received[0]

        received = with_server([answer({})], act)
        assert (received.method, received.body) == ("GET", b"")
        assert "content-type" not in received.headers

    def test_escapes_in_the_path_are_sent_as_written(self) -> None:
        """A path that was escaped, and perhaps signed, reaches the server unchanged."""

        async def act(transport: Transport, server: FaultServer) -> Any:
            await transport.send(post(f"{server.url}/model/a.b%3A0%2Fc/converse"), timeout=5)
            return server.received[0].path

        assert with_server([answer({})], act) == "/model/a.b%3A0%2Fc/converse"

    def test_half_a_surrogate_pair_is_escaped(self) -> None:
        """Text that has no UTF-8 form is sent as JSON escapes instead of failing."""
        assert serialised({"t": "\ud800"}) == b'{"t":"\\ud800"}'

    @pytest.mark.parametrize("body", [{"x": float("nan")}, {"x": object()}])
    def test_body_that_is_not_json_is_refused(self, body: Any) -> None:
        """A body that JSON cannot hold is an error before anything is sent."""

        async def act(transport: Transport, server: FaultServer) -> Any:
            with pytest.raises(BadRequestError, match="not JSON data"):
                await transport.send(post(server.url, body), timeout=5)
            return server.received

        assert with_server([answer({})], act) == []

    def test_line_break_in_a_header_is_refused_without_showing_it(self) -> None:
        """A header that HTTP forbids is an error that names the header, never its value."""

        async def act(transport: Transport, server: FaultServer) -> Any:
            with pytest.raises(BadRequestError) as caught:
                await transport.send(post(server.url, Authorization="Bearer secret\r\nX: y"), timeout=5)
            return str(caught.value), server.received

        message, received = with_server([answer({})], act)
        assert "'Authorization'" in message
        assert "secret" not in message
        assert received == []

    @pytest.mark.parametrize(
        "url", ["api.example.com/v1", "ftp://example.com/", "http://", "http://[::1", "http://h:x/"]
    )
    def test_bad_url(self, url: str) -> None:
        """A URL that no request can go to is a bad request with a hint."""
        error = failed(url)
        assert isinstance(error, BadRequestError)
        assert error.hint is not None
        assert "base_url" in error.hint

    def test_bad_url_hides_user_and_query(self) -> None:
        """Neither a password nor a query of a bad URL is in the message."""
        assert "hidden" not in str(failed("ftp://me:hidden@example.com/x?key=hidden"))


class TestAnswers:
    def test_whole_answer(self) -> None:
        """Status, headers in any case and the body come back."""
        got = sent(answer({"a": 1}, 418, [("X-Thing", "7")]))
        assert (got.status, got.headers["x-thing"], json.loads(got.body)) == (418, "7", {"a": 1})

    def test_chunked_answer(self) -> None:
        """A body without a length is read to its end."""
        assert sent(answer(chunked(b"one ", b"two"), headers=[("Transfer-Encoding", "chunked")])).body == b"one two"

    def test_answer_that_ends_with_the_connection(self) -> None:
        """A body with neither a length nor chunks lasts until the server closes the connection."""
        head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
        assert sent(Fault([head, b"one ", b"two"], then="close")).body == b"one two"

    def test_compressed_answer(self) -> None:
        """A compressed body comes back decompressed."""
        assert sent(answer(gzip.compress(b"hello"), headers=[("Content-Encoding", "gzip")])).body == b"hello"

    def test_connection_is_used_again(self) -> None:
        """Two requests, one after the other, share one socket."""

        async def act(transport: Transport, server: FaultServer) -> Any:
            for _ in range(2):
                await transport.send(post(server.url), timeout=5)
            return [received.connection for received in server.received]

        assert with_server([answer({})], act) == [1, 1]

    def test_connection_of_a_stream_is_used_again(self) -> None:
        """A stream that was read to its end leaves its socket to the next request."""
        chunks: list[bytes] = []

        async def act(transport: Transport, server: FaultServer) -> Any:
            for _ in range(2):
                await transport.stream(post(server.url), timeout=5, on_chunk=chunks.append)
            return [received.connection for received in server.received]

        stream = answer(chunked(b"a", b"b"), headers=[("Transfer-Encoding", "chunked")])
        assert with_server([stream], act) == [1, 1]

    def test_cookies_are_not_kept(self) -> None:
        """A cookie of one answer is not sent with the next request."""

        async def act(transport: Transport, server: FaultServer) -> Any:
            for _ in range(2):
                await transport.send(post(server.url), timeout=5)
            return server.received[1].headers

        assert "cookie" not in with_server([answer({}, headers=[("Set-Cookie", "a=b")])], act)

    def test_plain_headers_are_looked_up_in_any_case(self) -> None:
        """Headers given as a plain mapping ignore case too, and keep their number."""
        headers = case_insensitive({"Retry-After": "1"})
        assert (headers["RETRY-AFTER"], list(headers), len(headers)) == ("1", ["retry-after"], 1)
        assert HttpAnswer(200, {"X-A": "1"}, b"").headers.get("x-a") == "1"


class TestStreams:
    def test_chunks_arrive_in_order(self) -> None:
        """The body of a success goes to the callback, and is empty in the result."""
        got, chunks = streamed(answer(chunked(b"a", b"b", b"c"), headers=[("Transfer-Encoding", "chunked")]))
        assert (got.status, got.body, b"".join(chunks)) == (200, b"", b"abc")

    def test_chunks_arrive_before_the_end(self) -> None:
        """What has come is handed on while the rest is still awaited."""
        head = answer(b"first", headers=[("Content-Length", "10")])
        chunks: list[bytes] = []

        async def act(transport: Transport, server: FaultServer) -> None:
            with pytest.raises(ProviderTimeoutError):
                await transport.stream(post(server.url), timeout=0.2, on_chunk=chunks.append)

        with_server([Fault([head], then="hang")], act)
        assert chunks == [b"first"]

    def test_failure_is_not_streamed(self) -> None:
        """The body of an answer that is no success is in the result, not in the callback."""
        got, chunks = streamed(answer({"error": "no"}, 400))
        assert (got.status, json.loads(got.body), chunks) == (400, {"error": "no"}, [])

    def test_error_of_the_callback_passes(self) -> None:
        """What the callback raises comes out unchanged, and the connection is closed."""

        def refuse(chunk: bytes) -> None:
            raise LookupError(chunk)

        async def act(transport: Transport, server: FaultServer) -> None:
            with pytest.raises(LookupError):
                await transport.stream(post(server.url), timeout=5, on_chunk=refuse)
            await asyncio.wait_for(server.gone.wait(), 5)

        with_server([Fault([answer(b"x", headers=[("Content-Length", "9")])], then="hang")], act)

    def test_endless_stream_is_bounded(self) -> None:
        """A stream that exceeds the bound is an error, although each chunk is small."""
        head = answer(b"", headers=[("Transfer-Encoding", "chunked")])
        with pytest.raises(ProtocolError, match="larger than 1000 bytes"):
            streamed(Fault([head, *[b"64\r\n" + b"x" * 100 + b"\r\n"] * 50]), max_body=1000)


class TestFaults:
    def test_reset(self) -> None:
        """A connection that is reset before an answer may work the next time."""
        with pytest.raises(ProviderConnectionError, match=r"127\.0\.0\.1:\d+ closed the connection without") as caught:
            sent(Fault(then="reset"))
        assert caught.value.retryable

    def test_closed_without_an_answer(self) -> None:
        """A connection that is closed before an answer may work the next time."""
        with pytest.raises(ProviderConnectionError) as caught:
            sent(Fault(then="close"))
        assert caught.value.retryable

    @pytest.mark.parametrize("then", ["close", "reset"])
    @pytest.mark.parametrize("header", [("Content-Length", "100"), ("Transfer-Encoding", "chunked")])
    def test_half_a_body(self, header: tuple[str, str], then: str) -> None:
        """A connection that breaks in the middle of a body may work the next time."""
        body = b"64\r\nhalf" if header[0] == "Transfer-Encoding" else b"half"
        with pytest.raises(ProviderConnectionError, match="in the middle of its answer") as caught:
            sent(Fault([answer(body, headers=[header])], then=then))
        assert caught.value.retryable

    def test_refused(self) -> None:
        """A port where nobody listens is named, and may work the next time."""
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
        error = failed(f"http://me:hidden@127.0.0.1:{port}/v1?key=hidden")
        assert isinstance(error, ProviderConnectionError)
        assert f"127.0.0.1:{port}" in str(error)
        assert "hidden" not in str(error)
        assert error.retryable

    def test_no_answer_in_time(self) -> None:
        """A server that never answers is given up after the limit, which the message names."""
        with pytest.raises(ProviderTimeoutError, match=r"no answer came from 127\.0\.0\.1:\d+ within 0\.2 s") as caught:
            sent(Fault(then="hang"), timeout=0.2)
        assert caught.value.retryable

    def test_slow_body(self) -> None:
        """A server that sends byte by byte is held to the same limit."""
        head = answer(b"", headers=[("Content-Length", "1000")])
        with pytest.raises(ProviderTimeoutError, match=r"not whole within 0\.3 s"):
            sent(Fault([head, *[b"x"] * 1000], pause=0.02), timeout=0.3)

    def test_slow_headers(self) -> None:
        """So is one that sends its headers byte by byte."""
        with pytest.raises(ProviderTimeoutError, match=r"within 0\.3 s"):
            sent(Fault([b"HTTP/1.1 200 OK\r\n", *[b"A"] * 1000], pause=0.02), timeout=0.3)

    @pytest.mark.parametrize("garbage", [b"SSH-2.0-OpenSSH_9\r\n\r\n", b"\x00\xff\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n"])
    def test_not_http(self, garbage: bytes) -> None:
        """An answer that is not HTTP is a protocol error, which sending again would not mend."""
        with pytest.raises(ProtocolError, match="did not answer in HTTP") as caught:
            sent(Fault([garbage], then="close"))
        assert not caught.value.retryable

    def test_endless_header(self) -> None:
        """A header beyond all measure is refused."""
        with pytest.raises(ProtocolError):
            sent(Fault([answer({}, headers=[("X", "y" * 100_000)])], then="close"))

    def test_broken_chunks(self) -> None:
        """A chunk whose size is no number is a protocol error."""
        with pytest.raises(ProtocolError):
            sent(Fault([answer(b"zz\r\nhello\r\n", headers=[("Transfer-Encoding", "chunked")])], then="hang"))

    def test_broken_compression(self) -> None:
        """A body that is not compressed as its header says is a protocol error."""
        with pytest.raises(ProtocolError, match="decompress"):
            sent(answer(b"not gzip at all", headers=[("Content-Encoding", "gzip")]))

    def test_announced_size_is_bounded(self) -> None:
        """A body announced as too large is not read at all."""
        with pytest.raises(ProtocolError, match="larger than 1000 bytes"):
            sent(Fault([answer(b"x", headers=[("Content-Length", "1001")])], then="hang"), max_body=1000)

    def test_size_without_announcement_is_bounded(self) -> None:
        """A body without a length is read up to the bound."""
        with pytest.raises(ProtocolError, match="larger than 1000 bytes"):
            sent(answer(chunked(b"x" * 1001), headers=[("Transfer-Encoding", "chunked")]), max_body=1000)

    def test_body_of_exactly_the_bound(self) -> None:
        """A body that is as large as the bound is read, whether announced or not."""
        whole = b"x" * 1000
        assert sent(answer(whole), max_body=1000).body == whole
        assert sent(answer(chunked(whole), headers=[("Transfer-Encoding", "chunked")]), max_body=1000).body == whole

    def test_decompressed_size_is_bounded(self) -> None:
        """A small body that decompresses to a large one is stopped at the bound."""
        bomb = gzip.compress(bytes(5_000_000))
        assert len(bomb) < 10_000
        with pytest.raises(ProtocolError, match="larger than 10000 bytes"):
            sent(answer(bomb, headers=[("Content-Encoding", "gzip")]), max_body=10_000)

    @pytest.mark.parametrize("status", [301, 302, 307, 308])
    def test_redirect_is_not_followed(self, status: int) -> None:
        """A redirect is an error whose hint names the host it leads to, and nothing else of the address."""

        async def act(transport: Transport, server: FaultServer) -> Any:
            with pytest.raises(ProtocolError) as caught:
                await transport.send(post(server.url), timeout=5)
            return caught.value, len(server.received)

        location = ("Location", "https://me:hidden@other.example/login?token=hidden")
        error, requests = with_server([answer(b"", status, [location])], act)
        assert (error.status, requests, error.retryable) == (status, 1, False)
        assert "https://other.example" in error.hint
        assert "hidden" not in error.hint

    def test_unknown_host(self) -> None:
        """A host name that does not exist is named."""
        error = failed("http://nobody.invalid/v1")
        assert isinstance(error, ProviderConnectionError)
        assert "host name of nobody.invalid:80 is not known" in str(error)

    @pytest.mark.parametrize(("code", "retryable"), [(socket.EAI_NONAME, False), (socket.EAI_AGAIN, True)])
    def test_resolver_error(self, code: int, retryable: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        """An unknown name stays unknown; a resolver that asks to try again may answer later."""

        def resolve(*_: object, **__: object) -> list[object]:
            raise socket.gaierror(code, "no")

        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        error = failed("http://nobody.invalid/v1")
        assert isinstance(error, ProviderConnectionError)
        assert error.retryable is retryable


class TestTogether:
    """The transport with retries and the classes of answers, as providers use them."""

    def ask(self, *script: Entry, max_retries: int = 3) -> tuple[Any, int, list[float]]:
        slept: list[float] = []

        async def sleep(seconds: float) -> None:
            slept.append(seconds)

        async def act(transport: Transport, server: FaultServer) -> tuple[Any, int, list[float]]:
            async def once() -> Any:
                got = await transport.send(post(server.url), timeout=5)
                if got.status != 200:
                    raise status_error(got, api="the server", retry_statuses=(429, 500, 503))
                return json_body(got, api="the server")

            result, attempts = await with_retries(RetryPolicy(max_retries), once, sleep=sleep, random=lambda: 0.5)
            assert len(server.received) == attempts
            return result, attempts, slept

        return with_server(list(script), act)

    def test_burst_of_errors(self) -> None:
        """Errors that pass are waited out, as long as the server asks where it does."""
        script = [answer({}, 500), answer({}, 429, [("Retry-After", "7")]), answer({}, 429), answer({"ok": 1})]
        assert self.ask(*script) == ({"ok": 1}, 4, [1.0, 7.25, 4.0])

    def test_reset_and_truncated_json(self) -> None:
        """A broken connection and half a JSON text are asked for again."""
        assert self.ask(Fault(then="reset"), answer(b'{"ok":'), answer({"ok": 1}))[:2] == ({"ok": 1}, 3)

    def test_errors_without_end(self) -> None:
        """After the last retry the error comes out, with the number of attempts."""
        with pytest.raises(OverloadedError) as caught:
            self.ask(answer({}, 503), max_retries=2)
        assert caught.value.attempts == 3

    @pytest.mark.parametrize(
        ("entry", "said"),
        [
            (answer(b"<html><title>Log in</title></html>", content_type="text/html"), "Log in"),
            (answer(b"\xff\xfe"), "not UTF-8"),
            (answer(b"", 200), "empty"),
        ],
    )
    def test_no_json(self, entry: bytes, said: str) -> None:
        """What is no JSON is a protocol error that says what came."""
        with pytest.raises(ProtocolError, match=said):
            self.ask(entry, max_retries=0)

    def test_wrong_content_type(self) -> None:
        """JSON is JSON, whatever its content type says."""
        assert self.ask(answer({"ok": 1}, content_type="text/html; charset=latin-1"))[0] == {"ok": 1}


class TestLife:
    def test_cancellation_closes_the_socket(self) -> None:
        """A request that is cancelled stays cancelled, and the server sees the connection end."""

        async def act(transport: Transport, server: FaultServer) -> None:
            task = asyncio.create_task(transport.send(post(server.url), timeout=5))
            while not server.received:
                await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(server.gone.wait(), 5)

        with_server([Fault(then="hang")], act)

    def test_closed_transport_refuses(self) -> None:
        """Nothing is sent after `close`, which may be called twice."""

        async def act(transport: Transport, server: FaultServer) -> Any:
            await transport.send(post(server.url), timeout=5)
            await transport.close()
            await transport.close()
            with pytest.raises(ProviderConnectionError, match="closed") as caught:
                await transport.send(post(server.url), timeout=5)
            return caught.value.retryable, len(server.received)

        assert with_server([answer({})], act) == (False, 1)

    def test_module_does_not_load_aiohttp(self) -> None:
        """Importing the transport, or making one, does not load aiohttp or asyncio."""
        code = (
            "import sys, turnwise.providers.status\n"
            "from turnwise.providers import http, limits\n"
            "http.Transport({}), limits.RateLimit()\n"
            "print([name for name in ('aiohttp', 'asyncio', 'ssl') if name in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that nobody has signed, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key


class TestTls:
    def ask(self, certificate: tuple[Path, Path], environment: dict[str, str]) -> HttpAnswer:
        async def run() -> HttpAnswer:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            async with FaultServer([answer({"ok": True})], tls=context) as server, Transport(environment) as transport:
                return await transport.send(post(server.url), timeout=5)

        return asyncio.run(run())

    def test_unknown_certificate_is_refused(self, certificate: tuple[Path, Path]) -> None:
        """A certificate that nobody trusts is refused for good, and the hint says how to trust it."""
        with pytest.raises(ProviderConnectionError, match="certificate of 127") as caught:
            self.ask(certificate, {})
        assert not caught.value.retryable
        assert "SSL_CERT_FILE" in (caught.value.hint or "")

    @pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
    def test_trusted_certificate_is_accepted(self, certificate: tuple[Path, Path], variable: str) -> None:
        """Each of the usual variables makes a certificate trusted."""
        assert self.ask(certificate, {variable: str(certificate[0])}).status == 200

    def test_missing_certificate_file(self) -> None:
        """A variable that names no file is an error before anything is sent."""
        error = failed("https://127.0.0.1:9/", {"SSL_CERT_FILE": "/nowhere/ca.pem"})
        assert "SSL_CERT_FILE is '/nowhere/ca.pem'" in str(error)
        assert not error.retryable

    def test_server_without_tls(self) -> None:
        """A server that speaks no TLS is refused for good, and the hint names the other scheme."""

        def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            writer.close()

        async def run() -> ProviderError:
            async with await asyncio.start_server(greet, "127.0.0.1", 0) as server, Transport({}) as transport:
                port = server.sockets[0].getsockname()[1]
                with pytest.raises(ProviderConnectionError) as caught:
                    await transport.send(post(f"https://127.0.0.1:{port}/"), timeout=5)
                return caught.value

        error = asyncio.run(run())
        assert "http://" in (error.hint or "")
        assert not error.retryable


class TestProxies:
    def test_request_goes_through_the_proxy(self) -> None:
        """A request for another host goes to the proxy, with the credentials of its URL."""

        async def run() -> Any:
            async with FaultServer([answer({"via": "proxy"})]) as proxy:
                environment = {"http_proxy": f"http://me:p%40ss@127.0.0.1:{proxy.port}"}
                async with Transport(environment) as transport:
                    got = await transport.send(post("http://example.invalid/v1"), timeout=5)
                return json.loads(got.body), proxy.received[0]

        body, received = asyncio.run(run())
        assert body == {"via": "proxy"}
        assert received.path == "http://example.invalid/v1"
        assert received.headers["proxy-authorization"] == "Basic bWU6cEBzcw=="

    def test_this_machine_is_asked_directly(self) -> None:
        """A request for this machine never goes to the proxy."""

        async def run() -> Any:
            async with FaultServer([answer({})]) as proxy, FaultServer([answer({})]) as server:
                async with Transport({"ALL_PROXY": proxy.url, "HTTP_PROXY": proxy.url}) as transport:
                    await transport.send(post(server.url), timeout=5)
                return len(proxy.received), len(server.received)

        assert asyncio.run(run()) == (0, 1)

    @pytest.mark.parametrize(("status", "retryable"), [(407, False), (502, True)])
    def test_proxy_refuses_the_tunnel(self, status: int, retryable: bool) -> None:
        """A proxy that opens no tunnel is named without its password, and its status decides about a retry."""

        async def run() -> Any:
            async with FaultServer([answer(b"", status)]) as proxy:
                async with Transport({"https_proxy": f"http://me:hidden@127.0.0.1:{proxy.port}"}) as transport:
                    with pytest.raises(ProviderConnectionError) as caught:
                        await transport.send(post("https://example.invalid/v1"), timeout=5)
                return caught.value, proxy.received[0].method, proxy.port

        error, method, port = asyncio.run(run())
        assert method == "CONNECT"
        assert f"through the proxy 127.0.0.1:{port}" in str(error)
        assert (error.status, error.retryable) == (status, retryable)
        assert "hidden" not in str(error)
