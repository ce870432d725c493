"""What is kept of a result, and what is made of the results of other programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fault_server import answer, serving
from run_fixtures import journal, project, run, suite
from turnwise.engine.summary import summarise

_TALK = [
    {"role": "user", "content": "hello"},
    {"role": "user", "content": "are you there?"},
]


@pytest.mark.parametrize("status", [400, 200])
def test_a_failed_result_keeps_what_was_sent(tmp_path: Path, status: int) -> None:
    """The messages in the form of the API, and how they were rewritten for it: as for an answer."""
    said = {"content": [{"type": "text", "text": "hello"}], "stop_reason": "end_turn", "role": "assistant"}
    with serving(lambda _: answer(said if status == 200 else {"error": {"message": "no"}}, status)) as server:
        target = {"name": "c", "provider": "anthropic", "model": "m", "base_url": server.url, "api_key": "k"}
        root = project(tmp_path, target, s=suite([{"id": "a", "input_messages": _TALK}]))
        (record,) = journal(run(root / "s.yaml", "c"))
        (received,) = server.received
    assert record["status"] == ("passed" if status == 200 else "error")
    sent = record["raw_request"]
    assert sent["messages"][-1] == json.loads(received.body)["messages"][-1]
    # The default system prompt has a place of its own in this API.
    assert "system-hoisted" in [each["kind"] for each in sent["rewrites"]]


@pytest.mark.parametrize(("prompt", "asked"), [("x" * 4000, 3), ("x", 20)])
def test_a_budget_counts_the_messages_that_were_really_sent(tmp_path: Path, prompt: str, asked: int) -> None:
    """Where no API counts tokens, they are estimated from what was sent, and the system prompt is part of that."""
    root = project(tmp_path, s=suite(20, system_prompt=prompt))
    outcome = run(root / "s.yaml", workers=1, max_tokens_total=3500)
    assert len(journal(outcome)) == asked
    assert outcome.left == 20 - asked


def foreign(**fields: Any) -> dict[str, Any]:
    """A line of another program."""
    return {"target": "t", "trial": 1, "score": 1.0, **fields}


def test_an_error_beside_a_score_is_an_error() -> None:
    """Another program that writes a score for what failed does not make it a pass."""
    lines = [foreign(case_id="a"), foreign(case_id="b", error="timeout"), foreign(case_id="c", score=0.0, error="x")]
    (group,) = summarise(lambda: iter(lines)).targets
    assert (group.passed, group.failed, group.errors) == (1, 0, 2)
    assert (group.mean_score.value, group.mean_score.n) == (1.0, 1)


@pytest.mark.parametrize(
    ("costs", "total", "known", "unknown"),
    [([0.5, 0.25], 0.75, 0.75, 0), ([0.5, None], None, 0.5, 1), ([None, None], None, None, 0)],
)
def test_a_missing_cost_in_a_file_with_costs_is_unknown(
    costs: list[float | None], total: float | None, known: float | None, unknown: int
) -> None:
    """It is not nothing: the sum is not known. A file without any cost says nothing of costs."""
    lines = [
        foreign(case_id=f"c{number}", **({} if cost is None else {"cost_usd": cost}))
        for number, cost in enumerate(costs)
    ]
    (group,) = summarise(lambda: iter(lines)).targets
    assert (group.cost_usd, group.cost_usd_known, group.costs_unknown) == (total, known, unknown)
