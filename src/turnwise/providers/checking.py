"""Does a target answer? One small request to each, at the same time, without retries."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ProviderError, ProviderTimeoutError, UsageError
from .agents.opening import AGENTS
from .base import DEFAULT_TIMEOUT, ProviderRequest, Settings
from .opening import Providers

if TYPE_CHECKING:
    from ..targets.resolve import ResolvedTarget
    from .agents.checking import AgentState

__all__ = ["CheckOutcome", "check_targets"]

_QUESTION = "Reply with the word OK."
# Enough for any API: some refuse less. An answer that is cut short is an answer, too.
_MAX_TOKENS = 16
_AGENTS_SHARE = 0.75
_LATE_AGENT = "a check does not wait longer; `turnwise ask` waits as long as the target's `timeout` says"


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
    if (sessions := getattr(resolved.target, "sessions", None)) is not None:
        return await _looked_into(resolved.target.name, sessions, providers)
    if getattr(resolved.target, "dry_run", False) is True:
        return CheckOutcome(resolved.target.name, True, "dry run: nothing is sent")
    if resolved.target.provider not in AGENTS:
        return await _asked(resolved, providers, timeout)
    try:
        state = await _found(resolved, providers)
    except (ProviderError, UsageError) as error:
        return CheckOutcome(resolved.target.name, False, str(error), error.hint)
    return replace(await _asked(_in_time(resolved, timeout), providers, timeout), agent=state)


def _in_time(resolved: ResolvedTarget, timeout: float) -> ResolvedTarget:
    """The agent with a limit of its own that is reached first: it then says what it had trouble with."""
    target: Any = resolved.target
    limit = min(timeout * _AGENTS_SHARE, DEFAULT_TIMEOUT if target.timeout is None else float(target.timeout))
    return replace(resolved, target=target.model_copy(update={"timeout": limit}))


async def _looked_into(name: str, sessions: str, providers: Providers) -> CheckOutcome:
    """Recorded sessions belong to cases: there is nothing to ask, but they can be read."""
    from .agents.sessions import readable_sessions

    try:
        found = await asyncio.to_thread(readable_sessions, sessions, providers.root)
    except ProviderError as error:
        return CheckOutcome(name, False, str(error), error.hint)
    return CheckOutcome(name, True, found)


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
        is_late = isinstance(error, ProviderTimeoutError) and once.provider in AGENTS
        return CheckOutcome(name, False, str(error), _LATE_AGENT if is_late else error.hint)
    except Exception as error:  # noqa: BLE001  (a fault of one target must not hide what the others do)
        return CheckOutcome(name, False, f"{type(error).__name__}: {error}", "this is a fault of Turnwise: report it")
    return CheckOutcome(name, True, response.model or "answered", None, response.latency_ms)
