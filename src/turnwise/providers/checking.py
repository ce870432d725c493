"""Does a target answer? One small request to each, at the same time, without retries."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ProviderError, UsageError
from .agents.opening import AGENTS
from .base import ProviderRequest, Settings
from .opening import Providers

if TYPE_CHECKING:
    from ..targets.resolve import ResolvedTarget
    from .agents.checking import AgentState

__all__ = ["CheckOutcome", "check_targets"]

_QUESTION = "Reply with the word OK."
# Enough for any API: some refuse less. An answer that is cut short is an answer, too.
_MAX_TOKENS = 16


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """Whether a target answered: `detail` says what it answered with, or why not. `agent` is what was found of an
    agent before it was asked."""

    name: str
    ok: bool
    detail: str
    hint: str | None = None
    latency_ms: float | None = None
    agent: AgentState | None = None


async def check_targets(
    resolved: list[ResolvedTarget],
    *,
    root: Path,
    default_system_prompt: str | None,
    timeout: float = 30.0,
    agent_timeout: float = 120.0,
    environment: Mapping[str, str] | None = None,
) -> list[CheckOutcome]:
    """Ask every target one question. Never raises for what a target does. An agent, which has a program to start, may
    take longer."""
    async with Providers(
        root=root, environment=environment, default_system_prompt=default_system_prompt
    ) as providers:  # fmt: skip
        waits = [agent_timeout if each.target.provider in AGENTS else timeout for each in resolved]
        checks = [_check(each, providers, wait) for each, wait in zip(resolved, waits, strict=True)]
        return list(await asyncio.gather(*checks))


async def _check(resolved: ResolvedTarget, providers: Providers, timeout: float) -> CheckOutcome:
    if resolved.target.provider not in AGENTS:
        return await _asked(resolved, providers, timeout)
    try:
        state = await _found(resolved, providers)
    except (ProviderError, UsageError) as error:
        return CheckOutcome(resolved.target.name, False, str(error), error.hint)
    return replace(await _asked(resolved, providers, timeout), agent=state)


async def _found(resolved: ResolvedTarget, providers: Providers) -> AgentState | None:
    from .agents.base import Surroundings
    from .agents.checking import agent_state

    return await agent_state(resolved, Surroundings(providers.root, providers.environment))


async def _asked(resolved: ResolvedTarget, providers: Providers, timeout: float) -> CheckOutcome:
    name = resolved.target.name
    once = resolved.target.model_copy(update={"max_retries": 0})
    # A model that thinks needs its own limit, which must be above what it may think.
    has_limit = "max_output_tokens" in type(once).model_fields and not getattr(once, "thinking_budget", None)
    request = ProviderRequest(
        question=_QUESTION,
        chat_prompt=[{"role": "user", "content": _QUESTION}],
        case_id="check",
        settings=Settings(max_output_tokens=_MAX_TOKENS) if has_limit else Settings(),
    )
    try:
        async with asyncio.timeout(timeout):
            response = await providers.open(replace(resolved, target=once)).ask(request)
    except TimeoutError:
        return CheckOutcome(name, False, f"no answer within {timeout:g} s", "is the server busy, or the address wrong?")
    except (ProviderError, UsageError) as error:
        return CheckOutcome(name, False, str(error), error.hint)
    except Exception as error:  # noqa: BLE001  (a fault of one target must not hide what the others do)
        return CheckOutcome(name, False, f"{type(error).__name__}: {error}", "this is a fault of Turnwise: report it")
    return CheckOutcome(name, True, response.model or "answered", None, response.latency_ms)
