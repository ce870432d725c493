"""Filling `{{ name }}` from `vars`: plain substitution, no expressions, and what is filled in is never read again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from ..conversation.authored import MessageDict, Segment, TextSegment
from ..errors import Problem
from .format import AuthoredTool, GraderSpec, ToolSpec, TurnSpec, WrappedTool
from .live_format import ToolResult, UserSpec
from .paths import DataPath

__all__ = ["Filler"]

Reply = TypeVar("Reply", bound=ToolResult)
_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")


class Filler:
    """Fills texts from one set of values and collects the names that it does not know.

    >>> filler = Filler({"city": "Oslo", "days": 3})
    >>> filler.text("Weather in {{ city }} for {{days}} days?", ("outcome",))
    'Weather in Oslo for 3 days?'
    >>> _ = filler.text("{{ town }}", ("outcome",))
    >>> filler.problems[0].message
    'unknown variable `town`'
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.problems: list[Problem] = []

    def text(self, text: str, path: DataPath) -> str:
        """The text with every placeholder filled; an unknown one stays and is remembered as a problem."""
        if "{{" not in text:
            return text
        return _PLACEHOLDER.sub(lambda match: self._value(match, path), text)

    def messages(self, messages: Sequence[MessageDict], field: str) -> list[MessageDict]:
        """The messages with their texts, file paths and tool calls filled."""
        return [self._message(message, (field, index)) for index, message in enumerate(messages)]

    def graders(self, graders: Sequence[GraderSpec]) -> list[GraderSpec]:
        """The graders with their texts filled, except `prompt`, which has placeholders of its own."""
        return [self._grader(grader, ("graders", index)) for index, grader in enumerate(graders)]

    def turns(self, turns: Sequence[TurnSpec]) -> list[TurnSpec]:
        """The turns with their messages, graders and expected texts filled."""
        return [self._turn(turn, ("turns", index)) for index, turn in enumerate(turns)]

    def user(self, user: UserSpec) -> UserSpec:
        """The simulated user with its persona and goal filled."""
        persona = user.persona and self.text(user.persona, ("user", "persona"))
        return user.model_copy(update={"persona": persona, "goal": self.text(user.goal, ("user", "goal"))})

    def tools(self, tools: Sequence[AuthoredTool]) -> list[AuthoredTool]:
        """The tools with their canned replies filled; what the model reads of them stays as it is."""
        return [self._authored_tool(tool, ("tools", index)) for index, tool in enumerate(tools)]

    def value(self, value: Any, path: DataPath) -> Any:
        """Any plain value with every text in it filled."""
        if isinstance(value, str):
            return self.text(value, path)
        if isinstance(value, list):
            return [self.value(item, (*path, index)) for index, item in enumerate(value)]
        if isinstance(value, dict):
            return {key: self.value(item, (*path, key)) for key, item in value.items()}
        return value

    def _message(self, message: MessageDict, path: DataPath) -> MessageDict:
        filled: MessageDict = {**message, "content": self._content(message.get("content"), (*path, "content"))}
        if (name := message.get("name")) is not None:
            filled["name"] = self.text(name, (*path, "name"))
        if (call_id := message.get("tool_call_id")) is not None:
            filled["tool_call_id"] = self.text(call_id, (*path, "tool_call_id"))
        if message.get("tool_calls"):
            filled["tool_calls"] = self.value(message["tool_calls"], (*path, "tool_calls"))
        return filled

    def _turn(self, turn: TurnSpec, path: DataPath) -> TurnSpec:
        changes = {
            "user": turn.user and self.text(turn.user, (*path, "user")),
            "content": self._content(turn.content, (*path, "content")),
            "expected": turn.expected and self.text(turn.expected, (*path, "expected")),
            "graders": turn.graders
            and [self._grader(each, (*path, "graders", index)) for index, each in enumerate(turn.graders)],
        }
        return turn.model_copy(update=changes)

    def _authored_tool(self, tool: AuthoredTool, path: DataPath) -> AuthoredTool:
        if isinstance(tool, WrappedTool):
            return tool.model_copy(update={"function": self._tool(tool.function, (*path, "function"))})
        return self._tool(tool, path)

    def _tool(self, tool: ToolSpec, path: DataPath) -> ToolSpec:
        if not tool.is_canned:
            return tool
        replies = [self._reply(each, (*path, "replies", index)) for index, each in enumerate(tool.replies or ())]
        reply = tool.reply and self._reply(tool.reply, (*path, "reply"))
        return tool.model_copy(update={"replies": replies or None, "reply": reply})

    def _reply(self, reply: Reply, path: DataPath) -> Reply:
        return reply.model_copy(update=self.value(reply.model_dump(exclude_unset=True), path))

    def _grader(self, grader: GraderSpec, path: DataPath) -> GraderSpec:
        if isinstance(grader, str):
            return self.text(grader, path)
        if isinstance(grader, dict):
            return {kind: self._settings(value, (*path, kind)) for kind, value in grader.items()}
        filled = self._settings(grader.model_dump(exclude_unset=True), path)
        if grader.when is not None:
            filled["when"] = grader.when.model_copy(update=filled["when"])
        return grader.model_copy(update=filled)

    def _settings(self, settings: Any, path: DataPath) -> Any:
        if not isinstance(settings, dict):
            return self.value(settings, path)
        return {key: self._setting(key, item, (*path, key)) for key, item in settings.items()}

    def _setting(self, key: str, value: Any, path: DataPath) -> Any:
        if key == "prompt":
            return value
        if key == "graders" and isinstance(value, list):
            return [self._inner(grader, (*path, index)) for index, grader in enumerate(value)]
        return self.value(value, path)

    def _inner(self, grader: Any, path: DataPath) -> Any:
        """A grader inside of a grader, as it is written."""
        if not isinstance(grader, dict) or "type" in grader:
            return self._settings(grader, path)
        return {kind: self._settings(value, (*path, kind)) for kind, value in grader.items()}

    def _content(self, content: str | list[Segment] | None, path: DataPath) -> str | list[Segment] | None:
        if content is None:
            return None
        if isinstance(content, str):
            return self.text(content, path)
        return [self._segment(segment, (*path, index)) for index, segment in enumerate(content)]

    def _segment(self, segment: Segment, path: DataPath) -> Segment:
        if isinstance(segment, str):
            return self.text(segment, path)
        if isinstance(segment, TextSegment) and segment.text is not None:
            return segment.model_copy(update={"text": self.text(segment.text, (*path, "text"))})
        return segment.model_copy(update={"value": self.text(segment.value or "", (*path, "value"))})

    def _value(self, match: re.Match[str], path: DataPath) -> str:
        name = match[1].strip()
        if name not in self.values:
            from .explain import did_you_mean

            hint = did_you_mean(name, list(self.values), "the case has these `vars`")
            message = f"unknown variable `{name}`" if name else "`{{ }}` names no variable"
            self.problems.append(Problem(path, "unknown-variable", message, hint))
            return match[0]
        value = self.values[name]
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
