"""What a run would cost, before it costs anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from turnwise.engine.dry_run import estimate_plan
from turnwise.engine.estimate import PlanEstimate, estimated_cost
from turnwise.engine.options import PlanOptions
from turnwise.engine.plan import make_plan
from turnwise.engine.planned_targets import resolve_planned
from turnwise.providers import ProviderRequest, Settings, messages_to_send
from turnwise.targets.settings import Prices

PRICES = Prices(input=2.0, output=10.0)


def request(characters: int, limit: int | None = None) -> ProviderRequest:
    return ProviderRequest(question="x" * characters, settings=Settings(max_output_tokens=limit))


def test_requests_are_added_up_by_target() -> None:
    """Four characters a token are sent; as many come back as the request or else the target allows."""
    plan = PlanEstimate()
    plan.add("gpt", request(400), max_output_tokens=1000, prices=PRICES, paid=True, as_of="2026-10-27")
    plan.add("gpt", request(800, limit=50), max_output_tokens=1000, prices=PRICES, paid=True, as_of="2026-10-27")
    (gpt,) = plan.targets
    assert (gpt.requests, gpt.input_tokens, gpt.output_tokens, gpt.unlimited) == (2, 300, 1050, 0)
    # 300 tokens at two dollars a million, and 1,050 at ten.
    assert gpt.cost_usd == pytest.approx(0.0111)
    assert gpt.prices_as_of == "2026-10-27"


def test_what_is_sent_is_what_counts() -> None:
    """The messages that are really sent, with the system prompt that a provider adds, and not those of the case."""
    plan = PlanEstimate()
    sent = messages_to_send(request(40), "y" * 400)
    plan.add("gpt", request(40), sent, max_output_tokens=1, prices=None, paid=False)
    assert plan.total.input_tokens == 110


def test_characters_are_added_up_before_they_are_tokens() -> None:
    """A hundred requests of three characters are 75 tokens, not none, and cost as much; a single one is one."""
    plan = PlanEstimate()
    for _ in range(100):
        plan.add("gpt", request(3), max_output_tokens=1, prices=PRICES, paid=True)
    plan.add("short", request(3), max_output_tokens=1, prices=PRICES, paid=True)
    plan.add("empty", request(0), max_output_tokens=1, prices=PRICES, paid=True)
    assert [each.input_tokens for each in plan.targets] == [75, 1, 0]
    assert plan.targets[0].cost_usd == pytest.approx(estimated_cost(PRICES, 75, 100))


def test_a_plan_counts_the_default_system_prompt_of_the_project(tmp_path: Path) -> None:
    """A case without a system text is sent that of the config, and the estimate has it."""
    (tmp_path / ".turnwise").mkdir()
    (tmp_path / ".turnwise" / "config.yaml").write_text(f"default_system_prompt: {'y' * 400}\n")
    (tmp_path / "s.yaml").write_text(f"cases: [{{id: a, input_messages: [{{role: user, content: {'x' * 40}}}]}}]\n")
    plan = make_plan(PlanOptions(suites=(str(tmp_path / "s.yaml"),), targets=("mock",)))
    resolve_planned(plan.targets)
    assert estimate_plan(plan).total.input_tokens == 110


def test_an_answer_without_a_limit_is_assumed_to_be_short() -> None:
    """256 tokens, and it is counted how many answers are so."""
    plan = PlanEstimate()
    plan.add("gpt", request(0), max_output_tokens=None, prices=PRICES, paid=True)
    plan.add("gpt", request(0, limit=10), max_output_tokens=None, prices=PRICES, paid=True)
    (gpt,) = plan.targets
    assert (gpt.output_tokens, gpt.unlimited) == (266, 1)


def test_an_unknown_cost_is_no_zero() -> None:
    """It is null, with the reason, for the target and for the whole; other targets keep theirs."""
    plan = PlanEstimate()
    plan.add("gpt", request(4), max_output_tokens=1, prices=PRICES, paid=True)
    plan.add("mine", request(4), max_output_tokens=1, prices=None, paid=True)
    gpt, mine = plan.targets
    assert gpt.cost_usd == pytest.approx(0.000012)
    assert mine.cost_usd is None
    assert "`prices`" in (mine.cost_unknown or "")
    assert plan.total.cost_usd is None
    assert plan.total.cost_unknown == "no prices are known for: mine"


def test_what_is_free_costs_nothing() -> None:
    """Nothing is unknown about a model of one's own."""
    plan = PlanEstimate()
    plan.add("local", request(40), max_output_tokens=5, prices=None, paid=False)
    plan.add("gpt", request(4), max_output_tokens=1, prices=PRICES, paid=True)
    assert plan.targets[0].cost_usd == 0.0
    assert plan.total.cost_usd == pytest.approx(0.000012)


def test_the_data_holds_the_whole_and_its_parts() -> None:
    """All of it is JSON, and the figures of the targets add up."""
    plan = PlanEstimate()
    for name in ("b", "a", "b"):
        plan.add(name, request(40), max_output_tokens=None, prices=PRICES, paid=True)
    data = json.loads(json.dumps(plan.as_dict()))
    assert [each["target"] for each in data["targets"]] == ["b", "a"]
    for key in ("requests", "input_tokens", "output_tokens", "unlimited"):
        assert data[key] == sum(each[key] for each in data["targets"])
    assert data["requests"] == 3
    assert data["cost_usd"] == pytest.approx(estimated_cost(PRICES, 30, 3 * 256))
    assert data["cost_unknown"] is None


def test_an_empty_plan_costs_nothing() -> None:
    """Zeros, and no targets."""
    data = PlanEstimate().as_dict()
    assert (data["requests"], data["cost_usd"], data["targets"]) == (0, 0, [])
