"""Answers in one SQLite file, shared by any number of processes. Every call here blocks: see `cache` for asyncio."""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..conversation.files import shown_file
from ..errors import UsageError
from ..providers.base import ProviderResponse, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "BUSY_TIMEOUT",
    "DEFAULT_PATH",
    "LARGEST_PAYLOAD",
    "SCHEMA_VERSION",
    "CacheStats",
    "CacheStore",
    "Row",
    "TargetStats",
    "pack",
    "unpack",
]

BUSY_TIMEOUT = 5.0
"""Seconds to wait for other processes that write."""
DEFAULT_PATH = Path(".turnwise", "cache.sqlite3")
"""Where the cache is, from the project's root."""
SCHEMA_VERSION = 1
LARGEST_PAYLOAD = 8 * 1024 * 1024
"""Bytes of an answer as JSON, before compression; a larger one is not kept."""

_PAUSE = 0.02
_KEPT = (
    "text", "messages", "finish_reason", "raw_finish_reason", "reasoning", "refusal", "model", "response_id",
    "latency_ms", "first_token_ms",
)  # fmt: skip
_CREATE = """CREATE TABLE answers (
    key TEXT PRIMARY KEY, created_at REAL NOT NULL, target TEXT NOT NULL, model TEXT, size INTEGER NOT NULL,
    payload BLOB NOT NULL
) WITHOUT ROWID"""
_INSERT = "INSERT OR REPLACE INTO answers (key, created_at, target, model, size, payload) VALUES (?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Row:
    """One answer to keep; `created_at` counts seconds since 1970."""

    key: str
    created_at: float
    target: str
    model: str | None
    payload: bytes


@dataclass(frozen=True, slots=True)
class TargetStats:
    """What the cache holds of one target."""

    entries: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What the cache holds; `hits` and `misses` are those of this process."""

    entries: int = 0
    total_bytes: int = 0
    oldest: datetime | None = None
    newest: datetime | None = None
    targets: Mapping[str, TargetStats] = field(default_factory=dict)
    hits: int = 0
    misses: int = 0


def pack(response: ProviderResponse) -> bytes | None:
    """An answer as compressed JSON; None if it is too large, or holds what JSON cannot say."""
    kept = {name: getattr(response, name) for name in _KEPT} | {"messages": list(response.messages)}
    try:
        text = json.dumps({**kept, "usage": asdict(response.usage)}, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError):
        return None
    return zlib.compress(text) if len(text) <= LARGEST_PAYLOAD else None


def unpack(payload: bytes) -> ProviderResponse:
    """The answer in a payload, with `attempts` 0. Raises `ValueError` for what is none.

    >>> unpack(pack(ProviderResponse(text="Paris."))).text
    'Paris.'
    """
    try:
        record: Any = json.loads(_decompressed(payload))
        counted = {each.name: record["usage"][each.name] for each in fields(Usage) if each.name in record["usage"]}
        kept = {name: record[name] for name in _KEPT}
    except (zlib.error, ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"not an answer: {error}") from error
    return ProviderResponse(**kept, usage=Usage(**counted), attempts=0)


class CacheStore:
    """The file, created with its folder if it is not there. Belongs to the thread that makes it; close it.

    Raises `UsageError` for a file that is no cache or one of a newer version, which are left as they are, and
    `OSError` or `sqlite3.Error` where no file can be.
    """

    def __init__(self, path: Path, *, busy_timeout: float = BUSY_TIMEOUT) -> None:
        self.path = path
        if path.is_dir():
            raise UsageError(
                f"the cache {path} is a folder, not a file", f"remove or rename the folder {shown_file(path)}"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        # isolation_level None: transactions begin where this file says so, and nowhere else.
        self._connection = sqlite3.connect(path, timeout=busy_timeout, isolation_level=None)
        try:
            self._prepare(busy_timeout)
        except BaseException:
            self._connection.close()
            raise

    def get(self, key: str) -> bytes | None:
        """The payload of that key."""
        found = self._connection.execute("SELECT payload FROM answers WHERE key = ?", (key,)).fetchone()
        return None if found is None else bytes(found[0])

    def put(self, rows: Iterable[Row]) -> None:
        """Keep the answers: all of them or, if that fails, none. They outlive the death of the process from here on."""
        values = [(row.key, row.created_at, row.target, row.model, len(row.payload), row.payload) for row in rows]
        with self._transaction():
            self._connection.executemany(_INSERT, values)

    def stats(self) -> CacheStats:
        """What the file holds."""
        groups = self._connection.execute(
            "SELECT target, COUNT(*), SUM(size), MIN(created_at), MAX(created_at) FROM answers GROUP BY target"
        ).fetchall()
        return CacheStats(
            entries=sum(group[1] for group in groups),
            total_bytes=sum(group[2] for group in groups),
            oldest=_moment(min((group[3] for group in groups), default=None)),
            newest=_moment(max((group[4] for group in groups), default=None)),
            targets={name: TargetStats(entries, size) for name, entries, size, *_ in groups},
        )

    def clear(self, target: str | None = None, older_than: timedelta | None = None, *, now: float | None = None) -> int:
        """Remove all answers, or those of one target, or those of some age, and free their room; says how many."""
        until = None if older_than is None else (time.time() if now is None else now) - older_than.total_seconds()
        with self._transaction():
            removed = self._connection.execute(
                "DELETE FROM answers WHERE (?1 IS NULL OR target = ?1) AND (?2 IS NULL OR created_at < ?2)",
                (target, until),
            ).rowcount
        if removed:
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return removed

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @property
    def _remove(self) -> str:
        """What to do about a file that is of no use: no option names another one."""
        return f"remove the file {shown_file(self.path)}; what it held is asked again"

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """A transaction that may write from its start: one that begins by reading cannot wait for its turn."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            # A full disk may have ended it already.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _prepare(self, busy_timeout: float) -> None:
        try:
            if self._version() == 0:
                self._create()
            self._check_table()
            self._share(busy_timeout)
            self._connection.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
                raise UsageError(
                    f"the cache {self.path} is damaged, or no SQLite file: {error}", self._remove
                ) from error
            raise

    def _version(self) -> int:
        version = int(self._connection.execute("PRAGMA user_version").fetchone()[0])
        if version not in (0, SCHEMA_VERSION):
            known = f"this version of Turnwise knows {SCHEMA_VERSION}"
            hint = f"use the newer Turnwise that made it, or {self._remove}"
            raise UsageError(f"the cache {self.path} has format {version}, and {known}", hint)
        return version

    def _create(self) -> None:
        with self._transaction():
            if self._version() != 0:
                return  # another process was faster
            if self._connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
                hint = f"move {shown_file(self.path)} away: answers are kept there"
                raise UsageError(f"{self.path} is a database of something else, not a cache", hint)
            self._connection.execute(_CREATE)
            self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _check_table(self) -> None:
        columns = [column[1] for column in self._connection.execute("PRAGMA table_info(answers)")]
        if columns != ["key", "created_at", "target", "model", "size", "payload"]:
            raise UsageError(f"the cache {self.path} lacks its table of answers: it is damaged", self._remove)

    def _share(self, busy_timeout: float) -> None:
        """Let readers go on while somebody writes. SQLite does not always wait for others here: we do."""
        ends = time.monotonic() + busy_timeout
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= ends:
                    raise
            time.sleep(_PAUSE)


def _decompressed(payload: bytes) -> bytes:
    inflater = zlib.decompressobj()
    text = inflater.decompress(payload, LARGEST_PAYLOAD + 1)
    if len(text) > LARGEST_PAYLOAD or not inflater.eof:
        raise ValueError("it is cut short, or too large")
    return text


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
