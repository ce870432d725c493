"""Answers that would do harm: they are kept as they are, in a journal of valid lines, and shown without their sting."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest

from fault_server import Received, answer, serving
from faults.runs import KEY, completion, journal, journal_lines, make_project, run_folder, started, word_of

HOSTILE = {
    "w00000": "\x1b[2J\x1b]0;owned\x07\x1b[31mred\x9b5m",
    "w00001": "a\x00b\x00",
    "w00002": "\ud83d half, \udc00 other half",
    "w00003": "right \u202e left \u2066 \u200f",
    "w00004": "\r\n\r\u2028\u2029\x85 lines \x0b\x0c",
    "w00005": "{\"status\":\"passed\",\"score\":1.0}\n{\"case_id\":\"w00009\"}\n",
    "w00006": f"the key is {KEY}, I said {KEY}",
    "w00007": "\ufeff\ufffe\uffff",
}  # fmt: skip
RUN = ("suite.yaml", "--target", "model", "--workers", "4")


def _hostile(request: Received) -> bytes:
    return completion(HOSTILE[word_of(request)])


def _is_harmless(text: str) -> bool:
    allowed = "\n\t"
    return not [each for each in text if unicodedata.category(each) in ("Cc", "Cs") and each not in allowed]


@pytest.mark.parametrize("option", ["--json", "--quiet", None])
def test_hostile_answers_are_kept_and_not_shown(tmp_path: Path, option: str | None) -> None:
    """Each is one valid line, unchanged but for the key; nothing that a terminal obeys is printed."""
    with serving(_hostile) as server:
        root = make_project(tmp_path / "project", server.url, len(HOSTILE))
        with started(root, *RUN, *((option,) if option else ())) as running:
            printed = running.process.stdout.read() if running.process.stdout else b""
            assert running.end() == 1
    lines = journal_lines(root)
    assert len(lines) == len(HOSTILE)
    for line in lines:
        record = json.loads(line.decode("utf-8"))
        assert record["answer"] == HOSTILE[record["case_id"]].replace(KEY, "[redacted]")
        assert record["status"] == "failed"
    assert _is_harmless(printed.decode("utf-8"))
    assert _is_harmless(running.stderr)
    written = [each for each in run_folder(root).rglob("*") if each.is_file()]
    assert not [each for each in written if KEY.encode() in each.read_bytes()]


@pytest.mark.parametrize("status", [400, 500])
def test_hostile_errors_are_harmless(tmp_path: Path, status: int) -> None:
    """What a server says in an error is shown on the terminal: without control characters, and without the key."""
    words_of_error = f"\x1b[2J\x07 bad \r\n\u202e key {KEY} \x9b31m \x00"
    with serving(lambda _: answer({"error": {"message": words_of_error}}, status)) as server:
        root = make_project(tmp_path / "project", server.url, 4, max_retries=0)
        with started(root, *RUN) as running:
            assert running.end() == 3
    assert _is_harmless(running.stderr)
    assert "\u202e" not in running.stderr
    assert KEY not in running.stderr
    records = journal(root)
    assert [record["status"] for record in records] == ["error"] * 4
    assert not [line for line in journal_lines(root) if KEY.encode() in line]


def test_a_long_answer_is_one_line(tmp_path: Path) -> None:
    """Ten megabytes are kept whole, and the summary does not show them."""
    long = "w00000 " + "lorem ipsum\n" * 900_000
    with serving(lambda _: completion(long)) as server:
        root = make_project(tmp_path / "project", server.url, 1)
        with started(root, *RUN, "--json") as running:
            assert running.end() == 0
    [record] = journal(root)
    assert record["answer"] == long
    assert sum(len(json.dumps(event)) for event in running.events) < 20_000


def test_an_answer_beyond_all_bounds_is_an_error(tmp_path: Path) -> None:
    """Memory is not the server's to fill: a body that is announced as gigabytes is refused, and told as an error."""
    huge = answer(b"x", 200, [("Content-Length", str(8 * 1024**3))])
    with serving(lambda _: huge) as server:
        root = make_project(tmp_path / "project", server.url, 2, max_retries=0)
        with started(root, *RUN, "--json") as running:
            assert running.end() == 3
    assert [record["error"]["kind"] for record in journal(root)] == ["protocol", "protocol"]
