"""The cache behind the provider: late writes, a thread of its own, and going on where the file cannot be used."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from time import perf_counter

import pytest

from turnwise.engine.cache import AnswerCache
from turnwise.engine.cache_store import CacheStore, Row
from turnwise.errors import UsageError
from turnwise.providers import ProviderResponse

ANSWER = ProviderResponse(text="Paris.", messages=[{"role": "assistant", "content": "Paris."}], model="m")
# Asks for answers that do not compress while no file may grow beyond 64 KiB, as on a full disk.
FULL_DISK = """
import asyncio, random, resource, sys
from pathlib import Path
from turnwise.engine.cache import AnswerCache, CachingProvider
from turnwise.providers import MockProvider, ProviderRequest
from turnwise.targets.stand_ins import MockTarget
target = MockTarget(name="mock", provider="mock", echo=True)
async def main():
    async with AnswerCache(Path(sys.argv[1])) as cache:
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
        provider = CachingProvider(MockProvider(target), cache, target)
        for number in range(120):
            question = random.Random(number).randbytes(2000).hex()
            assert (await provider.ask(ProviderRequest(question=question))).text == question
    print(len(cache.warnings), *cache.warnings)
asyncio.run(main())
"""
# Uses the cache as somebody who may not write there.
READ_ONLY = """
import asyncio, os, sys
from pathlib import Path
from turnwise.engine.cache import AnswerCache
from turnwise.providers import ProviderResponse
async def main():
    if os.getuid() == 0:
        os.setuid(65534)
    async with AnswerCache(Path(sys.argv[1])) as cache:
        for _ in range(3):
            await cache.put("k", "t", ProviderResponse(text="x"))
            assert await cache.get("k") is None
    print(len(cache.warnings), *cache.warnings)
asyncio.run(main())
"""


def entries_on_disk(path: Path) -> int:
    with closing(sqlite3.connect(path)) as raw:
        return int(raw.execute("SELECT COUNT(*) FROM answers").fetchone()[0])


def run_python(script: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_an_answer_is_on_disk_soon(tmp_path: Path) -> None:
    """An answer is found at once, and gets to the disk in a moment without anybody closing anything."""
    path = tmp_path / "c.sqlite3"

    async def run() -> None:
        async with AnswerCache(path) as cache:
            await cache.put("k", "t", ANSWER)
            found = await cache.get("k")
            assert found is not None
            assert (found.text, found.attempts) == ("Paris.", 0)
            async with asyncio.timeout(2):  # 0.1 s, but for a busy machine
                while entries_on_disk(path) == 0:
                    await asyncio.sleep(0.02)
            assert entries_on_disk(path) == 1

    asyncio.run(run())


def test_a_hundred_answers_are_written_at_once(tmp_path: Path) -> None:
    """A hundred answers do not wait for the clock; the rest is written when the cache closes."""
    path = tmp_path / "c.sqlite3"

    async def run() -> None:
        async with AnswerCache(path) as cache:
            cache._flush_now = lambda: None  # type: ignore[method-assign]  # the clock never strikes
            for number in range(130):
                await cache.put(str(number), "t", ANSWER)
            assert entries_on_disk(path) == 100

    asyncio.run(run())
    assert entries_on_disk(path) == 130


def test_a_waiting_write_does_not_hold_up_the_loop(tmp_path: Path) -> None:
    """While another process holds the file, the event loop goes on, and nothing is lost."""
    path = tmp_path / "c.sqlite3"

    async def run() -> list[str]:
        async with AnswerCache(path) as cache:
            with closing(sqlite3.connect(path, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                await cache.put("k", "t", ANSWER)
                cache._flush_now()
                ticks = 0
                ends = perf_counter() + 0.1
                while perf_counter() < ends:
                    await asyncio.sleep(0.001)
                    ticks += 1
                other.execute("ROLLBACK")
            assert ticks > 10
        return cache.warnings

    assert asyncio.run(run()) == []
    assert entries_on_disk(path) == 1


def test_a_file_that_is_held_too_long_costs_answers_not_the_run(tmp_path: Path) -> None:
    """If the file stays locked, what waits is not kept, which is told once; the cache is used again afterwards."""
    path = tmp_path / "c.sqlite3"
    told: list[str] = []

    async def run() -> list[str]:
        async with AnswerCache(path, busy_timeout=0.01, on_warning=told.append) as cache:
            with closing(sqlite3.connect(path, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                for number in range(200):
                    await cache.put(str(number), "t", ANSWER)
                other.execute("ROLLBACK")
            await cache.put("later", "t", ANSWER)
        return cache.warnings

    warnings = asyncio.run(run())
    assert warnings == told
    assert len(warnings) == 1
    assert "in use for too long" in warnings[0]
    assert entries_on_disk(path) == 1


def test_a_full_disk_does_not_end_the_run(tmp_path: Path) -> None:
    """When the file cannot grow, all questions are still answered, and one warning names the file."""
    path = tmp_path / "c.sqlite3"
    said = run_python(FULL_DISK, str(path))
    assert said.startswith(f"1 the cache {path} cannot be written: ")
    assert said.endswith("going on without it")
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_read_only_folder_does_not_end_the_run() -> None:
    """Where nobody may write, there is no cache, which is told once."""
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o555)
        said = run_python(READ_ONLY, str(folder / ".turnwise" / "cache.sqlite3"))
    finally:
        shutil.rmtree(folder)
    assert (
        said == f"1 the cache {folder}/.turnwise/cache.sqlite3 cannot be opened: Permission denied; going on without it"
    )


def test_a_path_through_a_file_does_not_end_the_run(tmp_path: Path) -> None:
    """Where there can be no folder, there is no cache, which is told once; it holds nothing and clears nothing."""
    (tmp_path / "file").write_text("")

    async def run() -> AnswerCache:
        async with AnswerCache(tmp_path / "file" / "c.sqlite3") as cache:
            await cache.put("k", "t", ANSWER)
            assert await cache.get("k") is None
            assert (await cache.stats()).entries == await cache.clear() == 0
        return cache

    warnings = asyncio.run(run()).warnings
    assert len(warnings) == 1
    assert "cannot be opened" in warnings[0]


def test_a_damaged_file_is_an_error_before_the_run(tmp_path: Path) -> None:
    """A file that is no cache ends the opening with `UsageError`, and leaves no thread behind."""
    path = tmp_path / "c.sqlite3"
    path.write_text("This is a letter, and it is longer than a header.")

    async def run() -> None:
        async with AnswerCache(path):
            pytest.fail("it must not open")

    with pytest.raises(UsageError, match="damaged"):
        asyncio.run(run())
    assert not [each for each in threading.enumerate() if each.name.startswith("turnwise-cache")]


def test_an_unreadable_answer_is_asked_for_again(tmp_path: Path) -> None:
    """A damaged entry is no answer, which is told once, and is replaced by the next one."""
    path = tmp_path / "c.sqlite3"
    store = CacheStore(path)
    store.put([Row("k", 0.0, "t", None, b"junk")])
    store.close()

    async def run() -> list[str]:
        async with AnswerCache(path) as cache:
            assert await cache.get("k") is None
            assert await cache.get("k") is None
            await cache.put("k", "t", ANSWER)
            found = await cache.get("k")
            assert found is not None
        return cache.warnings

    warnings = asyncio.run(run())
    assert len(warnings) == 1
    assert "asked for again" in warnings[0]


def test_a_file_that_breaks_in_the_run_is_done_without(tmp_path: Path) -> None:
    """If the table is lost while the cache is open, lookups find nothing, which is told once."""
    path = tmp_path / "c.sqlite3"

    async def run() -> list[str]:
        async with AnswerCache(path) as cache:
            with closing(sqlite3.connect(path)) as other:
                other.execute("DROP TABLE answers")
            assert [await cache.get("k"), await cache.get("k")] == [None, None]
            await cache.put("k", "t", ANSWER)
        return cache.warnings

    warnings = asyncio.run(run())
    assert len(warnings) == 1
    assert "cannot be read: no such table" in warnings[0]


def test_stats_and_clear_see_what_waits(tmp_path: Path) -> None:
    """What is not on disk yet is counted and cleared like the rest; ages go by the cache's clock."""
    now = [1000.0]

    async def run() -> None:
        async with AnswerCache(tmp_path / "c.sqlite3", clock=lambda: now[0]) as cache:
            await cache.put("old", "a", ANSWER)
            now[0] = 1100.0
            await cache.put("new", "b", ANSWER)
            assert await cache.get("old") is not None
            assert await cache.get("none") is None
            stats = await cache.stats()
            assert (stats.entries, stats.hits, stats.misses) == (2, 1, 1)
            assert stats.oldest is not None
            assert (stats.oldest.timestamp(), sorted(stats.targets)) == (1000.0, ["a", "b"])
            assert await cache.clear(older_than=timedelta(seconds=50)) == 1
            assert await cache.clear(target="a") == 0
            assert await cache.clear() == 1

    asyncio.run(run())


def test_an_answer_that_is_too_large_is_not_kept(tmp_path: Path) -> None:
    """An answer above the limit is counted, not kept."""

    async def run() -> AnswerCache:
        async with AnswerCache(tmp_path / "c.sqlite3") as cache:
            await cache.put("k", "t", ProviderResponse(text="x" * 9 * 1024 * 1024))
            assert await cache.get("k") is None
        return cache

    cache = asyncio.run(run())
    assert (cache.not_kept, cache.warnings) == (1, [])


def test_a_closed_cache_holds_nothing(tmp_path: Path) -> None:
    """A cache can be closed twice; afterwards nothing is found, nothing kept, and its thread is gone."""

    async def run() -> None:
        async with AnswerCache(tmp_path / "c.sqlite3") as cache:
            await cache.put("k", "t", ANSWER)
            await cache.close()
            await cache.put("other", "t", ANSWER)
            assert await cache.get("k") is None

    asyncio.run(run())
    assert entries_on_disk(tmp_path / "c.sqlite3") == 1
    assert not [each for each in threading.enumerate() if each.name.startswith("turnwise-cache")]


def test_a_thousand_lookups_take_less_than_half_a_second(tmp_path: Path) -> None:
    """Looking up a thousand answers, one after the other, takes less than 0.5 s; the best of three rounds counts."""

    async def run() -> float:
        async with AnswerCache(tmp_path / "c.sqlite3") as cache:
            for number in range(1000):
                await cache.put(str(number), "t", ANSWER)
            await cache.stats()
            rounds = []
            for _ in range(3):
                started = perf_counter()
                for number in range(1000):
                    await cache.get(str(number))
                rounds.append(perf_counter() - started)
            assert cache.hits == 3000
            return min(rounds)

    assert asyncio.run(run()) < 0.5


def test_the_cache_needs_no_http_library() -> None:
    """Importing the cache imports neither aiohttp nor pydantic."""
    script = "import sys, turnwise.engine.cache; print({'aiohttp', 'pydantic'} & set(sys.modules))"
    assert run_python(script) == "set()"
