"""Runs with the grader `similar`: a real server of this machine gives the vectors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fault_server import Fault, FaultServer, Received, answer, serving
from run_fixtures import ECHO, case, journal, openai, project, run, suite
from turnwise.errors import SuiteError

KEY = "sk-embed-0123456789abcdef"
SIMILAR = {"type": "similar", "value": "the text", "target": "embedder"}


def vectors(*rows: Any, **fields: Any) -> bytes:
    """An answer of the embeddings API, which has read 12 tokens."""
    data = [{"index": index, "embedding": row} for index, row in enumerate(rows)]
    return answer({"model": "e-1", "data": data, "usage": {"prompt_tokens": 12, "total_tokens": 12}, **fields})


def lines(root: Path, server: FaultServer, *cases: Any, spec: Any = SIMILAR, **target: Any) -> list[dict[str, Any]]:
    """The results of a run whose only grader is `similar`."""
    usual = {"name": "embedder", "api_key": KEY, "max_retries": 0, "prices": {"input": 1.0, "output": 0.0}}
    embedder = openai(server.url, **{**usual, **target})
    project(root, ECHO, embedder, s=suite(list(cases) or [case("a")], graders=[spec]))
    return journal(run(root / "s.yaml"))


def test_the_cosine_is_the_score(tmp_path: Path) -> None:
    """3-4-5: the cosine of (1, 0) and (0.8, 0.6) is 0.8. One request has both texts; tokens and cost count."""
    with serving(lambda _: vectors([1, 0], [0.8, 0.6])) as server:
        (line,) = lines(tmp_path, server)
        (request,) = server.received
    assert (request.path, request.headers.get("authorization", KEY)[-len(KEY) :]) == ("/v1/embeddings", KEY)
    assert json.loads(request.body) == {"model": "m", "input": ["hello", "the text"]}
    assert (line["status"], line["score"]) == ("passed", pytest.approx(0.8))
    assert line["judge_usage"]["input_tokens"] == 12
    assert line["judge_cost_usd"] == pytest.approx(12 / 1_000_000)


@pytest.mark.parametrize(
    ("rows", "score", "passed"),
    [([[1, 0], [0, 1]], 0.0, False), ([[1, 0], [-1, 0]], 0.0, False), ([[2, 0], [5, 0]], 1.0, True)],
)
def test_the_angle_counts_and_not_the_length(tmp_path: Path, rows: Any, score: float, passed: bool) -> None:
    """Right angles and opposites give 0, the same direction gives 1."""
    with serving(lambda _: vectors(*rows)) as server:
        (line,) = lines(tmp_path, server)
    assert (line["score"], line["grades"][0]["passed"]) == (score, passed)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (vectors([1, 0], [1, 0, 0]), "bad-vectors"),
        (vectors([0, 0], [1, 0]), "bad-vectors"),
        (answer(b'{"data": [{"embedding": [NaN]}, {"embedding": [1]}]}'), "api_error"),
        (vectors([1, 0]), "api_error"),
        (vectors([1, "x"], [1, 0]), "api_error"),
        (vectors([], [1, 0]), "api_error"),
        (answer({"data": None}), "api_error"),
        (answer([1]), "api_error"),
        (answer(b"<html>"), "api_error"),
        (answer({"error": {"message": f"bad key {KEY}"}}, 401), "api_error"),
        (answer({"error": {"message": "broken"}}, 500), "api_error"),
        (Fault(then="reset"), "api_error"),
        (Fault(then="hang"), "timeout"),
    ],
)
def test_without_vectors_the_answer_is_ungraded(tmp_path: Path, reply: Fault | bytes, kind: str) -> None:
    """Whatever the server does, there is no made-up score, the answer is kept, and no key is told."""
    with serving(lambda _: reply) as server:
        (line,) = lines(tmp_path, server, timeout=0.3)
    grade = line["grades"][0]
    assert (line["status"], line["answer"]) == ("ungraded", "hello")
    assert (grade["score"], grade["error"]["kind"]) == (None, kind)
    assert KEY not in json.dumps(line)


def test_a_busy_server_is_asked_again(tmp_path: Path) -> None:
    """The retries of the target hold."""
    replies = [answer({"error": {"message": "busy"}}, 503), vectors([1, 0], [1, 0])]
    with serving(lambda _: replies.pop(0)) as server:
        (line,) = lines(tmp_path, server, max_retries=1, retry_initial_delay=0)
    assert (line["score"], line["grades"][0]["evidence"]["attempts"]) == (1.0, 2)


def test_vectors_are_put_in_the_order_of_the_texts(tmp_path: Path) -> None:
    """A server may answer in another order, as `index` says; the lengths of the vectors differ only if they do."""
    rows = [{"index": 1, "embedding": [3, 4]}, {"index": 0, "embedding": [1, 0]}]
    with serving(lambda _: answer({"data": rows})) as server:
        (line,) = lines(tmp_path, server)
    assert line["score"] == pytest.approx(0.6)


def test_a_grader_inside_of_another_is_found(tmp_path: Path) -> None:
    """In a composite, too, the target is known before anything is asked."""
    with serving(lambda _: vectors([1, 0], [1, 0])) as server:
        (line,) = lines(tmp_path, server, spec={"composite": {"graders": [SIMILAR]}})
    assert (line["status"], line["judge_usage"]["input_tokens"]) == ("passed", 12)


def test_a_provider_without_embeddings_is_refused_at_once(tmp_path: Path) -> None:
    """Nothing is asked; the error is at the grader."""

    def never(request: Received) -> bytes:
        raise AssertionError(request.path)

    with serving(never) as server:
        project(
            tmp_path,
            ECHO,
            {"name": "embedder", "provider": "anthropic", "model": "m", "base_url": server.url, "api_key": KEY},
            s=suite(1, graders=[SIMILAR]),
        )
        with pytest.raises(SuiteError) as caught:
            run(tmp_path / "s.yaml")
    (found,) = caught.value.diagnostics
    assert (found.code, found.path) == ("no-embeddings", "graders[0]")
