"""Budgets: a run stops before it overshoots, as far as that can be known, and says why."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwise.engine.budget import AT_FIRST, Budget, require_prices
from turnwise.errors import UsageError
from turnwise.targets.format import Target, TargetsSpec


def target(name: str, **settings: Any) -> Target:
    return TargetsSpec.model_validate({"targets": [{"name": name, **settings}]}).targets[0]


def spend(budget: Budget, *, cost: float | None, tokens: int | None, workers: int, requests: int) -> int:
    """Send requests of one price through a budget, as many at once as it allows; how many were sent."""
    in_flight = sent = 0
    while True:
        while sent < requests and in_flight < workers and budget.admits(in_flight):
            in_flight, sent = in_flight + 1, sent + 1
        if not in_flight:
            return sent
        in_flight -= 1
        budget.count(cost, tokens, 0)


def test_without_limits_everything_fits() -> None:
    """No budget holds nothing up, and what is spent is counted all the same."""
    budget = Budget()
    budget.count(1000.0, 10**9, 0)
    assert budget.admits(10**6)
    assert budget.reached is None
    assert (budget.spent_usd, budget.spent_tokens, budget.estimated) == (1000.0, 10**9, 0)


def test_the_first_requests_are_few() -> None:
    """Before any cost is known, only some are under way: that is what a budget can be overrun by."""
    for budget in (Budget(usd=0.01), Budget(tokens=1)):
        assert budget.admits(AT_FIRST - 1)
        assert not budget.admits(AT_FIRST)
        assert budget.reached is None


def test_room_is_kept_for_what_is_under_way() -> None:
    """Each request under way counts with the mean of those that are done."""
    budget = Budget(usd=1.0)
    budget.count(0.1, 10, 0)
    budget.count(0.3, 10, 0)  # a mean of 0.2, and 0.6 left: room for three
    assert budget.admits(2)
    assert not budget.admits(3)
    assert budget.reached is None


def test_a_budget_is_used_to_its_last_cent() -> None:
    """What fits exactly fits, whatever floating point makes of ten times ten cents."""
    budget = Budget(usd=1.0)
    assert spend(budget, cost=0.1, tokens=10, workers=3, requests=50) == 10
    assert budget.spent_usd == pytest.approx(1.0)


@given(
    cost=st.floats(0.001, 10), limit=st.floats(0.01, 100), workers=st.integers(1, 50), requests=st.integers(1, 300)
)  # fmt: skip
def test_equal_costs_never_overshoot_but_by_the_first(cost: float, limit: float, workers: int, requests: int) -> None:
    """Where requests cost the same, the limit holds, unless the first four alone are more than it."""
    budget = Budget(usd=limit)
    sent = spend(budget, cost=cost, tokens=1, workers=workers, requests=requests)
    assert budget.spent_usd <= max(limit, AT_FIRST * cost) * (1 + 1e-6)
    # It ends early only where there is no room for another.
    assert sent == requests or budget.spent_usd + cost > limit * (1 - 1e-6)


def test_tokens_are_a_budget_too() -> None:
    """Tokens that nobody counted are estimated, and the sentence says how many."""
    budget = Budget(tokens=1000)
    budget.count(None, 300, 999)
    assert (budget.spent_tokens, budget.estimated) == (300, 0)
    budget.count(None, None, 500)
    assert (budget.spent_tokens, budget.estimated) == (800, 500)
    assert budget.reached == (
        "the budget of 1,000 tokens is reached: 800 are spent (500 of them estimated), "
        "and one more request takes about 400"
    )


def test_the_sentence_names_the_budget_that_is_reached() -> None:
    """In dollars, with enough digits to say something."""
    budget = Budget(usd=0.001, tokens=10**6)
    budget.count(0.0009, 100, 0)
    assert budget.reached == (
        "the budget of $0.001 is reached: $0.0009 is spent, and one more request takes about $0.0009"
    )


def test_either_budget_is_enough_to_stop() -> None:
    """With both, the one that is reached first counts."""
    budget = Budget(usd=100.0, tokens=50)
    budget.count(0.01, 40, 0)
    assert not budget.admits(0)
    assert (budget.reached or "").startswith("the budget of 50 tokens")


@pytest.mark.parametrize("cost", [None, 0.0])
def test_what_is_free_is_not_held_up(cost: float | None) -> None:
    """A local model, or one whose price is 0, is not kept at the first few for ever."""
    budget = Budget(usd=1.0)
    for _ in range(20):
        budget.count(cost, 100, 0)
    assert budget.admits(AT_FIRST + 19)
    assert budget.spent_usd == 0


def test_answers_from_the_cache_say_nothing_about_costs() -> None:
    """They neither lower the mean nor open the gates for what is then really asked."""
    budget = Budget(usd=1.0, tokens=1000)
    for _ in range(500):
        budget.count(0.0, 0, 50)
    assert not budget.admits(AT_FIRST)
    budget.count(0.6, 600, 0)
    assert budget.reached is not None


@pytest.mark.parametrize("limits", [{"usd": 0.0}, {"usd": -1.0}, {"usd": float("nan")}, {"tokens": 0}])
def test_a_budget_of_nothing_is_refused(limits: dict[str, Any]) -> None:
    """Whoever wants nothing to be sent has another option for it."""
    with pytest.raises(UsageError, match="allows nothing") as refused:
        Budget(**limits)
    assert "--dry-run" in (refused.value.hint or "")


def test_dollars_need_prices() -> None:
    """Every target whose cost cannot be known is named, with what to do about it."""
    with pytest.raises(UsageError) as refused:
        require_prices(
            [
                target("free", provider="mock", echo=True),
                target("listed", provider="openai", model="gpt-4o"),
                target("mine", provider="openai", model="my-model", api_key="sk-hush"),
                target("coder", provider="codex"),
            ]
        )
    assert str(refused.value) == (
        "--budget-usd needs prices, and none are known for: mine (openai, model my-model), coder (codex)"
    )
    assert "prices" in (refused.value.hint or "")
    assert "--max-tokens-total" in (refused.value.hint or "")


def test_known_prices_are_enough() -> None:
    """The target's own, the list's, or none where nobody is paid: one of each kind raises nothing."""
    known = [
        target("own", provider="azure", deployment="d", prices={"input": 1, "output": 2}),
        target("listed", provider="anthropic", model="claude-sonnet-4-5"),
        target("free", provider="local"),
    ]
    require_prices(known)
    with pytest.raises(UsageError, match="none are known for: d"):
        require_prices([*known, target("d", provider="azure", deployment="d")])
