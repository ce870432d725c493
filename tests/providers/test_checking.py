"""Whether targets answer: one small request to each, at the same time, and never an exception."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from fault_server import Fault, FaultServer, answer
from turnwise.providers import Providers
from turnwise.providers.checking import CheckOutcome, check_targets
from turnwise.targets.models import PROVIDERS
from turnwise.targets.resolve import ResolvedTarget, resolve_target
from turnwise.targets.stand_ins import MockTarget
from turnwise.targets.vendor_apis import AnthropicTarget

KEY = "sk-check-secret-1"
COMPLETION = {"model": "m-1", "choices": [{"message": {"content": "O"}, "finish_reason": "length"}]}


def target(provider: str, name: str = "t", **settings: Any) -> ResolvedTarget:
    spec = {"name": name, "provider": provider, **settings}
    return resolve_target(PROVIDERS[provider].model_validate(spec), {"CHECK_KEY": KEY})


def gpt(server: FaultServer, name: str = "gpt", **settings: Any) -> ResolvedTarget:
    return target("openai", name, model="m", base_url=server.url, api_key="${{ CHECK_KEY }}", **settings)


async def check(*resolved: ResolvedTarget, root: Path = Path(), timeout: float = 5.0) -> list[CheckOutcome]:
    return await check_targets(list(resolved), root=root, default_system_prompt=None, timeout=timeout, environment={})


def test_a_target_that_answers_is_fine() -> None:
    """The request is small, and an answer that is cut short is an answer."""

    async def run() -> tuple[list[CheckOutcome], Any]:
        async with FaultServer([answer(COMPLETION)]) as server:
            return await check(gpt(server)), json.loads(server.received[0].body)

    (outcome,), body = asyncio.run(run())
    assert (outcome.name, outcome.ok, outcome.detail, outcome.hint) == ("gpt", True, "m-1", None)
    assert outcome.latency_ms is not None
    assert body["max_tokens"] <= 32
    assert len(json.dumps(body["messages"])) < 200


def test_failures_are_told_without_retries() -> None:
    """Each with its own reason and hint, in the order of the targets, and without secrets."""

    async def run() -> tuple[list[CheckOutcome], int, int]:
        refused = answer({"error": {"message": f"Incorrect API key: {KEY}"}}, 401)
        async with FaultServer([refused]) as strict, FaultServer([answer({}, 503)]) as busy:
            resolved = gpt(strict, "wrong"), target("mock", "fine", response="OK"), gpt(busy, "busy", max_retries=5)
            return await check(*resolved), len(strict.received), len(busy.received)

    outcomes, strict_requests, busy_requests = asyncio.run(run())
    assert [(each.name, each.ok) for each in outcomes] == [("wrong", False), ("fine", True), ("busy", False)]
    assert (strict_requests, busy_requests) == (1, 1)
    assert "CHECK_KEY" in outcomes[0].detail
    assert outcomes[0].hint == "check the value of CHECK_KEY"
    assert KEY not in repr(outcomes)
    assert "503" in outcomes[2].detail


def test_targets_are_asked_at_the_same_time() -> None:
    """Five slow targets take as long as one."""
    slow = [target("mock", f"slow-{n}", response="OK", delay=0.2) for n in range(5)]
    started = time.perf_counter()
    outcomes = asyncio.run(check(*slow))
    assert time.perf_counter() - started < 0.8
    assert [each.ok for each in outcomes] == [True] * 5


def test_a_target_that_never_answers_is_left() -> None:
    """The time for all is bounded, whatever the target's own timeout is."""

    async def run() -> list[CheckOutcome]:
        async with FaultServer([Fault([], then="hang")]) as server:
            return await check(gpt(server, timeout=600), timeout=0.1)

    (outcome,) = asyncio.run(run())
    assert (outcome.ok, outcome.detail) == (False, "no answer within 0.1 s")
    assert outcome.hint


def test_a_target_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    """A missing function, recording or model file is an outcome with a hint, not an exception."""
    outcomes = asyncio.run(
        check(
            target("python", "function", function="no_such_module:f"),
            target("replay", "recording", path="nowhere.jsonl"),
            target("local", "model", model="nowhere.gguf"),
            target("codex", "agent"),
            root=tmp_path,
        )
    )
    assert [each.ok for each in outcomes] == [False] * 4
    for outcome, said in zip(outcomes, ["no_such_module", "nowhere.jsonl", "nowhere.gguf", "codex"], strict=True):
        assert said in outcome.detail
        assert outcome.hint


def test_no_targets_is_no_question() -> None:
    """An empty list has an empty answer."""
    assert asyncio.run(check()) == []


def test_a_model_that_thinks_is_not_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its budget must be below the limit of tokens: the check leaves the target's own limit."""
    from turnwise.providers.mock import MockProvider

    seen: list[Any] = []

    class Watching(MockProvider):
        async def ask(self, request: Any) -> Any:
            seen.append(request.settings.max_output_tokens)
            raise ZeroDivisionError("a fault of ours")

    watching = Watching(MockTarget(name="m", provider="mock"))
    monkeypatch.setattr(Providers, "_bare", lambda self, resolved, limit: watching)
    for budget, sent in ((2000, None), (None, 16)):
        spec = AnthropicTarget(name="t", provider="anthropic", model="m", thinking_budget=budget)
        target = resolve_target(spec, {"ANTHROPIC_API_KEY": "k-123"})
        (outcome,) = asyncio.run(check_targets([target], root=Path(), default_system_prompt=None))
        assert seen[-1] == sent
        # One target's fault, even one of ours, hides no other's outcome.
        assert not outcome.ok
        assert "ZeroDivisionError" in outcome.detail
