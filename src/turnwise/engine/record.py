"""From what became of a case to the line that is kept of it. Pure: `result_format` says what each field means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..graders.base import grade_record
from ..providers.base import Usage
from ..providers.cost import answer_cost, cost_usd
from .judge_costs import judging_cost

if TYPE_CHECKING:
    from ..errors import ProviderError, ResolutionError
    from ..graders.base import Grade
    from ..graders.scoring import CaseScore
    from ..providers.base import Preview, ProviderRequest, ProviderResponse, Rewrite
    from .result_keys import ResultKey

__all__ = ["SCHEMA_VERSION", "Head", "Status", "error_record", "failed_record", "graded_record", "unmade_record"]

SCHEMA_VERSION = 1
Status = Literal["passed", "failed", "ungraded", "error"]

_NO_ANSWER: dict[str, Any] = {
    "answer": None,
    "output_messages": [],
    "finish_reason": None,
    "model": None,
    "usage": None,
    "cost_usd": None,
    "judge_usage": None,
    "judge_cost_usd": None,
    "latency_ms": None,
    "first_token_ms": None,
}


@dataclass(slots=True)
class Head:
    """What is known of a result before it is asked for. `paid`: the target is paid by the token."""

    key: ResultKey
    run_id: str
    conversation_id: str | None
    threshold: float
    paid: bool
    started_at: str


def graded_record(
    head: Head,
    request: ProviderRequest,
    response: ProviderResponse,
    *,
    score: CaseScore,
    grades: Sequence[Grade],
    prices: Any,
    finished_at: str,
) -> dict[str, Any]:
    """The line for an answer, graded or not."""
    from_cache = response.attempts == 0
    return {
        **_head(head, score.status, score.score, score.reason),
        "grades": [grade_record(each) for each in grades],
        "answer": response.text,
        "output_messages": list(response.messages),
        "finish_reason": response.finish_reason,
        "model": response.model,
        "raw_request": _raw_request(request, response.sent, response.rewrites),
        "usage": _usage(response.usage),
        "cost_usd": 0.0 if from_cache and head.paid else answer_cost(response, prices),
        **judging_cost(grades),
        "latency_ms": response.latency_ms,
        "first_token_ms": response.first_token_ms,
        "attempts": response.attempts,
        "error": None,
        "started_at": head.started_at,
        "finished_at": finished_at,
        **({} if response.agent is None else {"agent": response.agent.record()}),
    }


def failed_record(
    head: Head,
    request: ProviderRequest,
    error: ProviderError,
    *,
    attempts: int,
    sent: Preview | None = None,
    prices: Any = None,
    finished_at: str,
) -> dict[str, Any]:
    """The line for a case that brought no answer: an error has no score, not even a 0.

    `sent` is what was sent, or would have been; None if it cannot be told. What an agent said and used before it
    failed is kept, and costs what it costs.
    """
    return {
        **_head(head, "error", None),
        "grades": [],
        **_NO_ANSWER,
        **_spent(error, prices),
        "raw_request": _raw_request(
            request, () if sent is None else sent.messages, () if sent is None else sent.rewrites
        ),
        "attempts": attempts,
        "error": error_record(error),
        "started_at": head.started_at,
        "finished_at": finished_at,
        **({} if error.agent is None else {"agent": dict(error.agent)}),
    }


def _spent(error: ProviderError, prices: Any) -> dict[str, Any]:
    if error.spent is None:
        return {}
    used, cost = error.spent["usage"], error.spent["cost_usd"]
    if cost is None and used is not None:
        cost = cost_usd(Usage(**used), prices)
    return {**error.spent, "cost_usd": cost}


def error_record(error: ProviderError) -> dict[str, Any]:
    """Why there is no answer, and what can be done about it."""
    return {
        "kind": error.kind,
        "message": str(error),
        "status": error.status,
        "retryable": error.retryable,
        "hint": error.hint,
    }


def unmade_record(head: Head, error: ResolutionError, *, finished_at: str) -> dict[str, Any]:
    """The line for a case whose conversation cannot be made, such as for a file that is missing: nothing was sent."""
    why = {"kind": "case", "message": "; ".join(each.message for each in error.problems), "status": None}
    hints = dict.fromkeys(each.hint for each in error.problems if each.hint)
    return {
        **_head(head, "error", None),
        "grades": [],
        **_NO_ANSWER,
        "raw_request": None,
        "attempts": 0,
        "error": {**why, "retryable": False, "hint": "; ".join(hints) or None},
        "started_at": head.started_at,
        "finished_at": finished_at,
    }


def _head(head: Head, status: Status, score: float | None, reason: str | None = None) -> dict[str, Any]:
    key = head.key
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": head.run_id,
        "suite": key.suite,
        "case_id": key.case_id,
        "conversation_id": head.conversation_id,
        "target": key.target,
        "variant": key.variant,
        "trial": key.trial,
        "status": status,
        "score": score,
        "reason": reason,
        "threshold": head.threshold,
        "paid": head.paid,
    }


def _raw_request(request: ProviderRequest, sent: Sequence[Any], rewrites: Sequence[Rewrite]) -> dict[str, Any]:
    return {
        "question": request.question,
        "guidelines": list(request.guidelines),
        "chat_prompt": list(request.chat_prompt or ()),
        "messages": list(sent),
        "rewrites": [
            {"kind": each.kind, "message_index": each.message_index, "what": each.what, "why": each.why}
            for each in rewrites
        ],
    }


def _usage(usage: Usage) -> dict[str, int | None]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_input_tokens": usage.cached_input_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    }
