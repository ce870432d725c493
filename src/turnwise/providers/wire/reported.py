"""Failures that an API reports inside an answer whose status is a success."""

from __future__ import annotations

from typing import Any

from ...errors import ProviderError
from .base import fields_of, listed

__all__ = ["in_band_error", "reported_in"]


def reported_in(data: Any) -> Any:
    """The part of an answer, or of an event of a stream, that reports a failure; None if nothing does.

    >>> reported_in({"error": None, "choices": [{"error": {"code": 502, "message": "gone"}}]})
    {'error': {'code': 502, 'message': 'gone'}}
    >>> reported_in({"choices": [{"message": {"content": "Hello"}}]})
    """
    if not isinstance(data, dict):
        return None
    if data.get("error") or data.get("type") == "error":
        return data
    # OpenRouter reports the failure of the host behind it in the choice, OpenAI a failed response in its last event.
    choices = listed(data.get("choices"))
    holders = [fields_of(choices[0])] if choices else []
    if data.get("type") == "response.failed":
        holders.append(fields_of(data.get("response")))
    return next(({"error": each["error"]} for each in holders if each.get("error")), None)


def in_band_error(report: Any, api: str) -> ProviderError:
    """The typed error for a report, where nothing is known of the request but its API."""
    from ...targets.settings import RETRY_STATUSES
    from ..status import reported_error

    return reported_error(report, api=api, retry_statuses=RETRY_STATUSES)
