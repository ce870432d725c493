"""The kind `tool_calls`: the trajectory of an agent, held against the calls that were expected."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .base import Grade, GradeError, GraderSettings, Submission
from .bounded import bounded
from .json_values import brief, covers, same_value
from .regex import LONGEST_TEXT, SECONDS
from .tool_call_matching import Order, matched
from .tool_call_options import ArgumentMatch, ExpectedCall, ToolCalls
from .tool_call_reading import ToolCall, calls_in

__all__ = ["ToolCallsGrader"]

_MOST_MADE = 500
_MOST_SHOWN = 50


class _CannotGradeError(Exception):
    """Why the calls cannot be judged."""

    def __init__(self, error: GradeError) -> None:
        super().__init__(error.message)
        self.error = error


@dataclass(frozen=True, slots=True)
class ToolCallsGrader:
    """The share of the expected calls that were made; 0 if a limit was not kept."""

    options: ToolCalls
    settings: GraderSettings

    async def grade(self, submission: Submission) -> Grade:
        """Judge the calls of an answer."""
        try:
            return await self._graded(submission)
        except _CannotGradeError as cannot:
            return self.settings.ungraded(cannot.error)
        except RecursionError:
            return self.settings.ungraded(GradeError("too-deep", "arguments are nested too deeply to be compared"))

    async def _graded(self, submission: Submission) -> Grade:
        made = list(calls_in(submission.output_messages))
        if len(made) > _MOST_MADE:
            message = f"there are {len(made):,} tool calls, and at most {_MOST_MADE} are compared"
            raise _CannotGradeError(GradeError("too-long", message))
        expected, broken = _expected(self.options, submission), list(_broken_limits(self.options, made))
        if expected is None:
            reason = "; ".join(broken) or "the tool calls keep the limits"
            return self.settings.graded(0.0 if broken else 1.0, reason, _evidence("subset", made, [], {}, broken))
        fits = [[await _fits(call, each, self.options.match) for each in made] for call in expected]
        pairs = matched(fits, self.options.order, len(made))
        score = 0.0 if broken else _score(self.options, len(pairs), len(expected), len(made))
        reason = "; ".join([_said(self.options, made, expected, pairs), *broken])
        return self.settings.graded(score, reason, _evidence(self.options.order, made, expected, pairs, broken))


def _expected(options: ToolCalls, submission: Submission) -> Sequence[ExpectedCall] | None:
    """The calls that should be made; None if only limits are set."""
    if options.expected is not None:
        return options.expected
    calls = list(calls_in(submission.expected))
    wrong = next((call.malformed for call in calls if call.malformed is not None), None)
    if wrong is not None:
        raise _CannotGradeError(
            GradeError("bad-reference", f"a tool call of `expected_messages` is malformed: {wrong}")
        )
    if not calls and not options.has_limits:
        message = (
            "`tool_calls` has no `expected`, and the case's `expected_messages` have no tool calls: add one of them"
        )
        raise _CannotGradeError(GradeError("no-reference", message))
    return [ExpectedCall(name=call.name, arguments=call.arguments) for call in calls] or None


async def _fits(expected: ExpectedCall, call: ToolCall, default: ArgumentMatch) -> bool:
    """Whether a call that was made is the expected one."""
    wanted = expected.arguments
    if call.name != expected.name:
        return False
    hows = {name: expected.how(name, default) for name in wanted or {}}
    if wanted is None or all(how == "ignore" for how in list(hows.values()) or [expected.match or default]):
        return True
    if call.malformed is not None:
        return False
    if (expected.match or default) == "exact" and set(call.arguments) - set(wanted):
        return False
    for name, how in hows.items():
        if how != "ignore" and (name not in call.arguments or not await _same(how, wanted[name], call.arguments[name])):
            return False
    return True


async def _same(how: ArgumentMatch, wanted: Any, found: Any) -> bool:
    if how != "regex":
        return same_value(found, wanted) if how == "exact" else covers(found, wanted)
    text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    if len(text) > LONGEST_TEXT:
        raise _CannotGradeError(GradeError("too-long", f"an argument has {len(text):,} characters, too many to search"))
    answer = await bounded({"do": "search", "pattern": wanted, "text": text, "case_sensitive": True}, SECONDS)
    if isinstance(answer, GradeError):
        raise _CannotGradeError(answer)
    return answer["found"] is not None


def _broken_limits(options: ToolCalls, made: Sequence[ToolCall]) -> Iterator[str]:
    counts = Counter(call.name for call in made)
    for name in options.forbidden:
        if counts[name]:
            yield f"`{name}` was called, which is forbidden"
    yield from _out_of_bounds("all tools", len(made), options.min_calls, options.max_calls)
    for name, limit in options.limits.items():
        yield from _out_of_bounds(f"`{name}`", counts[name], limit.min, limit.max)


def _out_of_bounds(what: str, count: int, least: int | None, most: int | None) -> Iterator[str]:
    if least is not None and count < least:
        yield f"calls of {what}: {count}, at least {least} expected"
    if most is not None and count > most:
        yield f"calls of {what}: {count}, at most {most} allowed"


def _score(options: ToolCalls, pairs: int, expected: int, made: int) -> float:
    """The share of what must be met: the expected calls; those made for `subset`; the more of both in other orders."""
    whole = {"in_order": expected, "subset": made}.get(options.order, max(expected, made))
    share = pairs / whole if whole else 1.0
    return share if options.order != "exact" or options.partial else float(share == 1)


def _said(options: ToolCalls, made: Sequence[ToolCall], expected: Sequence[Any], pairs: dict[int, int]) -> str:
    if options.order == "subset":
        return f"{len(pairs)} of {len(made)} calls are allowed"
    missing = [call.name for row, call in enumerate(expected) if row not in set(pairs.values())]
    met = f"{len(pairs)} of {len(expected)} expected calls were made"
    met += {"exact": " in their place", "in_order": " in that order"}.get(options.order, "")
    others = f"; {len(made) - len(pairs)} others were made" if len(made) > len(pairs) else ""
    return met + (f"; missing: {', '.join(missing[:5])}" if missing else "") + others


def _evidence(
    order: Order, made: Sequence[ToolCall], expected: Sequence[ExpectedCall], pairs: dict[int, int], broken: list[str]
) -> dict[str, Any]:
    met = set(range(len(expected))) if order == "subset" else set(pairs.values())
    wanted = [{"name": call.name, "arguments": brief(call.arguments)} for call in expected]
    found = [{"call": made[index].as_evidence(), "expected": wanted[row]} for index, row in sorted(pairs.items())]
    return {
        "matched": found[:_MOST_SHOWN],
        "missing": [call for row, call in enumerate(wanted) if row not in met],
        "unexpected": [call.as_evidence() for index, call in enumerate(made) if index not in pairs][:_MOST_SHOWN],
        "broken_limits": broken,
    }
