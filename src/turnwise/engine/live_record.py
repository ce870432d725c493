"""What the line of a result says of a live conversation. Pure: `result_format` says what each field means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .talk_sums import sum_known, sum_usage

if TYPE_CHECKING:
    from .talk import Exchange, Talk

__all__ = ["booked_as", "kept_fields", "live_fields"]


def live_fields(talk: Talk, record: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a result that its conversation changes or adds; the simulated user is paid like a judge."""
    return {"cost_usd": talk.cost_usd, **_with_user(talk, record), "live": _live(talk, talk.ended, talk.why)}


def kept_fields(talk: Talk, record: Mapping[str, Any]) -> dict[str, Any]:
    """The same for a conversation that an error has ended: what was said before is kept, and there is no answer."""
    turn = talk.turn + talk.is_users  # what the user says begins the next turn
    why = f"an error in turn {turn}: what was said before is kept in `output_messages`"
    fields: dict[str, Any] = {
        "output_messages": list(talk.messages),
        "attempts": record["attempts"] + talk.attempts,
        **_with_user(talk, record),
        "live": _live(talk, "error", why),
    }
    if talk.exchanges:
        usage = sum_usage([each.response.usage for each in talk.exchanges])
        fields |= {"usage": asdict(usage), "cost_usd": talk.cost_usd}
    return fields


def booked_as(exchange: Exchange, *, paid: bool) -> dict[str, Any]:
    """One request of a conversation as a budget counts it."""
    response = exchange.response
    return {
        "answer": response.text,
        "attempts": response.attempts,
        "usage": asdict(response.usage),
        "raw_request": {"messages": list(response.sent)},
        "output_messages": list(response.messages),
        "cost_usd": exchange.cost_usd,
        "paid": paid,
    }


def _live(talk: Talk, ended: str | None, why: str) -> dict[str, Any]:
    return {
        "turns": len(talk.replies),
        "requests": len(talk.exchanges),
        "ended": ended,
        "why": why,
        "turn_latencies_ms": [sum_known([each.response.latency_ms for each in turn]) for turn in talk.replies],
        "turn_usage": [asdict(sum_usage([each.response.usage for each in turn])) for turn in talk.replies],
        "turn_costs_usd": [sum_known([each.cost_usd for each in turn]) for turn in talk.replies],
        "user": _user(talk),
    }


def _user(talk: Talk) -> dict[str, Any] | None:
    user = talk.case.user
    if user is None:
        return None
    costs = [each.cost_usd for each in talk.played if each.usage is not None]
    return {
        "target": user.target,
        "messages": talk.simulated,
        "last_words": talk.last_words,
        "attempts": sum(each.attempts for each in talk.played),
        "usage": asdict(sum_usage([each.usage for each in talk.played if each.usage is not None])),
        "cost_usd": sum_known(costs),
    }


def _with_user(talk: Talk, record: Mapping[str, Any]) -> dict[str, Any]:
    """What judges and the simulated user took together; as it was if there is no such user."""
    from .judge_costs import together

    user = _user(talk)
    if user is None or not talk.played:
        return {}
    judged = record["judge_usage"]
    cost = user["cost_usd"] if judged is None else sum_known([user["cost_usd"], record["judge_cost_usd"]])
    return {"judge_usage": together([user["usage"], *([] if judged is None else [judged])]), "judge_cost_usd": cost}
