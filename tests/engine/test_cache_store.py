"""The cache's file: what is kept comes back, other files are left alone, processes share it, and none can break it."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from turnwise.engine.cache_store import LARGEST_PAYLOAD, CacheStats, CacheStore, Row, TargetStats, pack, unpack
from turnwise.errors import UsageError
from turnwise.providers import ProviderResponse, Usage

FULL = ProviderResponse(
    text="Paris. \ud800",
    messages=[{"role": "assistant", "content": "Paris. \ud800"}],
    finish_reason="length",
    raw_finish_reason="max_tokens",
    usage=Usage(input_tokens=3, output_tokens=2, reasoning_tokens=1),
    reasoning="I know that.",
    refusal="no",
    model="m-1",
    response_id="r-1",
    latency_ms=12.5,
    first_token_ms=3.25,
    attempts=2,
    raw={"secret": "of the API"},
)
# Puts numbered answers for ever, and says each number once its answer is committed.
WRITER = """
import sys
from pathlib import Path
from turnwise.engine.cache_store import CacheStore, Row
store = CacheStore(Path(sys.argv[1]))
for number in range(100_000):
    store.put([Row(f"{number}", 0.0, "t", None, bytes(3000)), Row(f"{number}b", 0.0, "t", None, bytes(3000))])
    print(number, flush=True)
"""
# Writes own and shared keys, one transaction each, and reads everything back.
HAMMER = """
import sys
from pathlib import Path
from turnwise.engine.cache_store import CacheStore, Row
name = sys.argv[2]
store = CacheStore(Path(sys.argv[1]), busy_timeout=30)
for number in range(60):
    own, shared = f"{name}-{number}", f"shared-{number}"
    store.put([Row(own, 0.0, name, None, own.encode()), Row(shared, 0.0, "all", None, shared.encode())])
    assert store.get(own) == own.encode() and store.get(shared) == shared.encode()
store.close()
"""


@contextmanager
def opened(path: Path) -> Iterator[CacheStore]:
    store = CacheStore(path)
    try:
        yield store
    finally:
        store.close()


def row(key: str, target: str = "t", created_at: float = 0.0, payload: bytes = b"12345") -> Row:
    return Row(key, created_at, target, None, payload)


def test_an_answer_comes_back_as_it_was() -> None:
    """Everything but `raw` and what the request says comes back, and `attempts` is 0."""
    packed = pack(FULL)
    assert packed is not None
    back = unpack(packed)
    kept = ("text", "messages", "finish_reason", "raw_finish_reason", "usage", "reasoning", "refusal", "model")
    for name in (*kept, "response_id", "latency_ms", "first_token_ms"):
        assert getattr(back, name) == getattr(FULL, name)
    assert (back.attempts, back.raw) == (0, None)


def test_what_cannot_be_kept_is_not_packed() -> None:
    """An answer that is too large, or is no JSON, is not kept."""
    assert pack(ProviderResponse(text="x" * LARGEST_PAYLOAD)) is None
    assert pack(ProviderResponse(text="x", model=object())) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("damage", [b"", b"junk", pack(FULL)[:-6], pack(ProviderResponse(text="x"))[1:]])  # type: ignore[index]
def test_a_damaged_payload_is_no_answer(damage: bytes) -> None:
    """A payload that is cut short or overwritten raises `ValueError`, nothing else."""
    with pytest.raises(ValueError, match="not an answer"):
        unpack(damage)


def test_what_is_put_is_found_by_another_connection(tmp_path: Path) -> None:
    """The file is made with its folders, and holds what was put when it is opened again; the last one counts."""
    path = tmp_path / "a" / "b" / "cache.sqlite3"
    with opened(path) as store:
        store.put([row("k"), row("other")])
        store.put([row("k", payload=b"new")])
    with opened(path) as store:
        assert (store.get("k"), store.get("none")) == (b"new", None)
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert raw.execute("PRAGMA user_version").fetchone() == (1,)


def test_a_failed_put_keeps_nothing(tmp_path: Path) -> None:
    """Rows are kept together or not at all, and the file can be used afterwards."""
    with opened(tmp_path / "c.sqlite3") as store:
        with pytest.raises(sqlite3.IntegrityError):
            store.put([row("good"), row("bad", target=None)])  # type: ignore[arg-type]
        assert store.get("good") is None
        store.put([row("good")])
        assert store.get("good") == b"12345"


def test_a_newer_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    """A file of a newer version is not touched; the error names it, both versions and what to do."""
    path = tmp_path / "c.sqlite3"
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA user_version = 7")
    before = path.read_bytes()
    with pytest.raises(UsageError, match="has format 7, and this version of Turnwise knows 1") as caught:
        CacheStore(path)
    assert str(path) in str(caught.value)
    assert caught.value.hint is not None
    assert f"remove the file {path}" in caught.value.hint
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"no database at all, but a text of some length", b"SQLite format 3\0" + bytes(4080)]
)
def test_a_damaged_file_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    """A file that is no SQLite file, or only starts like one, is never overwritten."""
    path = tmp_path / "c.sqlite3"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"c\.sqlite3 is damaged") as caught:
        CacheStore(path)
    assert str(caught.value.hint).startswith(f"remove the file {path};")
    assert path.read_bytes() == content


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    """Tables that are not ours are not joined by ours."""
    path = tmp_path / "c.sqlite3"
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE TABLE guests (name TEXT)")
    with pytest.raises(UsageError, match="a database of something else"):
        CacheStore(path)
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA user_version = 1")
    with pytest.raises(UsageError, match="lacks its table"):
        CacheStore(path)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    """A folder in the place of the file is told as what it is."""
    with pytest.raises(UsageError, match="is a folder"):
        CacheStore(tmp_path)


def test_stats_add_up(tmp_path: Path) -> None:
    """Entries and bytes are counted in all and for each target, with the first and last moment."""
    with opened(tmp_path / "c.sqlite3") as store:
        assert store.stats() == CacheStats()
        store.put([row("1", "a", 100.0), row("2", "a", 300.0), row("3", "b", 200.0, b"1234567")])
        stats = store.stats()
    assert (stats.entries, stats.total_bytes) == (3, 17)
    assert stats.oldest == datetime.fromtimestamp(100, UTC)
    assert stats.newest == datetime.fromtimestamp(300, UTC)
    assert stats.targets == {"a": TargetStats(2, 10), "b": TargetStats(1, 7)}


@pytest.mark.parametrize(
    ("target", "older_than", "left"),
    [
        (None, None, []),
        ("a", None, ["3"]),
        (None, timedelta(seconds=750), ["2", "3"]),
        ("b", timedelta(seconds=750), ["1", "2", "3"]),
        ("nobody", None, ["1", "2", "3"]),
    ],
)
def test_clear_removes_what_it_says(
    tmp_path: Path, target: str | None, older_than: timedelta | None, left: list[str]
) -> None:
    """All answers go, or those of a target, or those older than an age, or those that are both."""
    with opened(tmp_path / "c.sqlite3") as store:
        store.put([row("1", "a", 100.0), row("2", "a", 300.0), row("3", "b", 300.0)])
        removed = store.clear(target, older_than, now=1000.0)
        assert [key for key in "123" if store.get(key)] == left
    assert removed == 3 - len(left)


def test_clear_frees_the_room(tmp_path: Path) -> None:
    """A cleared cache is a small file again."""
    path = tmp_path / "c.sqlite3"
    with opened(path) as store:
        store.put([row(str(number), payload=bytes(5000)) for number in range(200)])
        store.clear()
        together = sum(file.stat().st_size for file in tmp_path.iterdir() if not file.name.endswith("-shm"))
    assert together < 100_000


def test_processes_share_the_file(tmp_path: Path) -> None:
    """Processes that make, write and read one file at the same time lose nothing and see no error."""
    path = tmp_path / "c.sqlite3"
    running = [
        subprocess.Popen([sys.executable, "-c", HAMMER, str(path), f"p{number}"], stderr=subprocess.PIPE)
        for number in range(4)
    ]
    for process in running:
        _, complaints = process.communicate(timeout=60)
        assert (process.returncode, complaints) == (0, b"")
    with opened(path) as store:
        stats = store.stats()
    assert {name: each.entries for name, each in stats.targets.items()} == {
        **{f"p{number}": 60 for number in range(4)},
        "all": 60,
    }


@pytest.mark.parametrize("answers", [1, 40])
def test_a_killed_writer_leaves_a_whole_file(tmp_path: Path, answers: int) -> None:
    """After SIGKILL in the middle of writing, all that was committed is there, and no half of anything."""
    path = tmp_path / "c.sqlite3"
    said = ""
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(answers):
            said = process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        said = (process.stdout.read().splitlines() or [said])[-1]
    assert process.returncode == -signal.SIGKILL
    with opened(path) as store:
        committed = range(int(said) + 1)
        assert all(store.get(f"{number}") == store.get(f"{number}b") == bytes(3000) for number in committed)
        assert store.stats().entries % 2 == 0
        store.put([row("after")])
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
