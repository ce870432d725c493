"""Messages as people write them in files: role, and content as a text or a list of segments.

A message is a plain dictionary with a checked shape: there is one for every turn of every case, and a model object
would take twice as long to validate.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal, NotRequired, Required, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, model_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from .transcript import tool_call_name

__all__ = [
    "AuthoredMessage",
    "FileSegment",
    "FormatModel",
    "ImageSegment",
    "MessageDict",
    "Segment",
    "TextSegment",
    "Word",
]


class FormatModel(BaseModel):
    """Base of every file format: what it does not know is an error, and nothing is converted silently."""

    # Built when first used: a model that only stands inside another one is never built on its own.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


Word = Annotated[str, Field(min_length=1)]
"""A text that says something."""

# What the validators below demand, in the words of JSON Schema.
_NAMED: JsonDict = {"required": ["name"], "properties": {"name": {"type": "string", "minLength": 1}}}
_NAMED_CALL: JsonDict = {
    "if": {"required": ["function"], "properties": {"function": {"type": "object"}}},
    "then": {"properties": {"function": _NAMED}},
    "else": _NAMED,
}
_ONE_TEXT: JsonDict = {
    "oneOf": [{"required": [key], "properties": {key: {"type": "string"}}} for key in ("value", "text")]
}
_SAYS_SOMETHING: JsonDict = {
    "anyOf": [
        {"required": ["content"], "properties": {"content": {"type": ["string", "array"]}}},
        {"required": ["tool_calls"], "properties": {"tool_calls": {"type": "array", "minItems": 1}}},
    ]
}


class TextSegment(FormatModel):
    """A piece of text."""

    model_config = ConfigDict(json_schema_extra=_ONE_TEXT)

    type: Literal["text"]
    value: str | None = Field(None, description="The text, kept as written.")
    text: str | None = Field(None, description="The same as `value`, in OpenAI's spelling.")

    @model_validator(mode="after")
    def _has_one_text(self) -> Self:
        if (self.value is None) == (self.text is None):
            rule = "a text segment needs `value` (or `text`), and only one of them"
            raise PydanticCustomError("text_segment", rule, {"hint": "write `{type: text, value: …}`"})
        return self


class FileSegment(FormatModel):
    """A text file: embedded under its name, or, if it is a guideline, moved to the system text."""

    type: Literal["file"]
    value: str = Field(
        min_length=1,
        description="Path, relative to the file that holds the case; a leading `/` is the project root.",
    )


class ImageSegment(FormatModel):
    """An image for models that can see."""

    type: Literal["image"]
    value: str = Field(min_length=1, description="Path of a PNG, JPEG, GIF or WebP file, or a `data:` URL with base64.")


TypedSegment = Annotated[TextSegment | FileSegment | ImageSegment, Field(discriminator="type")]
Segment = str | TypedSegment
Content = Annotated[str | list[Segment] | None, Field(union_mode="left_to_right")]


class MessageDict(TypedDict, total=False):
    """One turn of the conversation. `content` may be left out only beside `tool_calls`."""

    __pydantic_config__ = ConfigDict(  # type: ignore[misc]
        extra="forbid", strict=True, title="Message", json_schema_extra=_SAYS_SOMETHING
    )

    role: Required[
        Annotated[
            str,
            Field(
                min_length=1,
                description="Who speaks: `system`, `user`, `assistant`, `tool`, `developer` or any other word.",
            ),
        ]
    ]
    content: NotRequired[
        Annotated[
            Content,
            Field(description="A text, or a list of segments: plain strings, or `{type: text|file|image, value: …}`."),
        ]
    ]
    name: NotRequired[Annotated[str | None, Field(description="A name for the speaker; passed through.")]]
    tool_calls: NotRequired[
        Annotated[
            list[Annotated[dict[str, Any], Field(json_schema_extra=_NAMED_CALL)]] | None,
            Field(description="Tool calls of an assistant turn, in OpenAI's form; passed through."),
        ]
    ]
    tool_call_id: NotRequired[
        Annotated[str | None, Field(description="Which tool call a `tool` message answers; passed through.")]
    ]


def _says_something(message: MessageDict) -> MessageDict:
    calls = message.get("tool_calls")
    if calls:
        for call in calls:
            if tool_call_name(call) is None:
                rule = "a tool call needs `function: {name: …, arguments: …}`, or a `name`"
                raise PydanticCustomError("tool_call_name", rule, {"hint": "name the function that is called"})
    elif message.get("content") is None:
        raise PydanticCustomError(
            "no_content",
            "a message needs `content`; it may be left out only beside `tool_calls`",
            {"hint": "add `content: …`"},
        )
    return message


AuthoredMessage = Annotated[MessageDict, AfterValidator(_says_something)]


def authored_messages(values: Any) -> list[MessageDict]:
    """A list of messages, checked. Raises `pydantic.ValidationError`."""
    return _adapter().validate_python(values)


@cache
def _adapter() -> TypeAdapter[list[MessageDict]]:
    return TypeAdapter(list[AuthoredMessage])
