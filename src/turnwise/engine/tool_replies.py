"""What the canned tools of a case answer to the calls of a model. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..graders.json_values import covers
from ..graders.tool_call_reading import ToolCall, calls_in
from ..programs.words import clean_text

if TYPE_CHECKING:
    from ..conversation.chat import ChatMessage
    from ..suite.format import ToolSpec
    from ..suite.live_format import ToolResult

__all__ = ["are_answers", "reply_to", "result_text", "tool_messages"]

_LONGEST_SHOWN = 200


def tool_messages(asking: ChatMessage, tools: Sequence[ToolSpec]) -> list[ChatMessage] | str:
    """The answers to all calls of a message, in their order; or, if one of them has none, why."""
    answers: list[ChatMessage] = []
    for raw, call in zip(asking.get("tool_calls") or (), calls_in([asking]), strict=True):
        reply = reply_to(call, tools)
        if reply is None:
            return _no_reply(call, tools)
        answer: ChatMessage = {"role": "tool", "content": result_text(reply)}
        call_id = raw.get("id")
        if isinstance(call_id, str):
            answer["tool_call_id"] = call_id
        answers.append(answer)
    return answers


def are_answers(asking: ChatMessage, tools: Sequence[ToolSpec]) -> bool:
    """Whether calls are an answer of their own: those without a reply are of tools that are only declared. Where no
    tool has replies, so is any call."""
    declared = {tool.name for tool in tools if not tool.is_canned}
    if len(declared) == len({tool.name for tool in tools}):
        return True
    return all(call.name in declared or reply_to(call, tools) is not None for call in calls_in([asking]))


def reply_to(call: ToolCall, tools: Sequence[ToolSpec]) -> ToolResult | None:
    """The first of the tool's `replies` whose arguments the call has, or else its `reply`.

    >>> from turnwise.suite.format import ToolSpec
    >>> replies = [{"arguments": {"city": "Oslo"}, "result": "rain"}]
    >>> tool = ToolSpec.model_validate({"name": "weather", "replies": replies})
    >>> reply_to(ToolCall("weather", {"city": "Oslo", "unit": "C"}), [tool]).result
    'rain'
    >>> reply_to(ToolCall("weather", {"city": "Rome"}), [tool]) is None
    True
    """
    tool = next((each for each in tools if each.name == call.name), None)
    if tool is None:
        return None
    fitting = (each for each in tool.replies or () if not each.arguments or _has(call, each.arguments))
    return next(fitting, tool.reply)


def result_text(reply: ToolResult) -> str:
    """What the model gets: a text as it is, anything else as JSON."""
    if reply.error is not None:
        return json.dumps({"error": reply.error}, ensure_ascii=False)
    return reply.result if isinstance(reply.result, str) else json.dumps(reply.result, ensure_ascii=False, default=str)


def _has(call: ToolCall, arguments: Any) -> bool:
    return call.malformed is None and covers(call.arguments, arguments)


def _no_reply(call: ToolCall, tools: Sequence[ToolSpec]) -> str:
    name = clean_text(call.name, _LONGEST_SHOWN)
    if all(each.name != call.name for each in tools):
        return f"the model called {name!r}, and the case has no such tool"
    if all(not each.is_canned for each in tools if each.name == call.name):
        return f"the tool {name!r} has no replies"
    if call.malformed is not None:
        return f"no reply of the tool {name!r} fits its call: {clean_text(call.malformed, _LONGEST_SHOWN)}"
    shown = clean_text(json.dumps(call.arguments, ensure_ascii=False, default=str), _LONGEST_SHOWN)
    return f"no reply of the tool {name!r} fits the arguments {shown}"
