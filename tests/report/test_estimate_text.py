"""An estimate for people: figures that line up, and what they rest on."""

from __future__ import annotations

from turnwise.engine.estimate import PlanEstimate
from turnwise.providers import ProviderRequest
from turnwise.report.estimate import estimate_text
from turnwise.report.terminal import coloured
from turnwise.targets.settings import Prices


def plan_of(
    *names: str, paid: bool = True, priced: bool = True, limit: int | None = 100, requests: int = 10
) -> PlanEstimate:
    """For each name some requests of 4,000 characters."""
    plan = PlanEstimate()
    prices, as_of = (Prices(input=1.0, output=10.0), "2026-10-27") if priced else (None, None)
    for name in names:
        for _ in range(requests):
            request = ProviderRequest(question="x" * 4000)
            plan.add(name, request, max_output_tokens=limit, prices=prices, paid=paid, as_of=as_of)
    return plan


def test_a_target_is_a_line_with_its_figures() -> None:
    """Requests, tokens and cost, the estimates marked as such; ten thousand tokens at $1 and a thousand at $10."""
    lines = estimate_text(plan_of("gpt")).splitlines()
    assert lines[0].split("  ")[0] == "target"
    assert lines[1].split() == ["gpt", "10", "≈", "10,000", "≈", "1,000", "≈", "$0.02"]
    assert len(lines[0]) == len(lines[1])


def test_several_targets_have_a_total() -> None:
    """One alone needs none."""
    lines = estimate_text(plan_of("a", "b")).splitlines()
    assert lines[3].split() == ["total", "20", "≈", "20,000", "≈", "2,000", "≈", "$0.04"]
    assert "total" not in estimate_text(plan_of("a"))


def test_list_prices_are_dated() -> None:
    """The reader sees how old they are, and for which targets they were used."""
    assert "a, b: list prices of 2026-10-27; yours may differ" in estimate_text(plan_of("a", "b")).splitlines()
    assert "list prices" not in estimate_text(plan_of("a", priced=False, paid=False))


def test_assumptions_are_said() -> None:
    """An answer counts with its limit, or with 256 tokens where it has none: either is said where it was done."""
    limited, unlimited = estimate_text(plan_of("a")), estimate_text(plan_of("a", limit=None))
    assert "the most that `max_output_tokens` allows" in limited
    assert "assumed" not in limited
    assert "10 answers have no limit: 256 tokens each are assumed" in unlimited
    assert "max_output_tokens" not in unlimited
    assert "1 answer has no limit: 256 tokens are assumed" in estimate_text(plan_of("a", limit=None, requests=1))


def test_an_unknown_cost_says_why() -> None:
    """And is not a zero; nothing is asked of what is free."""
    unknown = estimate_text(plan_of("mine", priced=False))
    assert unknown.splitlines()[1].endswith("unknown")
    assert "mine: no prices are known: give `prices` in targets.yaml" in unknown
    free = estimate_text(plan_of("local", priced=False, paid=False))
    assert free.splitlines()[1].endswith("—")
    assert "prices" not in free


def test_names_cannot_harm_a_terminal() -> None:
    """A target's name stays on its line, without escape codes; colours are ours."""
    text = estimate_text(plan_of("a\n\x1b[31m"))
    assert "\x1b" not in text
    assert "a␊␛[31m" in text
    assert "\x1b[1m" in estimate_text(plan_of("a"), coloured)


def test_an_empty_plan_is_said_to_be_empty() -> None:
    """No table without rows."""
    assert estimate_text(PlanEstimate()) == "nothing would be sent"
