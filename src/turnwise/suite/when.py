"""Which answers a grader is for, as a suite says it."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from ..conversation.authored import FormatModel, Word

__all__ = ["WhenSpec"]

_SAYS_SOMETHING: JsonDict = {
    "anyOf": [
        {"required": [key], "properties": {key: {"not": {"type": "null"}}}}
        for key in ("tags", "target", "variant", "metadata")
    ]
}


class WhenSpec(FormatModel, json_schema_extra=_SAYS_SOMETHING):
    """A condition: everything that it names must hold."""

    tags: Annotated[list[Word], Field(min_length=1)] | None = Field(
        None, description="The case has at least one of these tags."
    )
    target: Word | None = Field(None, description="The target's name, or a pattern for it such as `gpt-*`.")
    variant: Word | None = Field(None, description="The variant's name.")
    metadata: Annotated[dict[str, Any], Field(min_length=1)] | None = Field(
        None, description="The case's metadata has these keys with these values."
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not any((self.tags, self.target, self.variant, self.metadata)):
            hint = "write `tags`, `target`, `variant` or `metadata`, or remove `when`"
            raise PydanticCustomError("empty", "`when` must not be empty", {"hint": hint})
        return self
