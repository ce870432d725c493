"""What a suite says of conversations that go on: canned results of tools, and a model that plays the user."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from ..conversation.authored import FormatModel, Word

__all__ = ["DEFAULT_STOP", "ToolReply", "ToolResult", "UserSpec"]

DEFAULT_STOP = "[[END]]"
"""What a simulated user says when the conversation is over."""

_ONE_RESULT: JsonDict = {
    "oneOf": [
        {"required": ["result"], "not": {"required": ["error"], "properties": {"error": {"type": "string"}}}},
        {"required": ["error"], "properties": {"error": {"type": "string"}}, "not": {"required": ["result"]}},
    ]
}


class ToolResult(FormatModel):
    """What a call of a tool brings: a result, or an error."""

    model_config = ConfigDict(json_schema_extra=_ONE_RESULT)

    result: Any = Field(None, description="Any value; a text is given as it is, anything else as JSON.")
    error: Word | None = Field(None, description='What went wrong; the model gets `{"error": …}`.')

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        if ("result" in self.model_fields_set) == (self.error is not None):
            rule = "the reply of a tool needs `result` or `error`, and only one of them"
            raise PydanticCustomError("tool_reply", rule, {"hint": "write `result: …`"})
        return self


class ToolReply(ToolResult):
    """What calls with these arguments bring."""

    arguments: dict[str, Any] | None = Field(
        None, description="Arguments that the call must have; further ones do not matter. Any call if absent."
    )


class UserSpec(FormatModel):
    """A model that plays the user."""

    target: Word = Field(description="The target that plays the user.")
    persona: str | None = Field(None, description="Who the user is.")
    goal: Word = Field(description="What the user wants of the conversation.")
    max_turns: Annotated[int, Field(ge=1, le=100)] = Field(10, description="How many messages the user may write.")
    stop: Word = Field(DEFAULT_STOP, description="What the user answers when the conversation is over.")
