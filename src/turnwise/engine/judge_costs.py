"""What judges took for an answer: of the grades that they gave, for the line that is kept, and of a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import fsum
from typing import TYPE_CHECKING, Any

from ..providers.base import Usage
from .deck_grades import judge_calls
from .spending import count_record
from .talk_sums import sum_usage

if TYPE_CHECKING:
    from ..graders.base import Grade
    from ..targets.resolve import ResolvedTarget
    from .budget import Budget

__all__ = ["count_judging", "count_result", "judging_cost", "together"]

_TOKENS = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_tokens", "reasoning_tokens")


def judging_cost(grades: Sequence[Grade]) -> dict[str, Any]:
    """The fields of a result that say what its judges took; null if none was asked. A cost that is not known makes the
    whole unknown."""
    lines = [{"kind": grade.kind, "evidence": grade.evidence} for grade in grades]
    spent = list(judge_calls(lines))
    if not spent:
        return {"judge_usage": None, "judge_cost_usd": None}
    costs = [each["cost_usd"] for each in spent if each["usage"] is not None]  # an error is no answer, and has no cost
    cost = None if not costs or any(each is None for each in costs) else fsum(costs)
    usages = [each["usage"] for each in spent if each["usage"] is not None]
    return {"judge_usage": together(usages), "judge_cost_usd": cost}


def count_result(budget: Budget, record: Mapping[str, Any], resolved: ResolvedTarget) -> None:
    """Book a result with its judges: as one request, where that is known, since it needs all of them each time."""
    judged, cost = record.get("judge_usage"), record.get("judge_cost_usd")
    if judged and cost is not None and _is_known(record):
        own = [] if record["attempts"] == 0 else [record["usage"]]
        whole = {"cost_usd": (record["cost_usd"] or 0.0) + cost, "usage": together([*own, judged]), "attempts": 1}
        count_record(budget, {**record, **whole}, resolved)
        return
    count_record(budget, record, resolved)
    count_judging(budget, record)


def count_judging(budget: Budget, record: Mapping[str, Any]) -> None:
    """Book what the judges of a result took. What they did not count is not known, and is left out."""
    usage, cost = record.get("judge_usage") or {}, record.get("judge_cost_usd")
    tokens = (usage.get("input_tokens") or 0) + (usage.get("output_tokens") or 0)
    if tokens or cost:
        budget.count(cost, tokens, 0)


def _is_known(record: Mapping[str, Any]) -> bool:
    """Whether nothing of what the answer itself took has to be guessed."""
    usage = record["usage"] or {}
    counted = usage.get("input_tokens") is not None and usage.get("output_tokens") is not None
    return record["attempts"] == 0 or (counted and record["cost_usd"] is not None)


def together(usages: Sequence[Mapping[str, int | None]]) -> dict[str, int | None]:
    """Sums of tokens: what one of them did not count is not known of all.

    >>> together([{"input_tokens": 5, "output_tokens": 1}, {"input_tokens": 7}])["output_tokens"] is None
    True
    """
    return asdict(sum_usage([Usage(**{name: each.get(name) for name in _TOKENS}) for each in usages]))
