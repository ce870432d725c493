"""From the lines of a journal to the outputs that are compared: the latest line of each piece of work counts."""

from __future__ import annotations

import json
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
    """The output in a line of a journal. Such a line may come from anywhere: what is not of its type is left out."""
    repeat, answer = _of(int, record.get("trial")) or 1, record.get("answer")
    error = record.get("error")
    if error is not None or answer is None:
        told = error if isinstance(error, Mapping) else {"message": error}
        failure = _FAILURES.get(str(told.get("kind")), "api_error")
        return Output(None, repeat, failure=failure, detail=str(told.get("message")))
    usage = _of(dict, record.get("usage")) or {}
    return Output(
        answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False),
        repeat,
        _of(str, record.get("finish_reason")),
        input_tokens=_of(int, usage.get("input_tokens")),
        output_tokens=_of(int, usage.get("output_tokens")),
        cost_usd=_of((int, float), record.get("cost_usd")),
        is_cached=record.get("attempts") == 0,
        latency_ms=_of((int, float), record.get("latency_ms")),
    )


def _of(kind: type | tuple[type, ...], value: Any) -> Any:
    """The value if it is of the kind; None otherwise, and for true and false, which Python takes for numbers."""
    return value if isinstance(value, kind) and not isinstance(value, bool) else None
