"""Local models are real processes: started once, shared, started again, and never left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from turnwise.errors import ProviderConnectionError, UsageError
from turnwise.providers.llama_process import LlamaOptions, LlamaServers, default_threads

if TYPE_CHECKING:
    from conftest import LlamaAddresses

pytest.importorskip("xllamacpp")

PARENT = """
import asyncio, sys, time
from pathlib import Path
from turnwise.providers.llama_process import LlamaOptions, LlamaServers
servers = LlamaServers()
asyncio.run(servers.address(LlamaOptions(Path(sys.argv[1]), 256)))
print(*servers.pids, flush=True)
if sys.argv[2] == "stay": time.sleep(60)
"""


def ask(url: str, body: Any = None, key: str | None = None) -> Any:
    """Send one request, and return the JSON of its answer."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=20) as response:
        return json.load(response)


def chat(text: str, **settings: Any) -> dict[str, Any]:
    """The body of a request for a short answer."""
    return {"messages": [{"role": "user", "content": text}], "max_tokens": 16, **settings}


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that ended, but was not collected by its parent, does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def is_gone_soon(pid: int) -> bool:
    """Whether the process ends within some seconds."""
    for _ in range(500):
        if not is_alive(pid):
            return True
        time.sleep(0.02)
    return False


async def killed(servers: LlamaServers) -> None:
    """Kill the one server as a crash would."""
    (pid,) = servers.pids
    os.kill(pid, signal.SIGKILL)
    assert await asyncio.to_thread(is_gone_soon, pid)


def test_a_server_answers_and_close_ends_it(tiny_model: Path) -> None:
    """The address takes chat requests; afterwards no process is left."""

    async def run() -> tuple[Any, Any, tuple[int, ...]]:
        servers = LlamaServers()
        try:
            address = await servers.address(LlamaOptions(tiny_model, 512))
            models = await asyncio.to_thread(ask, f"{address}/models")
            answer = await asyncio.to_thread(ask, f"{address}/chat/completions", chat("Hello"))
            pids = servers.pids
        finally:
            await servers.close()
        assert servers.pids == ()
        return models, answer, pids

    models, answer, pids = asyncio.run(run())
    assert [each["id"] for each in models["data"]] == ["tiny"]
    assert answer["choices"][0]["message"]["role"] == "assistant"
    assert 1 <= answer["usage"]["completion_tokens"] <= 16
    assert [is_alive(pid) for pid in pids] == [False]


def test_the_context_length_is_for_each_request(tiny_model: Path) -> None:
    """A conversation just below it is answered although other slots exist, and one above it is refused."""

    async def run() -> tuple[Any, Any]:
        servers = LlamaServers()
        try:
            address = await servers.address(LlamaOptions(tiny_model, 512, parallel=2))
            short = await asyncio.to_thread(ask, f"{address}/chat/completions", chat("x" * 400))
            with pytest.raises(urllib.error.HTTPError) as caught:
                await asyncio.to_thread(ask, f"{address}/chat/completions", chat("x" * 600))
            with caught.value:
                return short, json.load(caught.value)
        finally:
            await servers.close()

    short, refusal = asyncio.run(run())
    assert short["usage"]["prompt_tokens"] > 400
    assert refusal["error"]["type"] == "exceed_context_size_error"
    assert refusal["error"]["n_ctx"] == 512


def test_the_tiny_model_only_says_printable_ascii(llama_server: LlamaAddresses) -> None:
    """Whatever the seed, its bytes are valid text: a server with it never fails by chance."""
    for seed in range(20):
        body = chat("Say something", seed=seed, temperature=2.0, max_tokens=64)
        text = ask(f"{llama_server.open}/v1/chat/completions", body)["choices"][0]["message"]["content"]
        assert text.isascii()
        assert text.isprintable()


def test_a_key_is_required_where_one_is_set(llama_server: LlamaAddresses) -> None:
    """The server with a key answers who has it, and 401 to others."""
    url = f"{llama_server.locked}/v1/chat/completions"
    assert ask(url, chat("Hi"), llama_server.api_key)["choices"]
    with pytest.raises(urllib.error.HTTPError) as caught:
        ask(url, chat("Hi"), "sk-another")
    with caught.value:
        assert caught.value.code == 401


def test_web_pages_are_not_let_in(llama_server: LlamaAddresses) -> None:
    """A page of another site that the user's browser shows may not read the answers."""
    request = urllib.request.Request(f"{llama_server.open}/v1/models", headers={"Origin": "http://elsewhere.example"})
    with urllib.request.urlopen(request, timeout=20) as response:
        assert response.headers.get("Access-Control-Allow-Origin", "") == ""


def test_concurrent_callers_share_one_process(tiny_model: Path) -> None:
    """Equal options are one server, also when all ask at once before it runs; other options are another."""

    async def run() -> tuple[list[str], str, int]:
        servers = LlamaServers()
        try:
            same = await asyncio.gather(*(servers.address(LlamaOptions(tiny_model, 256)) for _ in range(5)))
            other = await servers.address(LlamaOptions(tiny_model, 128))
            return same, other, len(servers.pids)
        finally:
            await servers.close()

    same, other, count = asyncio.run(run())
    assert len(set(same)) == 1
    assert other not in same
    assert count == 2


def test_a_dead_server_is_started_again(tiny_model: Path) -> None:
    """After a crash the next caller gets an address that answers."""

    async def run() -> Any:
        servers, options = LlamaServers(), LlamaOptions(tiny_model, 256)
        try:
            await servers.address(options)
            await killed(servers)
            return await asyncio.to_thread(ask, f"{await servers.address(options)}/models")
        finally:
            await servers.close()

    assert asyncio.run(run())["data"]


def test_a_server_that_keeps_dying_is_given_up(tiny_model: Path) -> None:
    """Three deaths in a row without an answer are final; an answer in between starts the count anew."""

    async def run() -> ProviderConnectionError:
        servers, options = LlamaServers(), LlamaOptions(tiny_model, 256)
        try:
            for answered in (False, True, False, False):
                await servers.address(options)
                if answered:
                    servers.answered(options)
                await killed(servers)
            with pytest.raises(ProviderConnectionError) as first:
                await servers.address(options)
            with pytest.raises(ProviderConnectionError, match="3 times in a row"):
                await servers.address(options)
            return first.value
        finally:
            await servers.close()

    error = asyncio.run(run())
    assert not error.retryable
    assert "tiny.gguf died 3 times in a row without an answer: it was ended by SIGKILL" in str(error)


def test_a_model_that_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    """A file with the right start and nonsense after it: llama.cpp's own words, no traceback, and no second try."""
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + (3).to_bytes(4, "little") + (1).to_bytes(8, "little") * 2 + b"\xff" * 500)

    async def run() -> list[ProviderConnectionError | str]:
        servers = LlamaServers()
        try:
            options = LlamaOptions(path, api_key="sk-do-not-tell")
            return await asyncio.gather(*(servers.address(options) for _ in range(3)), return_exceptions=True)  # type: ignore[return-value]
        finally:
            await servers.close()

    errors = asyncio.run(run())
    assert [type(each) for each in errors] == [ProviderConnectionError] * 3
    assert isinstance(errors[0], ProviderConnectionError)
    assert not errors[0].retryable
    assert errors[0].hint
    message = str(errors[0])
    assert message.startswith("the local model broken.gguf could not be started: it ended with status 1")
    assert "failed to load model" in message
    assert "Traceback" not in message
    assert "sk-do-not-tell" not in message


def test_a_file_that_is_no_model_starts_nothing(tmp_path: Path) -> None:
    """The check comes first."""
    path = tmp_path / "notes.txt"
    path.write_text("not a model at all", encoding="utf-8")
    servers = LlamaServers()
    with pytest.raises(UsageError, match="not a GGUF file"):
        asyncio.run(servers.address(LlamaOptions(path)))
    assert servers.pids == ()


def test_without_xllamacpp_the_extra_is_named(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hint is the command that installs it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="xllamacpp") as caught:
        asyncio.run(LlamaServers().address(LlamaOptions(tiny_model)))
    assert caught.value.hint == "pip install 'turnwise[local]'"


def test_a_server_that_is_not_ready_in_time_is_ended(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait is bounded, and nothing is left of what was waited for."""
    started = spy_on_processes(monkeypatch)
    servers = LlamaServers(start_seconds=0.001)
    with pytest.raises(ProviderConnectionError, match=r"not ready after 0\.001 s") as caught:
        asyncio.run(servers.address(LlamaOptions(tiny_model)))
    assert not caught.value.retryable
    assert [each.returncode for each in started] == [-signal.SIGKILL]


def test_a_caller_that_is_cancelled_leaves_no_process(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits beside it gets a server of their own start."""
    started = spy_on_processes(monkeypatch)

    async def run() -> str:
        servers, options = LlamaServers(), LlamaOptions(tiny_model, 256)
        first = asyncio.create_task(servers.address(options))
        second = asyncio.create_task(servers.address(options))
        await asyncio.sleep(0.01)
        first.cancel()
        try:
            with pytest.raises(asyncio.CancelledError):
                await first
            return await second
        finally:
            await servers.close()

    assert asyncio.run(run()).startswith("http://127.0.0.1:")
    assert len(started) == 2
    assert all(each.returncode is not None for each in started)


def test_a_child_that_ignores_the_end_is_killed(tiny_model: Path) -> None:
    """Stopped by the system, it notices neither the end of its input nor SIGTERM; it does not survive SIGKILL."""

    async def run() -> int:
        servers = LlamaServers(grace_seconds=0.05)
        await servers.address(LlamaOptions(tiny_model, 256))
        (pid,) = servers.pids
        os.kill(pid, signal.SIGSTOP)
        await servers.close()
        return pid

    assert not is_alive(asyncio.run(run()))


def test_nothing_starts_after_close(tiny_model: Path) -> None:
    """Closing is final, and closing twice is harmless."""

    async def run() -> None:
        servers, options = LlamaServers(), LlamaOptions(tiny_model, 256)
        await servers.address(options)
        await servers.close()
        await servers.close()
        with pytest.raises(ProviderConnectionError, match="already ended") as caught:
            await servers.address(options)
        assert not caught.value.retryable
        assert servers.pids == ()

    asyncio.run(run())


@pytest.mark.parametrize("end", ["stay", "leave"])
def test_the_server_ends_with_its_parent(tiny_model: Path, end: str) -> None:
    """A parent that is killed, or forgets to close, leaves no process behind."""
    command = [sys.executable, "-c", PARENT, str(tiny_model), end]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        if end == "stay":
            assert is_alive(pid)
            parent.kill()
        assert is_gone_soon(pid)


def test_the_server_ends_while_it_loads(tiny_model: Path, tmp_path: Path) -> None:
    """The end of the input ends the process even where Python cannot look: inside a call that holds its lock."""
    slow = "def Server(params):\n    import ctypes\n    ctypes.PyDLL(None).sleep(60)\n"
    (tmp_path / "xllamacpp.py").write_text(f"from types import SimpleNamespace as N\n{FAKE}{slow}", encoding="utf-8")
    options = {"model": "m", "alias": "m", "parallel": 1, "context_length": 1, "threads": 1, "api_key": None}
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "turnwise.providers.llama_server"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PYTHONPATH": str(tmp_path)},
    )
    assert child.stdin is not None
    assert child.stderr is not None
    with child.stderr:
        child.stdin.write(json.dumps(options).encode() + b"\n")
        child.stdin.flush()
        assert child.stderr.readline() == b"loading\n"
        child.stdin.close()
        assert child.wait(10) == -signal.SIGIO


FAKE = """
import os
def CommonParams():
    os.write(2, b"loading\\n")
    return N(model=N(), cpuparams=N(), cpuparams_batch=N())
"""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_the_server_without_a_traceback(tiny_model: Path, how: signal.Signals) -> None:
    """SIGTERM and SIGINT both end it, and it says nothing."""
    options = {"model": str(tiny_model), "alias": "m", "parallel": 1, "context_length": 64, "threads": 1}
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "turnwise.providers.llama_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdin.write(json.dumps({**options, "api_key": None}).encode() + b"\n")
        child.stdin.flush()
        assert json.loads(child.stdout.readline())["address"].startswith("http://127.0.0.1:")
        child.send_signal(how)
        assert child.wait(10) == -how
        assert child.stderr.read() == b""


def test_the_child_gets_a_small_environment(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys of other providers are not handed on, and the server's own key is not on its command line."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-provider")

    async def run() -> tuple[bytes, bytes]:
        servers = LlamaServers()
        try:
            await servers.address(LlamaOptions(tiny_model, 256, api_key="sk-of-this-server"))
            folder = Path(f"/proc/{servers.pids[0]}")
            return (folder / "environ").read_bytes(), (folder / "cmdline").read_bytes()
        finally:
            await servers.close()

    environment, command = asyncio.run(run())
    assert b"sk-of-another-provider" not in environment
    assert b"sk-of-this-server" not in environment + command


def test_options_do_not_show_their_key() -> None:
    """The key is part of what options are, but not of how they print."""
    options = LlamaOptions(Path("m.gguf"), api_key="sk-secret")
    assert "sk-secret" not in repr(options)
    assert options != LlamaOptions(Path("m.gguf"), api_key="sk-another")


def test_threads_follow_size_and_cores() -> None:
    """Small models get one thread; large ones leave one core to others, where there are several."""
    assert default_threads(1_000_000, cores=16) == 1
    assert default_threads(98_000_000, cores=1) == 1
    assert default_threads(98_000_000, cores=8) == 7


def spy_on_processes(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Every process that is started from now on."""
    started: list[subprocess.Popen[bytes]] = []
    original = subprocess.Popen

    def spy(*arguments: Any, **named: Any) -> subprocess.Popen[bytes]:
        process: subprocess.Popen[bytes] = original(*arguments, **named)
        started.append(process)
        return process

    monkeypatch.setattr(subprocess, "Popen", spy)
    return started
