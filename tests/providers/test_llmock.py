"""An independent judge of manners: llmock breaks our requests and says how well the client took it."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from turnwise.errors import ProviderError
from turnwise.providers import ProviderRequest, ProviderResponse, Providers
from turnwise.targets.models import PROVIDERS
from turnwise.targets.resolve import resolve_target

pytest.importorskip("llmock")

LLMOCK = [sys.executable, "-c", "from llmock.cli import app; app()"]
# No proxy and no file of the user's may change what the server does.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "NO_PROXY": "*"}
CHAT = "/v1"


@contextmanager
def running(*options: str) -> Iterator[str]:
    """A server with these options; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*LLMOCK, "serve", "--host", "127.0.0.1", "--port", str(port), "--log-level", "error", *options]
    process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_for(f"{address}/_llmock/verdict")
        yield address
    finally:
        process.terminate()
        process.wait(10)


def _wait_for(url: str) -> None:
    for _ in range(600):
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"llmock did not start at {url}")


@pytest.fixture(scope="module")
def patient_server() -> Iterator[str]:
    """A server that misbehaves only as it is told."""
    with running() as address:
        yield address


@pytest.fixture
def server(patient_server: str) -> str:
    """The same, without a memory of other tests."""
    _post(f"{patient_server}/_llmock/reset", {})
    return patient_server


def _post(url: str, body: Any) -> bytes:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=5) as response:
        content: bytes = response.read()
        return content


def misbehave(server: str, *behaviors: dict[str, Any]) -> None:
    """Queue faults; each hits as many requests as its `times` says, in the order of their arrival."""
    _post(f"{server}/_llmock/scenario", {"behaviors": list(behaviors)})


def judged(server: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the verdict of `llmock report --strict`."""
    done = subprocess.run(
        [*LLMOCK, "report", "--url", server, "--strict", "--json"], env=ENVIRONMENT, capture_output=True, timeout=30
    )
    verdict: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, verdict


def ask(server: str, count: int, **settings: Any) -> list[ProviderResponse | BaseException]:
    """Ask that many different questions at once."""
    spec = {"name": "m", "provider": "openai", "model": "gpt-4o", "base_url": f"{server}{CHAT}", "api_key": "none"}
    small = {"retry_initial_delay": 0.1, "retry_factor": 3, "max_retries": 9, **settings}
    resolved = resolve_target(PROVIDERS["openai"].model_validate({**spec, **small}), {})

    async def asked() -> list[ProviderResponse | BaseException]:
        async with asyncio.timeout(60), Providers(environment={}) as providers:
            provider = providers.open(resolved)
            questions = [ProviderRequest(question=f"Question {n}") for n in range(count)]
            return list(await asyncio.gather(*(provider.ask(each) for each in questions), return_exceptions=True))

    return asyncio.run(asked())


def answered(outcomes: list[ProviderResponse | BaseException]) -> list[ProviderResponse]:
    """The answers, if there is nothing else."""
    assert [each for each in outcomes if isinstance(each, BaseException)] == []
    return [each for each in outcomes if isinstance(each, ProviderResponse)]


def assert_well_behaved(server: str, *, calls: int, faults: int) -> None:
    """The judge saw the faults, and has nothing to say against us, not even a warning."""
    code, verdict = judged(server)
    assert verdict["findings"] == []
    assert (code, verdict["passed"]) == (0, True)
    assert verdict["calls"] == calls
    assert verdict["faults_injected"] >= faults


def test_many_requests_survive_a_bad_day() -> None:
    """60 requests at once, of which a fifth fail each time, are all answered, and the judge finds no fault with us."""
    # At rates alone, a call could by chance meet 500 twice, with someone else's rate limit in between: the second
    # pause would be the shorter one, which looks like no backoff. So each of the first meets 500 once.
    with running("--error-rate-429", "0.15", "--error-rate-503", "0.05") as server:
        misbehave(server, {"type": "fail", "status": 500, "times": 12})
        responses = answered(ask(server, 60))
        assert_well_behaved(server, calls=60, faults=12)
    assert len(responses) == 60
    assert max(each.attempts for each in responses) > 1


def test_a_told_wait_is_waited_out(server: str) -> None:
    """429 and 503 with a time: nobody comes back earlier."""
    for status in (429, 503):
        misbehave(server, {"type": "fail", "status": status, "retry_after": 0.3, "times": 3})
        answered(ask(server, 4))
    assert_well_behaved(server, calls=8, faults=6)


def test_pauses_grow_where_no_wait_is_told(server: str) -> None:
    """Two broken answers in a row to one request: the second pause is longer than the first."""
    misbehave(server, {"type": "fail", "status": 500, "times": 2})
    (response,) = answered(ask(server, 1))
    assert response.attempts == 3
    assert_well_behaved(server, calls=1, faults=2)


def test_lasting_errors_are_not_sent_again(server: str) -> None:
    """400, 401, 403 and 404 are told once; the temperature tells the four requests apart."""
    for status in (400, 401, 403, 404):
        misbehave(server, {"type": "fail", "status": status, "times": 1})
        (error,) = ask(server, 1, temperature=status / 1000)
        assert isinstance(error, ProviderError)
        assert (error.status, error.attempts) == (status, 1)
    code, verdict = judged(server)
    assert [each["code"] for each in verdict["findings"]] == []
    assert (code, verdict["attempts"]) == (0, 4)


@pytest.mark.parametrize("kind", ["truncate", "disconnect", "malformed"])
def test_a_broken_stream_is_asked_for_again(server: str, kind: str) -> None:
    """Half a stream is no answer: every request is sent again until it brings a whole one."""
    misbehave(server, {"type": "stream_fault", "kind": kind, "after_chunks": 2, "times": 2})
    # The judge takes the attempt that ended last for the last one: its server must let go of the broken one before.
    responses = answered(ask(server, 3, stream=True, retry_initial_delay=1.0))
    assert sum(each.attempts for each in responses) == 5
    assert all(each.finish_reason == "stop" and each.text for each in responses)
    assert_well_behaved(server, calls=3, faults=2)


def test_a_stalled_stream_is_left(server: str) -> None:
    """A stream that stops without an end is given up when the target's time is over."""
    misbehave(server, {"type": "stream_fault", "kind": "stall", "after_chunks": 2, "stall_seconds": 1.5})
    (response,) = answered(ask(server, 1, stream=True, timeout=0.5))
    assert response.attempts == 2
    assert_well_behaved(server, calls=1, faults=1)


def test_the_judge_condemns_a_rude_client(server: str) -> None:
    """The verdict means something: who comes back at once, or repeats what is refused for good, fails."""
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Now!"}]}
    for status, said in ((429, "retry_after_ignored"), (401, "retried_non_retryable")):
        misbehave(server, {"type": "fail", "status": status, "times": 2})
        for _ in range(2):
            with pytest.raises(urllib.error.HTTPError) as refused:
                _post(f"{server}{CHAT}/chat/completions", body)
            refused.value.close()
        _post(f"{server}{CHAT}/chat/completions", body)
        code, verdict = judged(server)
        assert (code, verdict["passed"]) == (1, False)
        assert said in {each["code"] for each in verdict["findings"]}
        _post(f"{server}/_llmock/reset", {})
