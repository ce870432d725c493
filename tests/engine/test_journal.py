"""The journal: what was added is there, whatever happens to the process."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.engine.journal import JournalWriter, read_journal
from turnwise.errors import RunError

# Adds results, and says after each that it is written.
WRITER = """
import sys
from pathlib import Path
from turnwise.engine.journal import JournalWriter
with JournalWriter(Path(sys.argv[1])) as journal:
    for number in range(int(sys.argv[2]), 10**9):
        journal.add({"n": number, "text": "x" * (number % 3000)})
        print(number, flush=True)
"""
# The same in a file that may not grow beyond 10,000 bytes: as on a full disk, a write takes only a part.
FULL = """
import resource, signal, sys
from pathlib import Path
from turnwise.engine.journal import JournalWriter
from turnwise.errors import RunError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
with JournalWriter(Path(sys.argv[1])) as journal:
    for number in range(100):
        try:
            journal.add({"n": number, "text": "x" * 700})
        except RunError as error:
            print(number, error, error.hint, sep="|")
            break
"""


def added(path: Path, *records: dict[str, Any], **options: Any) -> list[str]:
    """Add records to a journal; what was told."""
    notices: list[str] = []
    with JournalWriter(path, notice=notices.append, **options) as journal:
        for record in records:
            journal.add(record)
    return notices


@given(st.lists(st.dictionaries(st.text(), st.none() | st.integers() | st.text()), max_size=5))
def test_what_is_added_comes_back(tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]) -> None:
    """Any JSON, in its order, line breaks and odd characters included."""
    path = tmp_path_factory.mktemp("journal") / "results.jsonl"
    added(path, *records)
    assert list(read_journal(path)) == records


def test_half_of_a_surrogate_pair_comes_back(tmp_path: Path) -> None:
    """It has no UTF-8 form; as an escape of JSON it survives."""
    added(tmp_path / "r.jsonl", {"t": "a\ud83d"}, durable=True)
    assert list(read_journal(tmp_path / "r.jsonl")) == [{"t": "a\ud83d"}]


@pytest.mark.parametrize("torn", [b"{", b'{"n": 1}', b"x" * 200_000])
def test_a_torn_last_line_is_removed_with_a_notice(tmp_path: Path, torn: bytes) -> None:
    """Reading passes over it; writing removes it, so that the next line does not grow onto it."""
    path = tmp_path / "r.jsonl"
    added(path, {"n": 0})
    with open(path, "ab") as file:
        file.write(torn)
    notices: list[str] = []
    assert list(read_journal(path, notices.append)) == [{"n": 0}]
    assert "r.jsonl:2" in notices[0]
    (notice,) = added(path, {"n": 2})
    assert f"{len(torn):,} bytes" in notice
    assert list(read_journal(path)) == [{"n": 0}, {"n": 2}]


@pytest.mark.parametrize(
    ("line", "said"),
    [(b"{\n", "not JSON"), (b"[]\n", "a JSON object"), (b"\xff\n", "not UTF-8"), (b"[" * 9999 + b"\n", "")],
)
def test_a_bad_line_in_the_middle_is_named(tmp_path: Path, line: bytes, said: str) -> None:
    """It is no torn line, but a file that somebody has changed: the error has its number."""
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"n": 0}\n\n' + line + b'{"n": 1}\n')
    read = read_journal(path)
    assert next(read) == {"n": 0}
    with pytest.raises(RunError, match=rf"r\.jsonl:3: .*{said}"):
        next(read)


def test_a_number_that_json_cannot_hold_is_not_written(tmp_path: Path) -> None:
    """A score of NaN would be a line that others cannot read."""
    with JournalWriter(tmp_path / "r.jsonl") as journal, pytest.raises(ValueError, match="JSON"):
        journal.add({"score": float("nan")})
    assert (tmp_path / "r.jsonl").read_bytes() == b""


@pytest.mark.parametrize("secret", ["sk-1234567890abcdef1234567890", 'a"b\\cé', "pass\nword"])
def test_no_secret_reaches_the_disk(tmp_path: Path, secret: str) -> None:
    """Not in the depth of an answer either, however JSON writes it; the caller gets what was written."""
    record = {"case_id": "a", "answer": f"it is {secret}!", "output_messages": [{"content": [f"{secret}{secret}"]}]}
    with JournalWriter(tmp_path / "r.jsonl", secrets={secret, "other"}) as journal:
        written = journal.add(record)
    assert list(read_journal(tmp_path / "r.jsonl")) == [written]
    assert (written["answer"], written["output_messages"]) == (
        "it is [redacted]!",
        [{"content": ["[redacted][redacted]"]}],
    )
    assert record["answer"] == f"it is {secret}!"


def test_a_long_secret_is_removed_from_keys_too(tmp_path: Path) -> None:
    """An endpoint may answer with any JSON."""
    secret = "sk-1234567890abcdef1234567890"
    with JournalWriter(tmp_path / "r.jsonl", secrets={secret}) as journal:
        journal.add({"output_messages": [{"args": {secret: 1}}]})
    assert secret not in (tmp_path / "r.jsonl").read_text()


@pytest.mark.parametrize("word", ["token", "user", "null", "status", "gpt-local", "passed", "2026"])
def test_a_key_that_is_an_ordinary_word_does_not_garble_results(tmp_path: Path, word: str) -> None:
    """Servers of one's own take any key: what tells results apart stays, and so does the format."""
    ours = {"case_id": f"{word}-1", "target": word, "status": "passed", "started_at": "2026-11-16"}
    record = {**ours, "variant": None, "first_token_ms": None, "usage": {"input_tokens": 3}, "answer": f"my {word}"}
    with JournalWriter(tmp_path / "r.jsonl", secrets={word}) as journal:
        journal.add({**record, "messages": [{"role": "user", "content": "hi"}]})
    (line,) = read_journal(tmp_path / "r.jsonl")
    redone = {**record, "answer": "my [redacted]", "messages": [{"role": "user", "content": "hi"}]}
    assert line == {**redone, "masked": True}  # what was said is not all there


def test_no_result_that_was_reported_is_lost_by_kill_9(tmp_path: Path) -> None:
    """Killed at any moment, ten times: every reported result is there, once, and the next writer goes on."""
    path, moments, reported = tmp_path / "r.jsonl", random.Random(7), 0
    for _ in range(10):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(reported)], stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout is not None
            for _ in range(moments.randint(1, 200)):
                reported = int(writer.stdout.readline()) + 1
            writer.send_signal(signal.SIGKILL)
            rest = writer.stdout.read().split()
            # Of the last one only a part may have been said.
            whole = [int(each) for each in rest[:-1]] if rest else []
            reported = max([reported, *(each + 1 for each in whole)])
        written = [record["n"] for record in read_journal(path)]
        assert set(range(reported)) <= set(written)
        reported = max(written) + 1
    assert written == sorted(set(written)) == list(range(reported))


def test_a_full_disk_leaves_no_half_line(tmp_path: Path) -> None:
    """What does not fit is an error that says how to go on; all before it is whole."""
    path = tmp_path / "r.jsonl"
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True)
    number, message, hint = done.stdout.strip().split("|")
    assert "cannot be written" in message
    assert "--resume" in hint
    notices: list[str] = []
    assert [record["n"] for record in read_journal(path, notices.append)] == list(range(int(number)))
    assert notices == []
    assert int(number) > 5


def test_a_journal_that_was_deleted_is_not_written_into_the_void(tmp_path: Path) -> None:
    """The folder is gone in the middle of a run: the next result is an error, not lost without a word."""
    (tmp_path / "run").mkdir()
    with JournalWriter(tmp_path / "run" / "r.jsonl") as journal:
        journal.add({"n": 0})
        shutil.rmtree(tmp_path / "run")
        with pytest.raises(RunError, match="deleted"):
            journal.add({"n": 1})


def test_a_journal_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """For a reader, and for a writer whose folder is missing."""
    with pytest.raises(RunError, match="cannot be read"):
        next(read_journal(tmp_path / "r.jsonl"))
    with pytest.raises(RunError, match="cannot be written"):
        JournalWriter(tmp_path / "missing" / "r.jsonl")
