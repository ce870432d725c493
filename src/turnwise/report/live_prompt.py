"""What a case says of the conversation after the first answer: the turns, the one who plays the user, canned tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..conversation.chat import chat_prompt
from .terminal import Style, one_line, plain, printable

if TYPE_CHECKING:
    from ..suite.case import Case
    from ..suite.format import ToolSpec
    from ..suite.live_format import ToolResult

__all__ = ["live_lines", "live_record"]

_LONGEST_SHOWN = 200


def live_record(case: Case) -> dict[str, Any]:
    """The same as data. `turns` are messages as they are sent, each after a reply."""
    return {
        "turns": [chat_prompt((message,))[-1] for message in case.turn_messages],
        "user": None if case.user is None else case.user.model_dump(),
        "tools": [
            tool.model_dump(include={"name", "replies", "reply"}, exclude_unset=True)
            for tool in case.tools
            if tool.is_canned
        ],
        "max_tool_rounds": case.max_tool_rounds,
    }


def live_lines(case: Case, style: Style = plain) -> list[str]:
    """One block a turn, tool and simulated user, for a terminal."""
    blocks = []
    for number, message in enumerate(case.turn_messages, start=1):
        head = f"{style('[user]', 'green', bold=True)} {style(f'(sent after reply {number})', 'grey')}"
        blocks.append(f"{head}\n{_content(chat_prompt((message,))[-1]['content'])}")
    if case.user is not None:
        user = case.user
        rule = f"(played by {one_line(user.target)}, at most {user.max_turns} messages, until {one_line(user.stop)})"
        head = f"{style('[user]', 'green', bold=True)} {style(rule, 'grey')}"
        persona = [f"persona: {user.persona}"] if user.persona else []
        blocks.append("\n".join([head, *(_indented(each) for each in (*persona, f"goal: {user.goal}"))]))
    return [*blocks, *(_tool_text(tool, case.max_tool_rounds, style) for tool in case.tools if tool.is_canned)]


def _tool_text(tool: ToolSpec, rounds: int, style: Style) -> str:
    head = f"{style(f'[tool] {one_line(tool.name)}', 'yellow', bold=True)} "
    lines = [head + style(f"(answered by the suite, at most {rounds} rounds a turn)", "grey")]
    lines += [f"  {_brief(each.arguments or {})} → {_result(each)}" for each in tool.replies or ()]
    if tool.reply is not None:
        lines.append(f"  any other call → {_result(tool.reply)}")
    return "\n".join(lines)


def _result(reply: ToolResult) -> str:
    return f"error: {one_line(reply.error)}" if reply.error is not None else _brief(reply.result)


def _brief(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return one_line(text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…")


def _content(content: Any) -> str:
    if isinstance(content, str):
        return _indented(content)
    parts = (part["text"] if part["type"] == "text" else f"<Image: {part['value']}>" for part in content or ())
    return "\n".join(map(_indented, parts))


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in printable(text).split("\n"))
