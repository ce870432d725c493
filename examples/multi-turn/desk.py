"""A tiny ticket desk without a model: it looks trains up with a tool, and answers by what the tool brings."""

from __future__ import annotations

from typing import Any


def answer(request: Any) -> Any:
    """Call the tool for a new question; make a sentence of what it brings."""
    last = request.chat_prompt[-1]
    if last["role"] == "tool":
        return f"Here you are: {last['content']}."
    topic = "platform" if "platform" in last["content"] else "departure"
    call = {"id": f"call_{len(request.chat_prompt)}", "type": "function"}
    call["function"] = {"name": "timetable", "arguments": f'{{"to": "Oslo", "what": "{topic}"}}'}
    return [{"role": "assistant", "content": None, "tool_calls": [call]}]
