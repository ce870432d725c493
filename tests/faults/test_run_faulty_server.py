"""A server that fails in every way at once: each case is one result, a failure is a typed error and never a 0."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from fault_server import Fault, Received, answer, serving
from faults.runs import done_once, good, journal, make_project, run_folder, started, word_of, words

CASES = 180
FINE = answer({"choices": [{"message": {"role": "assistant", "content": "w"}, "finish_reason": "stop"}]})
PAGE = answer(b"<!doctype html><title>Sign in</title>", content_type="text/html")
FAULTS: tuple[tuple[str, Fault | bytes], ...] = (
    ("rate_limit", answer({"error": {"code": "insufficient_quota", "message": "pay"}}, 429)),
    ("overloaded", answer({"error": {"message": "oops"}}, 500)),
    ("overloaded", answer({"error": {"type": "overloaded_error"}}, 529)),
    ("connection", Fault([], then="reset")),
    ("connection", Fault([FINE[:-20]], then="reset")),
    ("connection", Fault([], then="close")),
    ("connection", Fault([FINE[:-20]], then="close")),
    ("protocol", answer(FINE.partition(b"\r\n\r\n")[2][:-20])),
    ("protocol", answer(b"")),
    ("protocol", answer(b'{"choices": "\xff\xfe"}')),
    ("protocol", PAGE),
    ("protocol", answer(b"x", 200, [("Content-Length", "99999999999")])),
    ("protocol", Fault([b"SSH-2.0-OpenSSH_9.2\r\n\r\n"], then="close")),
    ("protocol", answer(b"", 302, [("Location", "https://login.example/")])),
    ("authentication", answer({"error": {"message": "no such key"}}, 401)),
    ("permission", answer({"error": {"message": "no"}}, 403)),
    ("not_found", answer({"error": {"code": "model_not_found"}}, 404)),
    ("context_length", answer({"error": {"code": "context_length_exceeded", "message": "too long"}}, 400)),
    ("timeout", Fault([FINE[:-30]], then="hang")),
    ("timeout", Fault([FINE[:-30], *([b" "] * 25)], pause=0.1)),
)


def _fault_of(word: str) -> tuple[str, Fault | bytes] | None:
    """Every third case has one."""
    number = int(word[1:])
    return None if number % 3 else FAULTS[number // 3 % len(FAULTS)]


class _Server:
    """Answers with the fault of a case until it is mended; every seventh case is told once to wait a moment."""

    def __init__(self) -> None:
        self.mended = False
        self.asked: Counter[str] = Counter()

    def __call__(self, request: Received) -> Fault | bytes:
        word = word_of(request)
        self.asked[word] += 1
        fault = None if self.mended else _fault_of(word)
        if fault is not None:
            return fault[1]
        if int(word[1:]) % 7 == 0 and self.asked[word] == 1:
            return answer({}, 429, [("Retry-After", "0.01")])
        return good(request)


def test_faults_under_load_lose_no_case(tmp_path: Path) -> None:
    """64 at once, a third of them failing: one line a case, errors without a score; mended and resumed, all pass."""
    reply = _Server()
    with serving(reply, delay=0.002) as server:
        root = make_project(
            tmp_path / "project", server.url, CASES, timeout=1.5, max_retries=1, retry_initial_delay=0.01, workers=64
        )
        with started(root, "suite.yaml", "--target", "model", "--json") as running:
            assert running.end() == 3
        records = {record["case_id"]: record for record in journal(root)}
        assert len(journal(root)) == CASES
        assert sorted(records) == words(CASES)
        for word, record in records.items():
            fault = _fault_of(word)
            found = (record["status"], record["score"], record["error"] and record["error"]["kind"])
            assert found == (("passed", 1.0, None) if fault is None else ("error", None, fault[0]))
        _resume_mended(root, reply)


def _resume_mended(root: Path, reply: _Server) -> None:
    passed = {word for word in words(CASES) if _fault_of(word) is None}
    asked = {word: reply.asked[word] for word in passed}
    reply.mended = True
    with started(root, "--resume", run_folder(root).name, "--json") as running:
        assert running.end() == 0
    assert done_once(journal(root)) == words(CASES)
    assert {word: reply.asked[word] for word in passed} == asked
    assert sum(group["passed"] for group in running.events[-1]["summary"]["targets"]) == CASES
