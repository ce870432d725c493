"""From what became of a case to the line that is kept of it. Pure: `result_format` says what each field means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from ..errors import ProviderError
from ..providers.base import ProviderRequest, ProviderResponse
from ..providers.cost import cost_usd
from .result_format import SCHEMA_VERSION, Status
from .resume import ResultKey

__all__ = ["failed_record", "graded_record"]


def graded_record(
    key: ResultKey,
    request: ProviderRequest,
    response: ProviderResponse,
    *,
    run_id: str,
    conversation_id: str | None,
    status: Status,
    score: float | None,
    threshold: float,
    grades: Sequence[Mapping[str, Any]],
    prices: Any,
    started_at: datetime,
    finished_at: datetime,
) -> dict[str, Any]:
    """The line for an answer, graded or not."""
    return {
        **_head(key, run_id, conversation_id),
        "status": status,
        "score": score,
        "threshold": threshold,
        "grades": list(grades),
        "answer": response.text,
        "output_messages": list(response.messages),
        "finish_reason": response.finish_reason,
        "raw_request": _raw_request(request, response.sent, response.rewrites),
        "usage": asdict(response.usage),
        "cost_usd": cost_usd(response.usage, prices),
        "latency_ms": response.latency_ms,
        "first_token_ms": response.first_token_ms,
        "attempts": response.attempts,
        "error": None,
        **_times(started_at, finished_at),
    }


def failed_record(
    key: ResultKey,
    request: ProviderRequest,
    error: ProviderError,
    *,
    run_id: str,
    conversation_id: str | None,
    threshold: float,
    started_at: datetime,
    finished_at: datetime,
) -> dict[str, Any]:
    """The line for a case that brought no answer: an error has no score, not even a 0."""
    return {
        **_head(key, run_id, conversation_id),
        "status": "error",
        "score": None,
        "threshold": threshold,
        "grades": [],
        "answer": None,
        "output_messages": [],
        "finish_reason": None,
        "raw_request": _raw_request(request, (), ()),
        "usage": None,
        "cost_usd": None,
        "latency_ms": None,
        "first_token_ms": None,
        "attempts": error.attempts,
        "error": {
            "kind": error.kind,
            "message": str(error),
            "status": error.status,
            "retryable": error.retryable,
        },
        **_times(started_at, finished_at),
    }


def _head(key: ResultKey, run_id: str, conversation_id: str | None) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "run_id": run_id,
        "suite": key.suite,
        "case_id": key.case_id,
        "conversation_id": conversation_id,
        "target": key.target,
        "variant": key.variant,
        "trial": key.trial,
    }


def _raw_request(request: ProviderRequest, sent: Sequence[Any], rewrites: Sequence[Any]) -> dict[str, Any]:
    return {
        "question": request.question,
        "guidelines": list(request.guidelines),
        "chat_prompt": list(request.chat_prompt or ()),
        "messages": list(sent),
        "rewrites": [asdict(each) for each in rewrites],
    }


def _times(started_at: datetime, finished_at: datetime) -> dict[str, str]:
    return {"started_at": started_at.isoformat(), "finished_at": finished_at.isoformat()}
