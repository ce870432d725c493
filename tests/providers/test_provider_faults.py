"""Providers against servers that misbehave: each fault is one typed error, passing ones are tried again, none hangs."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fault_server import Fault, FaultServer, answer
from turnwise.errors import (
    AuthenticationError,
    ContentFilterError,
    ContextLengthError,
    NotFoundError,
    OverloadedError,
    PermissionDeniedError,
    ProtocolError,
    ProviderConnectionError,
    ProviderError,
    ProviderTimeoutError,
    RateLimitError,
)
from turnwise.providers import ProviderRequest, ProviderResponse, Providers
from turnwise.providers.retries import Retry
from turnwise.targets.models import PROVIDERS
from turnwise.targets.resolve import ResolvedTarget, resolve_target

REQUEST = ProviderRequest(question="Hello")
KEY = "sk-fault-key-123456"


def completion(text: str = "Hi", finish: str = "stop") -> dict[str, Any]:
    """A sound answer of the Chat Completions API."""
    return {
        "model": "m",
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }


FINE = answer(completion())


def event(data: Any) -> bytes:
    return f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def piece(text: str | None = None, finish: str | None = None) -> bytes:
    """One event of a streamed completion."""
    return event({"choices": [{"index": 0, "delta": {"content": text} if text else {}, "finish_reason": finish}]})


def streamed(*events: bytes) -> bytes:
    return answer(b"".join(events), content_type="text/event-stream")


FINE_STREAM = streamed(piece("H"), piece("i"), piece(None, "stop"), event("[DONE]"))


def target(url: str, provider: str = "openai", **settings: Any) -> ResolvedTarget:
    """A target of the server, with pauses that a test can wait for."""
    spec = {"name": "faulty", "provider": provider, "model": "m", "base_url": url, "api_key": "${{ FAULT_KEY }}"}
    small = {"retry_initial_delay": 0.01, "timeout": 5, **settings}
    return resolve_target(PROVIDERS[provider].model_validate({**spec, **small}), {"FAULT_KEY": KEY})


class Asked:
    """What came of one request to a server with a script: a response or an error, and all that was seen meanwhile."""

    def __init__(self) -> None:
        self.response: ProviderResponse | None = None
        self.error: ProviderError | None = None
        self.retries: list[Retry] = []
        self.requests = 0


def asked(
    script: Sequence[Fault | bytes],
    *,
    tls: ssl.SSLContext | None = None,
    environment: dict[str, str] | None = None,
    **settings: Any,
) -> Asked:
    """Ask a server that follows the script; bounded in time."""
    seen = Asked()

    async def run() -> None:
        async with (
            asyncio.timeout(10),
            FaultServer(script, tls) as server,
            Providers(environment=environment or {}, on_retry=lambda _, retry: seen.retries.append(retry)) as providers,
        ):
            try:
                seen.response = await providers.open(target(server.url, **settings)).ask(REQUEST)
            except ProviderError as error:
                seen.error = error
            seen.requests = len(server.received)

    asyncio.run(run())
    return seen


FAULTS: dict[str, tuple[Fault | bytes, type[ProviderError], bool]] = {
    "rate limit": (answer({"error": {"message": "slow down"}}, 429), RateLimitError, True),
    "rate limit with a time": (answer({}, 429, [("Retry-After", "0.01")]), RateLimitError, True),
    "broken server": (answer({"error": {"message": "oops"}}, 500), OverloadedError, True),
    "overloaded": (answer({"type": "error", "error": {"type": "overloaded_error"}}, 529), OverloadedError, True),
    "gateway timeout": (answer(b"<html><title>504</title>", 504, content_type="text/html"), ProviderTimeoutError, True),
    "reset": (Fault([], then="reset"), ProviderConnectionError, True),
    "reset in the middle": (Fault([FINE[:-20]], then="reset"), ProviderConnectionError, True),
    "closed without an answer": (Fault([], then="close"), ProviderConnectionError, True),
    "half a body": (Fault([FINE[:-20]], then="close"), ProviderConnectionError, True),
    "half the JSON": (answer(json.dumps(completion()).encode()[:-20]), ProtocolError, True),
    "nothing": (answer(b""), ProtocolError, True),
    "invalid UTF-8": (answer(b'{"choices": "\xff\xfe"}'), ProtocolError, True),
    "not JSON": (answer(b"Welcome!"), ProtocolError, False),
    "a page instead": (
        answer(b"<!doctype html><title>Sign in</title>", content_type="text/html"),
        ProtocolError,
        False,
    ),
    "a page for an error": (
        answer(b"<html><title>Not here</title></html>", 404, content_type="text/html"),
        NotFoundError,
        False,
    ),
    "huge": (answer(b"x", 200, [("Content-Length", "99999999999")]), ProtocolError, False),
    "no choices": (answer({"choices": []}), ProtocolError, False),
    "something else's JSON": (answer({"status": "ok"}), ProtocolError, False),
    "a JSON list": (answer([1, 2]), ProtocolError, False),
    "not HTTP": (Fault([b"SSH-2.0-OpenSSH_9.2\r\n\r\n"], then="close"), ProtocolError, False),
    "redirect": (answer(b"", 302, [("Location", "https://login.example/")]), ProtocolError, False),
    "wrong key": (answer({"error": {"message": f"Incorrect API key: {KEY}"}}, 401), AuthenticationError, False),
    "not allowed": (answer({"error": {"message": "no"}}, 403), PermissionDeniedError, False),
    "no such model": (answer({"error": {"code": "model_not_found"}}, 404), NotFoundError, False),
    "too long": (
        answer({"error": {"code": "context_length_exceeded", "message": "too long"}}, 400),
        ContextLengthError,
        False,
    ),
    "content filter": (answer({"error": {"code": "content_filter", "message": "no"}}, 400), ContentFilterError, False),
    "withheld": (answer(completion("", "content_filter")), ContentFilterError, False),
    "used up": (answer({"error": {"code": "insufficient_quota", "message": "pay"}}, 429), RateLimitError, False),
    "error in a success": (answer({"error": {"code": 503, "message": "upstream"}}), OverloadedError, True),
}
STREAM_FAULTS: dict[str, tuple[Fault | bytes, type[ProviderError], bool]] = {
    "cut off": (streamed(piece("Hel")), ProviderConnectionError, True),
    "nothing at all": (streamed(), ProviderConnectionError, True),
    "reset in the middle": (Fault([FINE_STREAM[:-60]], then="reset"), ProviderConnectionError, True),
    "closed in the middle": (Fault([FINE_STREAM[:-60]], then="close"), ProviderConnectionError, True),
    "an error in the middle": (
        streamed(piece("Hel"), event({"error": {"type": "overloaded_error", "message": "busy"}})),
        OverloadedError,
        True,
    ),
    "a lasting error": (streamed(event({"error": {"code": "context_length_exceeded"}})), ContextLengthError, False),
    "an event that is not JSON": (streamed(piece("Hel"), event('{"choices": [')), ProtocolError, True),
    "an event with the key": (streamed(event(f"you sent {KEY}")), ProtocolError, True),
    "half the JSON": (answer(json.dumps(completion()).encode()[:-20]), ProtocolError, True),
    "an event that is no object": (streamed(event([1])), ProtocolError, False),
    "a stream without a choice": (streamed(event({"choices": []}), event("[DONE]")), ProtocolError, False),
    "an error before": (answer({"error": {"message": "oops"}}, 500), OverloadedError, True),
    "an error as JSON": (answer({"error": {"code": "invalid_api_key", "message": "no"}}), AuthenticationError, False),
    "a page instead": (
        answer(b"<!doctype html><title>Sign in</title>", content_type="text/html"),
        ProtocolError,
        False,
    ),
    "invalid UTF-8": (streamed(b'data: {"choices": "\xff"}\n\n'), ProtocolError, True),
}


def _check(script: Fault | bytes, kind: type[ProviderError], passes: bool, **settings: Any) -> ProviderError:
    seen = asked([script], max_retries=2, **settings)
    error = seen.error
    assert error is not None
    assert type(error) is kind
    assert (error.kind, error.retryable) == (kind.kind, passes)
    assert error.attempts == seen.requests == (3 if passes else 1)
    assert [each.attempt for each in seen.retries] == ([2, 3] if passes else [])
    assert str(error).strip()
    assert KEY not in f"{error} {error.hint}"
    return error


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_one_typed_error(name: str) -> None:
    """Its class says what is wrong; a passing one is tried again as often as the target says, another is not."""
    _check(*FAULTS[name])


@pytest.mark.parametrize("name", STREAM_FAULTS)
def test_a_fault_of_a_stream_is_one_typed_error(name: str) -> None:
    """Half an answer is never taken for a whole one."""
    _check(*STREAM_FAULTS[name], stream=True)


@pytest.mark.parametrize("name", [name for name, (_, _, passes) in FAULTS.items() if passes])
def test_what_passes_ends_in_an_answer(name: str) -> None:
    """After two faults the third attempt is the answer, and the retries were told."""
    fault, kind, _ = FAULTS[name]
    seen = asked([fault, fault, FINE])
    assert seen.response is not None
    assert (seen.response.text, seen.response.attempts, seen.requests) == ("Hi", 3, 3)
    assert [(each.attempt, each.of, type(each.error)) for each in seen.retries] == [(2, 4, kind), (3, 4, kind)]


@pytest.mark.parametrize("name", [name for name, (_, _, passes) in STREAM_FAULTS.items() if passes])
def test_a_stream_is_asked_for_again(name: str) -> None:
    """Nothing of the broken stream is left in the answer."""
    seen = asked([STREAM_FAULTS[name][0], FINE_STREAM], stream=True)
    assert seen.response is not None
    assert (seen.response.text, seen.response.attempts) == ("Hi", 2)


def test_the_server_says_how_long_to_wait() -> None:
    """A time in the answer goes before the target's own delay, which would be an hour."""
    slow = answer({}, 429, [("Retry-After", "0.02")])
    seen = asked([slow, FINE], retry_initial_delay=3600, retry_max_delay=3600)
    assert seen.response is not None
    assert len(seen.retries) == 1
    assert 0.02 <= seen.retries[0].delay <= 0.03


def test_delays_grow_where_the_server_says_nothing() -> None:
    """Each pause is longer than the one before, by the target's factor and a little chance."""
    seen = asked([answer({}, 500)], max_retries=3, retry_initial_delay=0.004, retry_factor=3)
    delays = [each.delay for each in seen.retries]
    assert [low <= each <= high for each, (low, high) in zip(delays, _bounds(0.004, 3, 3), strict=True)] == [True] * 3


def _bounds(first: float, factor: float, count: int) -> list[tuple[float, float]]:
    return [(first * factor**n * 0.75, first * factor**n * 1.25) for n in range(count)]


def test_too_long_a_wait_is_not_waited_for() -> None:
    """A server that asks for a day is told to the user at once."""
    seen = asked([answer({}, 429, [("Retry-After", "86400")])])
    assert isinstance(seen.error, RateLimitError)
    assert seen.requests == 1
    assert "86400 s" in (seen.error.hint or "")


@pytest.mark.parametrize("stream", [False, True])
def test_a_server_that_drips_is_timed_out(stream: bool) -> None:
    """A byte now and then does not keep a request alive beyond the target's timeout."""
    drips = Fault([FINE[:-30], *([b" "] * 200)], pause=0.02)
    seen = asked([drips], timeout=0.15, max_retries=1, stream=stream)
    assert isinstance(seen.error, ProviderTimeoutError)
    assert (seen.error.attempts, seen.requests) == (2, 2)
    assert "timeout" in (seen.error.hint or "")


def test_a_wrong_key_names_its_variable() -> None:
    """One message: which variable, which server, what it said; the key that the server repeats is masked."""
    error = _check(*FAULTS["wrong key"])
    assert "FAULT_KEY" in str(error)
    assert "127.0.0.1" in str(error)
    assert "***" in str(error)


def test_an_answer_of_another_content_type_is_read() -> None:
    """JSON is JSON, whatever a server calls it."""
    seen = asked([answer(completion(), content_type="text/plain")])
    assert seen.response is not None
    assert seen.response.text == "Hi"


@pytest.mark.parametrize(
    ("provider", "body"),
    [
        ("openai", completion("Hi", "eos_token")),
        ("anthropic", {"content": [{"type": "text", "text": "Hi"}], "stop_reason": "eos_token"}),
    ],
)
def test_an_unknown_finish_reason_is_kept(provider: str, body: Any) -> None:
    """It is no error: the reason is `other`, and the server's own word stays."""
    seen = asked([answer(body)], provider=provider)
    assert seen.response is not None
    assert (seen.response.finish_reason, seen.response.raw_finish_reason) == ("other", "eos_token")


def test_a_server_that_does_not_stream_is_understood() -> None:
    """A whole JSON answer to a request for a stream is the answer; there is no time of a first token."""
    seen = asked([FINE], stream=True)
    assert seen.response is not None
    assert (seen.response.text, seen.response.usage.output_tokens) == ("Hi", 2)
    assert seen.response.first_token_ms is None


def test_the_time_of_the_first_token_is_that_of_its_piece() -> None:
    """It lies before the end by at least the server's pause."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    pieces = [head + piece("H"), piece("i"), piece(None, "stop") + event("[DONE]")]
    seen = asked([Fault(pieces, pause=0.05, then="close")], stream=True)
    assert seen.response is not None
    assert seen.response.first_token_ms is not None
    assert seen.response.latency_ms is not None
    assert seen.response.latency_ms - seen.response.first_token_ms >= 80


def test_an_untrusted_certificate_is_told(tmp_path: Path) -> None:
    """It is not tried again, and the hint names the variable for certificates."""
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    kind = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=h"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(["openssl", *kind, *files], check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    seen = asked([FINE], tls=tls)
    assert isinstance(seen.error, ProviderConnectionError)
    assert (seen.error.attempts, seen.error.retryable) == (1, False)
    assert "certificate" in str(seen.error)
    assert "SSL_CERT_FILE" in (seen.error.hint or "")


def _refused(url: str, **settings: Any) -> ProviderError:
    async def run() -> ProviderError:
        async with asyncio.timeout(10), Providers(environment={}) as providers:
            with pytest.raises(ProviderError) as caught:
                await providers.open(target(url, **settings)).ask(REQUEST)
            return caught.value

    return asyncio.run(run())


def test_an_unknown_host_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that nobody knows is not looked up again."""

    def unknown(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    error = _refused("https://no-such-host.invalid/v1")
    assert isinstance(error, ProviderConnectionError)
    assert (error.attempts, error.retryable) == (1, False)
    assert "no-such-host.invalid" in str(error)


def test_a_closed_port_is_tried_again() -> None:
    """A server may be starting: the attempts are counted, and the hint asks whether it runs."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        error = _refused(f"http://127.0.0.1:{reserved.getsockname()[1]}/v1", max_retries=2)
    assert isinstance(error, ProviderConnectionError)
    assert error.attempts == 3
    assert "running" in (error.hint or "")


def test_this_machine_is_asked_without_the_proxy() -> None:
    """A proxy of the environment is not for servers on this machine."""
    dead = "http://127.0.0.1:1"
    seen = asked([FINE], environment={"HTTP_PROXY": dead, "http_proxy": dead, "ALL_PROXY": dead})
    assert seen.response is not None
    assert seen.response.text == "Hi"


@pytest.mark.parametrize("stream", [False, True])
def test_cancelling_closes_the_connection(stream: bool) -> None:
    """Nobody waits for an answer that nobody wants."""

    async def run() -> None:
        script = [Fault([FINE[:40]], then="hang")]
        async with asyncio.timeout(10), FaultServer(script) as server, Providers(environment={}) as providers:
            task = asyncio.create_task(providers.open(target(server.url, stream=stream)).ask(REQUEST))
            while not server.received:
                await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await server.gone.wait()
            assert len(server.received) == 1

    asyncio.run(run())


def test_a_rate_limit_holds_everybody_back() -> None:
    """Who shares the target waits, too: nothing is sent until the time that one of them was told is over."""

    async def run() -> None:
        script = [answer({}, 429, [("Retry-After", "0.2")]), FINE]
        async with asyncio.timeout(10), FaultServer(script) as server, Providers(environment={}) as providers:
            provider = providers.open(target(server.url))
            told = asyncio.create_task(provider.ask(REQUEST))
            while not server.received:
                await asyncio.sleep(0.005)
            await asyncio.sleep(0.05)
            other = asyncio.create_task(provider.ask(REQUEST))
            await asyncio.sleep(0.05)
            assert len(server.received) == 1
            assert [each.text for each in await asyncio.gather(told, other)] == ["Hi", "Hi"]

    asyncio.run(run())


def test_a_success_that_uses_up_the_limit_holds_the_next() -> None:
    """Headers that say "none left" are believed before anybody is refused."""

    async def run() -> float:
        used_up = [("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "150ms")]
        script = [answer(completion(), 200, used_up), FINE]
        async with asyncio.timeout(10), FaultServer(script) as server, Providers(environment={}) as providers:
            provider = providers.open(target(server.url))
            await provider.ask(REQUEST)
            started = time.perf_counter()
            await provider.ask(REQUEST)
            return time.perf_counter() - started

    assert asyncio.run(run()) >= 0.14
