"""From the lines of a journal to the outputs that are compared: the latest line of each piece of work counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..engine.result_keys import key_of
from .judgement import Output

if TYPE_CHECKING:
    from ..graders.verdict import StatusKind

__all__ = ["DeckOutputs", "outputs_of", "record_output"]

DeckOutputs = dict[str, dict[str, dict[str, list[Output]]]]
"""Outputs by deck, model and sample, in the order of repeats."""

_FAILURES: dict[str, StatusKind] = {"timeout": "timeout", "content_filter": "refusal"}


def outputs_of(records: Iterable[Mapping[str, Any]]) -> DeckOutputs:
    """What each model answered. An answer goes before an error, whenever that was written."""
    latest: dict[tuple[str, str, str, int], Output] = {}
    for record in records:
        key = key_of(record)
        place = (key.suite, key.target, key.case_id, key.trial)
        output = record_output(record)
        if output.failure is None or place not in latest or latest[place].failure is not None:
            latest[place] = output
    found: DeckOutputs = {}
    for (deck, model, sample, _), output in sorted(latest.items(), key=lambda item: item[0][3]):
        found.setdefault(deck, {}).setdefault(model, {}).setdefault(sample, []).append(output)
    return found


def record_output(record: Mapping[str, Any]) -> Output:
    """The output in a line of a journal."""
    error, usage = record.get("error"), record.get("usage") or {}
    repeat = record.get("trial") or 1
    if error is not None or record.get("answer") is None:
        kind = str((error or {}).get("kind"))
        return Output(None, repeat, failure=_FAILURES.get(kind, "api_error"), detail=str((error or {}).get("message")))
    return Output(
        record["answer"],
        repeat,
        record.get("finish_reason"),
        input_tokens=usage.get("input_tokens"),
        output_tokens=usage.get("output_tokens"),
        cost_usd=record.get("cost_usd"),
        latency_ms=record.get("latency_ms"),
    )
