"""Local models as processes: each is started when it is first asked, shared, started again if it dies, and ended.

Plain processes and threads rather than those of asyncio: they belong to no event loop, so they can also be ended when
the interpreter exits.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ..errors import ProviderConnectionError, UsageError
from .gguf_file import check_gguf, own_context_length

if TYPE_CHECKING:
    import asyncio

__all__ = ["LlamaOptions", "LlamaServers", "default_threads"]

_START_SECONDS = 120.0
_GRACE_SECONDS = 2.0
_MOST_DEATHS = 3
_LAST_LINES = 5
_TAIL_BYTES = 4096
# Memory grows with it: a model trained for 128k tokens would need tens of GB for four requests at once.
_LARGEST_UNASKED_CONTEXT = 8192
# Threads that share so little work mostly wait for each other, and they wait by spinning.
_SMALL_MODEL_BYTES = 16 << 20
_INHERITED = ("HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "PYTHONPATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR")
_STAMP = re.compile(r"^[\d.]+ [A-Z] ")
_DAMAGED_HINT = "the file may be damaged, or too new for the installed xllamacpp; try to download it again"
_MEMORY_HINT = "is there enough free memory for it? a smaller `context_length` needs less"


@dataclass(frozen=True, slots=True)
class LlamaOptions:
    """What makes two servers the same. `context_length` is for each of the `parallel` requests at once."""

    model: Path
    context_length: int | None = None
    threads: int | None = None
    parallel: int = 4
    api_key: str | None = field(default=None, repr=False)


@dataclass(slots=True)
class _Server:
    """One process; `address` is empty until it can answer."""

    process: subprocess.Popen[bytes]
    log: IO[bytes]
    address: str = ""


@dataclass(slots=True)
class _Slot:
    """The server for one set of options, over all its lives. `failure`: why there will be no other, and a hint."""

    lock: asyncio.Lock
    server: _Server | None = None
    deaths: int = 0
    failure: tuple[str, str] | None = None


class LlamaServers:
    """The local models of one run. `close` ends them all; what is forgotten ends with the interpreter."""

    def __init__(self, start_seconds: float = _START_SECONDS, grace_seconds: float = _GRACE_SECONDS) -> None:
        self._start_seconds = start_seconds
        self._grace_seconds = grace_seconds
        self._slots: dict[LlamaOptions, _Slot] = {}
        self._closed = False

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that are alive now."""
        return tuple(each.process.pid for each in self._servers() if each.process.poll() is None)

    async def address(self, options: LlamaOptions) -> str:
        """The base URL, `http://127.0.0.1:PORT/v1`, of a server that can answer; it is started if need be.

        Raises `UsageError` for a file that is no model or a missing package, and `ProviderConnectionError`, not
        retryable, if the server does not come up or has died three times without an answer.
        """
        import asyncio

        slot = self._slots.setdefault(options, _Slot(asyncio.Lock()))
        async with slot.lock:
            _bury(slot, options)
            if slot.server is None and slot.failure is None and not self._closed:
                await self._start(slot, options)
            if self._closed:
                raise ProviderConnectionError("the local model was already ended", retryable=False)
            if slot.failure or slot.server is None:
                message, hint = slot.failure or (f"{options.model.name} did not start", _DAMAGED_HINT)
                raise ProviderConnectionError(message, retryable=False, hint=hint)
            return f"{slot.server.address}/v1"

    def answered(self, options: LlamaOptions) -> None:
        """Say that a whole answer came: the deaths before it no longer count."""
        if options in self._slots:
            self._slots[options].deaths = 0

    async def close(self) -> None:
        """End all processes, in order if they let themselves be; wait until they are gone."""
        import asyncio
        import atexit

        self._closed = True
        await asyncio.gather(*(asyncio.to_thread(_stop, each, self._grace_seconds) for each in self._servers()))
        atexit.unregister(self._kill_all)

    async def _start(self, slot: _Slot, options: LlamaOptions) -> None:
        import asyncio
        import atexit

        check_gguf(options.model)
        if importlib.util.find_spec("xllamacpp") is None:
            raise UsageError("a local model needs the package xllamacpp", "pip install 'turnwise[local]'")
        atexit.register(self._kill_all)
        slot.server = server = _spawn(options)
        what = f"the local model {options.model.name}"
        try:
            async with asyncio.timeout(self._start_seconds):
                server.address = await asyncio.to_thread(_announced, server.process)
            if not server.address and not self._closed:
                slot.failure = f"{what} could not be started: {_last_words(server)}", _DAMAGED_HINT
        except TimeoutError:
            slot.failure = f"{what} was not ready after {self._start_seconds:g} s", _MEMORY_HINT
        finally:
            # Also when the caller was cancelled: the next one starts afresh.
            if not server.address:
                slot.server = None
                _kill(server)

    def _servers(self) -> list[_Server]:
        return [slot.server for slot in self._slots.values() if slot.server]

    def _kill_all(self) -> None:
        for server in self._servers():
            _kill(server)


def default_threads(model_bytes: int, cores: int) -> int:
    """How many threads to use for a model of this size, where nothing is said.

    >>> default_threads(4_000_000_000, cores=8), default_threads(500_000, cores=8)
    (7, 1)
    """
    # One core is left to others: all threads wait for the slowest at every step, so a busy core slows all of them.
    return 1 if model_bytes < _SMALL_MODEL_BYTES else max(1, cores - 1)


def _physical_cores() -> int:
    """Cores that this process may use; two that are one core in truth count once, where the system tells."""
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count() or 1
    usable = os.sched_getaffinity(0)
    topology = [Path(f"/sys/devices/system/cpu/cpu{each}/topology/thread_siblings_list") for each in usable]
    try:
        return len({each.read_text() for each in topology})
    except OSError:
        return len(usable)


def _child_options(options: LlamaOptions) -> dict[str, str | int | None]:
    own = own_context_length(options.model)
    return {
        "model": str(options.model),
        "alias": options.model.stem,
        "context_length": options.context_length or (own and min(own, _LARGEST_UNASKED_CONTEXT)),
        "threads": options.threads or default_threads(options.model.stat().st_size, _physical_cores()),
        "parallel": options.parallel,
        "api_key": options.api_key,
    }


def _spawn(options: LlamaOptions) -> _Server:
    from tempfile import TemporaryFile

    line = json.dumps(_child_options(options)).encode() + b"\n"
    log = TemporaryFile()  # noqa: SIM115 - lives as long as the process
    process = subprocess.Popen(
        # -P: a file of the user's folder must not stand in for a module.
        [sys.executable, "-P", "-m", "turnwise.providers.llama_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        env={name: os.environ[name] for name in _INHERITED if name in os.environ},
        # Ctrl-C in the terminal is for us; we end the child when its requests have ended.
        start_new_session=True,
    )
    assert process.stdin is not None
    # The options go through the pipe because others can read a command line, and one of them may be a key. A child
    # that is already dead is noticed where its address is waited for.
    with suppress(BrokenPipeError):
        process.stdin.write(line)
        process.stdin.flush()
    return _Server(process, log)


def _announced(process: subprocess.Popen[bytes]) -> str:
    """The address that the child writes; empty if it ended before."""
    assert process.stdout is not None
    line = process.stdout.readline()
    return str(json.loads(line)["address"]) if line else ""


def _bury(slot: _Slot, options: LlamaOptions) -> None:
    server = slot.server
    if server is None or server.process.poll() is None:
        return
    slot.server = None
    slot.deaths += 1
    if slot.deaths >= _MOST_DEATHS:
        what = f"the local model {options.model.name} died {slot.deaths} times in a row without an answer"
        slot.failure = f"{what}: {_last_words(server)}", _MEMORY_HINT
    _kill(server)


def _last_words(server: _Server) -> str:
    """How the child ended, and the last lines that it wrote, without llama.cpp's time stamps."""
    status = server.process.wait()
    end = f"it ended with status {status}" if status >= 0 else f"it was ended by {signal.Signals(-status).name}"
    size = server.log.seek(0, os.SEEK_END)
    server.log.seek(max(0, size - _TAIL_BYTES))
    lines = server.log.read().decode("utf-8", "replace").splitlines()
    said = [_STAMP.sub("", line) for line in lines if line.strip()]
    return "; ".join([end, *said[-_LAST_LINES:]])


def _stop(server: _Server, grace_seconds: float) -> None:
    """Close the child's input, which ends it; press harder each time that it does not."""
    assert server.process.stdin is not None
    for press in (server.process.stdin.close, server.process.terminate):
        press()
        with suppress(subprocess.TimeoutExpired):
            server.process.wait(grace_seconds)
            break
    _kill(server)


def _kill(server: _Server) -> None:
    server.process.kill()
    server.process.wait()
    for pipe in (server.process.stdin, server.process.stdout, server.log):
        if pipe is not None:
            # What the dead child did not read is of no use to anyone.
            with suppress(BrokenPipeError):
                pipe.close()
