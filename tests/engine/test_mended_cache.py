"""The cache of answers keeps no key, and a request that several results share is counted as one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from fault_server import Received, answer, serving
from run_fixtures import journal, openai, project, run, suite
from turnwise.engine.cache_store import unpack

_OLD, _NEW = "sk-old-key-of-ours-1", "sk-new-key-of-ours-2"


def repeats_the_key(request: Received) -> bytes:
    """A server that tells its client what it was sent."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    message = {"role": "assistant", "content": f"hello, you sent {headers['authorization']}"}
    return answer({"choices": [{"message": message, "finish_reason": "stop"}]})


def kept(root: Path) -> list[str]:
    """The answers of the cache."""
    with closing(sqlite3.connect(root / ".turnwise/cache.sqlite3")) as connection:
        rows = connection.execute("SELECT payload FROM answers").fetchall()
    return [repr(unpack(payload)) for (payload,) in rows]


def test_a_key_that_an_answer_repeats_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later run with another key finds the answer, but never the old key in it."""
    with serving(repeats_the_key) as server:
        root = project(tmp_path, openai(server.url, api_key="${{ CACHE_TEST_KEY }}"), s=suite(1))
        monkeypatch.setenv("CACHE_TEST_KEY", _OLD)
        first = run(root / "s.yaml", "gpt", cache=True)
        monkeypatch.setenv("CACHE_TEST_KEY", _NEW)
        second = run(root / "s.yaml", "gpt", cache=True)
        assert len(server.received) == 1
    (payload,) = kept(root)
    assert "hello, you sent" in payload
    for text in (payload, str(journal(first)), str(journal(second))):
        assert _OLD not in text
        assert _NEW not in text
    assert [each["attempts"] for each in journal(second)] == [0]


@pytest.mark.parametrize("cases", [1, 4])
def test_results_that_share_a_request_do_not_add_up_its_attempts(tmp_path: Path, cases: int) -> None:
    """Sent three times in vain for all of them: each says three, however many there are."""
    with serving(lambda _: answer({}, 500)) as server:
        target = openai(server.url, api_key="k", max_retries=2, retry_initial_delay=0, retry_max_delay=0)
        root = project(tmp_path, target, s=suite(cases))
        records = journal(run(root / "s.yaml", "gpt", cache=True, workers=cases))
        assert len(server.received) == 3
    assert [each["attempts"] for each in records] == [3] * cases
