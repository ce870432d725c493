"""Answers that were given before: a provider that looks them up, and the cache that it shares with others.

SQLite blocks, so one thread of its own does all of its work. What is written waits there for a moment, to be written
together; what is read is looked for there first. A cache that fails is told of once, and then done without.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from ..errors import TurnwiseError, UsageError
from ..providers.base import Preview, Provider, ProviderRequest, ProviderResponse
from .cache_key import cache_key
from .cache_store import BUSY_TIMEOUT, DEFAULT_PATH, CacheStats, CacheStore, Row, pack, unpack
from .redaction import redacted

if TYPE_CHECKING:
    from ..targets.settings import TargetBase

__all__ = ["AnswerCache", "CachingProvider"]

_FLUSH_AFTER = 0.1
_FLUSH_AT = 100
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_Result = TypeVar("_Result")
_FlightName = tuple[str, bool, bool]
_Flights = dict[_FlightName, "_Flight"]


@dataclass(slots=True, eq=False)
class _Flight:
    """A request that is under way, and how many wait for its answer."""

    task: asyncio.Task[ProviderResponse]
    waiting: int = 0

    async def landed(self, flights: _Flights, name: _FlightName) -> ProviderResponse:
        """The answer. Whoever stops waiting does not disturb the others; if nobody is left, it is given up."""
        self.waiting += 1
        try:
            return await asyncio.shield(self.task)
        finally:
            self.waiting -= 1
            if not self.waiting and not self.task.done():
                self.forget(flights, name)
                self.task.cancel()

    def forget(self, flights: _Flights, name: _FlightName) -> None:
        """Let nobody board any more."""
        if flights.get(name) is self:
            del flights[name]


class AnswerCache:
    """The cache of one event loop. An async context manager: what is not written yet is written when it closes.

    `hits` and `misses` count what was looked up, `not_kept` the answers that are too large or are no JSON. `warnings`
    says what went wrong, each thing once; `on_warning` is told at once, maybe from another thread.
    """

    def __init__(
        self,
        path: Path = DEFAULT_PATH,
        *,
        on_warning: Callable[[str], object] | None = None,
        clock: Callable[[], float] = time.time,
        busy_timeout: float = BUSY_TIMEOUT,
    ) -> None:
        self.path = path
        self._busy_timeout = busy_timeout
        self.hits = self.misses = self.not_kept = 0
        self.warnings: list[str] = []
        self.flights: _Flights = {}
        self._on_warning = on_warning
        self._clock = clock
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="turnwise-cache")
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        # Only the thread touches these two.
        self._store: CacheStore | None = None
        self._pending: dict[str, Row] = {}

    async def __aenter__(self) -> Self:
        """Open the file. Raises `UsageError` if it is damaged, or of a newer version; all else is a warning."""
        try:
            await self._run(self._open)
        except BaseException:
            self._thread.submit(self._drop)
            self._thread.shutdown()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def get(self, key: str) -> ProviderResponse | None:
        """The answer of that key, with `attempts` 0; None if there is none, or none that can be read."""
        found = None if self._closed else await self._run(self._lookup, key)
        if found is None:
            self.misses += 1
        else:
            self.hits += 1
        return found

    async def put(self, key: str, target: str, response: ProviderResponse) -> None:
        """Keep an answer. It is on disk at most 0.2 s later, or when the cache closes."""
        waits = not self._closed and await self._run(self._keep, key, target, response)
        if waits and self._timer is None and not self._closed:
            self._timer = asyncio.get_running_loop().call_later(_FLUSH_AFTER, self._flush_now)

    async def stats(self) -> CacheStats:
        """What the cache holds, and what this process found in it. Raises `UsageError` if that cannot be read."""
        held = await self._run(self._managed, "read", CacheStore.stats)
        return replace(held or CacheStats(), hits=self.hits, misses=self.misses)

    async def clear(self, target: str | None = None, older_than: timedelta | None = None) -> int:
        """Remove answers: how many. Raises `UsageError` if that fails."""
        now = self._clock()
        return await self._run(self._managed, "cleared", lambda store: store.clear(target, older_than, now=now)) or 0

    async def close(self) -> None:
        """Write what is left. Afterwards, nothing is found and nothing kept."""
        if self._closed:
            return
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        await self._run(self._flush)
        await self._run(self._drop)
        self._thread.shutdown()

    async def _run(self, function: Callable[..., _Result], *arguments: object) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    def _flush_now(self) -> None:
        self._timer = None
        self._thread.submit(self._flush)

    def _open(self) -> None:
        try:
            self._store = CacheStore(self.path, busy_timeout=self._busy_timeout)
        except (sqlite3.Error, OSError) as error:
            self._fail("opened", error)

    def _lookup(self, key: str) -> ProviderResponse | None:
        try:
            waiting = self._pending.get(key)
            payload = waiting.payload if waiting else self._store.get(key) if self._store else None
            return None if payload is None else unpack(payload)
        except ValueError:
            self._warn(f"the cache {self.path} holds an answer that cannot be read: it is asked for again")
        except sqlite3.Error as error:
            self._fail("read", error)
        return None

    def _keep(self, key: str, target: str, response: ProviderResponse) -> bool:
        """Whether anything waits to be written now."""
        if self._store is None:
            return False
        payload = pack(response)
        if payload is None:
            self.not_kept += 1
        else:
            self._pending[key] = Row(key, self._clock(), target, response.model, payload)
        if len(self._pending) >= _FLUSH_AT:
            self._flush()
        return bool(self._pending)

    def _flush(self) -> None:
        rows, self._pending = self._pending, {}
        if self._store is None or not rows:
            return
        try:
            self._store.put(rows.values())
        except sqlite3.Error as error:
            self._fail("written", error)

    def _managed(self, what: str, work: Callable[[CacheStore], _Result]) -> _Result | None:
        self._flush()
        if self._store is None:
            return None
        try:
            return work(self._store)
        except sqlite3.Error as error:
            raise UsageError(f"the cache {self.path} cannot be {what}: {error}", "try again later") from error

    def _drop(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            store.close()

    def _fail(self, what: str, error: Exception) -> None:
        reason = getattr(error, "strerror", None) or str(error)
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY and self._store is not None:
            self._warn(f"the cache {self.path} is in use for too long: some answers are not kept")
            return
        self._warn(f"the cache {self.path} cannot be {what}: {reason}; going on without it")
        self._pending.clear()
        self._drop()

    def _warn(self, message: str) -> None:
        if message not in self.warnings:
            self.warnings.append(message)
            if self._on_warning is not None:
                self._on_warning(message)


class CachingProvider:
    """A provider that asks another one only for what the cache does not hold.

    An answer from the cache has `attempts` 0, since nothing was sent; its times are those of the request that was.
    Equal requests at the same time are asked once. Failures are not kept. `request.attempt` is the trial: trials are
    answers of their own. `target` is the one that is asked. Without `read` everything is asked again. `secrets` are
    texts that must not be kept, wherever an answer repeats them.
    """

    def __init__(
        self,
        inner: Provider,
        cache: AnswerCache,
        target: TargetBase,
        *,
        read: bool = True,
        write: bool = True,
        secrets: Collection[str] = (),
    ) -> None:
        self.inner = inner
        self._secrets = tuple(sorted(secrets, key=len, reverse=True))  # one may hold another
        self._cache = cache
        self._target = target
        self._read = read
        self._write = write

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        """The answer that is kept, or a new one. Raises what the provider inside raises, and nothing else."""
        found = self._named(request) if self._read or self._write else None
        if found is None:
            return await self.inner.ask(request)
        key, preview = found
        response = await self._shared(key, request)
        return response if response.attempts else replace(response, sent=preview.messages, rewrites=preview.rewrites)

    def preview(self, request: ProviderRequest) -> Preview:
        """What would be sent if it had to be."""
        return self.inner.preview(request)

    async def close(self) -> None:
        """Close the provider inside; the cache is closed by whoever opened it."""
        await self.inner.close()

    def _named(self, request: ProviderRequest) -> tuple[str, Preview] | None:
        try:
            preview = self.inner.preview(request)
            return cache_key(preview, self._target, request.attempt, request=request), preview
        except (TurnwiseError, ValueError, TypeError, RecursionError):
            return None  # it cannot be sent either: the provider says why

    async def _shared(self, key: str, request: ProviderRequest) -> ProviderResponse:
        flights, name = self._cache.flights, (key, self._read, self._write)
        flight = flights.get(name)
        if flight is None:
            flight = flights[name] = _Flight(asyncio.create_task(self._fetch(key, request)))
            flight.task.add_done_callback(lambda _: flight.forget(flights, name))
            return await flight.landed(flights, name)
        response = await flight.landed(flights, name)
        self._cache.hits += 1
        return replace(response, messages=deepcopy(response.messages), attempts=0)

    async def _fetch(self, key: str, request: ProviderRequest) -> ProviderResponse:
        kept = await self._cache.get(key) if self._read else None
        if kept is not None:
            return kept
        response = await self.inner.ask(request)
        if self._write:
            await self._cache.put(key, self._target.name, self._keepable(response))
        return response

    def _keepable(self, response: ProviderResponse) -> ProviderResponse:
        if not self._secrets:
            return response
        texts = {name: redacted(getattr(response, name), self._secrets) for name in ("text", "reasoning", "refusal")}
        return replace(response, **texts, messages=redacted(list(response.messages), self._secrets))
