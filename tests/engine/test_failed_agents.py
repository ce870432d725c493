"""What an agent used before it failed: it is in the result, and budgets count it."""

from __future__ import annotations

from typing import Any

from turnwise.engine.budget import Budget
from turnwise.engine.record import Head, failed_record
from turnwise.engine.result_format import ResultSpec
from turnwise.engine.result_keys import ResultKey
from turnwise.engine.spending import count_record
from turnwise.errors import ApplicationError
from turnwise.providers import ProviderRequest
from turnwise.targets.agents import CodexTarget
from turnwise.targets.resolve import resolve_target
from turnwise.targets.settings import Prices

HEAD = Head(ResultKey("a.yaml", "c", "codex", None, 1), "r1", None, 0.5, paid=True, started_at="2026-11-16T09:00:00Z")
USED = {
    "input_tokens": 1500, "output_tokens": 500, "cached_input_tokens": None, "cache_write_tokens": None,
    "reasoning_tokens": None,
}  # fmt: skip
SAID = [{"role": "assistant", "content": "so far"}]
TARGET = resolve_target(CodexTarget(name="codex", provider="codex"), {})


def failed(cost_usd: float | None, usage: dict[str, Any] | None = USED, prices: Any = None) -> dict[str, Any]:
    """The line for an agent that failed after it had used this."""
    error = ApplicationError("it broke")
    error.spent = {"output_messages": SAID, "usage": usage, "cost_usd": cost_usd}
    record = failed_record(
        HEAD, ProviderRequest(question="q"), error, attempts=1, prices=prices, finished_at="2026-11-16T09:00:01Z"
    )
    ResultSpec.model_validate(record)
    return record


def test_what_a_failed_agent_used_is_in_its_result() -> None:
    """Messages, tokens and cost stand in the line of an error, which still has no answer and no score."""
    record = failed(0.25)
    assert (record["answer"], record["score"], record["status"]) == (None, None, "error")
    assert (record["output_messages"], record["usage"], record["cost_usd"]) == (SAID, USED, 0.25)


def test_tokens_without_a_cost_are_priced() -> None:
    """Where the agent tells no cost, the target's prices do: 1,500 tokens at $2 and 500 at $10 a million."""
    assert failed(None, prices=Prices(input=2.0, output=10.0))["cost_usd"] == 0.008


def test_a_budget_counts_what_a_failed_agent_used() -> None:
    """A failure is not free."""
    budget = Budget()
    count_record(budget, failed(0.25), TARGET)
    assert (budget.spent_tokens, budget.spent_usd) == (2000, 0.25)


def test_a_budget_counts_nothing_for_a_failure_without_work() -> None:
    """An agent that did not start used nothing, and nothing is guessed."""
    budget = Budget()
    count_record(budget, failed(None, None), TARGET)
    assert (budget.spent_tokens, budget.spent_usd) == (0, 0.0)


def test_a_conversation_is_not_booked_twice() -> None:
    """The requests of a live conversation are booked one by one, so its line counts nothing more."""
    budget = Budget()
    count_record(budget, {**failed(0.25), "live": {}}, TARGET)
    assert budget.spent_tokens == 0
