"""One answer: its text for a terminal, its figures in a line, all of it as data."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any

from ..conversation.transcript import tool_call_line
from ..engine.budget import shown_usd
from ..providers.base import ProviderResponse
from ..providers.cost import answer_cost
from .request import rewrite_line
from .terminal import one_line, printable

__all__ = ["answer_record", "answer_text", "figures_line", "kept_places", "notes_on"]


def answer_record(response: ProviderResponse, prices: Any = None, secrets: Collection[str] = ()) -> dict[str, Any]:
    """Everything about an answer, without the secrets that a target may have put into its messages."""
    record = {
        "answer": response.text,
        "output_messages": list(response.messages),
        "finish_reason": response.finish_reason,
        "raw_finish_reason": response.raw_finish_reason,
        "reasoning": response.reasoning,
        "refusal": response.refusal,
        "model": response.model,
        "usage": asdict(response.usage),
        "cost_usd": answer_cost(response, prices),
        "latency_ms": response.latency_ms,
        "first_token_ms": response.first_token_ms,
        "attempts": response.attempts,
        "messages": list(response.sent),
        "rewrites": [asdict(each) for each in response.rewrites],
        "agent": None if response.agent is None else response.agent.record(),
    }
    return {key: _masked(value, secrets) for key, value in record.items()} if secrets else record


def _masked(value: Any, secrets: Collection[str]) -> Any:
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, "[redacted]")
        return value
    if isinstance(value, dict):
        return {key: _masked(item, secrets) for key, item in value.items()}
    return [_masked(item, secrets) for item in value] if isinstance(value, list | tuple) else value


def answer_text(response: ProviderResponse, *, terminal: bool) -> str:
    """The answer and its tool calls; on a terminal without anything that could harm it."""
    calls = [tool_call_line(call) for message in response.messages for call in message.get("tool_calls", [])]
    text = "\n".join([*([response.text] if response.text else []), *calls])
    return printable(text) if terminal else text


def notes_on(response: ProviderResponse) -> list[str]:
    """What a reader must know to take the answer for what it is."""
    notes = [f"rewritten: {rewrite_line(each)}" for each in response.rewrites]
    if response.finish_reason == "length":
        notes.append("the answer was cut off at the limit of tokens; `max_output_tokens` raises it")
    elif response.finish_reason == "refusal":
        notes.append("the model refused to answer")
    elif response.finish_reason == "content_filter":
        notes.append("a content filter cut the answer off")
    elif response.finish_reason == "other":
        notes.append(one_line(f"the answer ended for an unusual reason: {response.raw_finish_reason}"))
    if not response.text and not any(message.get("tool_calls") for message in response.messages):
        notes.append("the answer is empty")
    return notes


def kept_places(agent: Mapping[str, Any] | None) -> list[str]:
    """Where to look at what an agent did: its workspace and its log, as far as they are kept.

    >>> kept_places({"workspace": None, "log": "/logs/coder/request-1.log"})
    ['log: /logs/coder/request-1.log']
    """
    found = {name: (agent or {}).get(name) for name in ("workspace", "log")}
    return [f"{name}: {one_line(path)}" for name, path in found.items() if path]


def figures_line(
    response: ProviderResponse, prices: Any = None, *, is_paid: bool = True, as_of: str | None = None
) -> str:
    """Model, tokens, time and, where somebody is paid, cost in one line; `as_of` is the date of list prices.

    >>> from turnwise.providers import Usage
    >>> figures_line(ProviderResponse(text="Hi", usage=Usage(input_tokens=9, output_tokens=2), latency_ms=1200.0))
    '9 tokens in, 2 out · 1.20 s · cost unknown: the target has no prices'
    >>> from turnwise.targets.settings import Prices
    >>> answer = ProviderResponse(text="Hi", usage=Usage(input_tokens=9000, output_tokens=100))
    >>> figures_line(answer, Prices(input=1, output=10), as_of="2026-10-27")
    '9,000 tokens in, 100 out · $0.01 (list prices of 2026-10-27)'
    """
    figures = [response.model or "", _tokens(response), _seconds(response)]
    if response.attempts > 1:
        figures.append(f"{response.attempts} attempts")
    cost = answer_cost(response, prices)
    if cost is not None:
        figures.append(shown_usd(cost) + (f" (list prices of {as_of})" if as_of else ""))
    elif is_paid:
        figures.append(f"cost unknown{_why_unknown(response, prices)}")
    return one_line(" · ".join(each for each in figures if each))


def _why_unknown(response: ProviderResponse, prices: Any) -> str:
    """Prices are of no help where no tokens are counted, which is said before."""
    if prices is not None:
        return ": tokens were not counted"
    return ": the target has no prices" if _is_counted(response) else ""


def _is_counted(response: ProviderResponse) -> bool:
    return response.usage.input_tokens is not None or response.usage.output_tokens is not None


def _tokens(response: ProviderResponse) -> str:
    usage = response.usage
    if not _is_counted(response):
        return "tokens not counted"
    cached = f" ({usage.cached_input_tokens:,} cached)" if usage.cached_input_tokens else ""
    reasoning = f" ({usage.reasoning_tokens:,} reasoning)" if usage.reasoning_tokens else ""
    return f"{_count(usage.input_tokens)} tokens in{cached}, {_count(usage.output_tokens)} out{reasoning}"


def _count(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _seconds(response: ProviderResponse) -> str:
    if response.latency_ms is None:
        return ""
    first = response.first_token_ms
    return f"{response.latency_ms / 1000:.2f} s" + (f" (first token {first / 1000:.2f} s)" if first is not None else "")
