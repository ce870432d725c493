"""Model options of a deck, at its top or in a table: those that we know are checked before anything is asked."""

from __future__ import annotations

import json
from typing import Annotated, Any, Self

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from ..conversation.authored import FormatModel

__all__ = ["ModelChoice", "ModelOptions", "ModelTable"]

Finite = Annotated[float, Field(allow_inf_nan=False)]
Temperature = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Probability = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
Tokens = Annotated[int, Field(ge=1)]


class ModelOptions(FormatModel):
    """The options that have a meaning here."""

    temperature: Temperature | None = Field(None, description="A model option.")
    top_p: Probability | None = Field(None, description="A model option.")
    max_tokens: Tokens | None = Field(None, description="A model option.")
    max_output_tokens: Tokens | None = Field(None, description="A model option.")
    seed: int | None = Field(None, description="A model option.")
    stop: str | list[str] | None = Field(None, description="A model option.")
    frequency_penalty: Finite | None = Field(None, description="A model option.")
    presence_penalty: Finite | None = Field(None, description="A model option.")
    reasoning_effort: str | None = Field(None, description="A model option.")
    response_format: dict[str, Any] | None = Field(None, description="A model option.")
    tool_choice: str | dict[str, Any] | None = Field(None, description="A model option.")


class ModelTable(ModelOptions):
    """`[model]` or `[options]`: whatever else stands there goes to the API as it is written."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    model: str | None = Field(None, description="The model to ask.")

    @model_validator(mode="after")
    def _fits_into_json(self) -> Self:
        for name, value in (self.model_extra or {}).items():
            try:
                json.dumps(value, allow_nan=False)
            except ValueError:
                context = {"name": name, "hint": "write a finite number"}
                raise PydanticCustomError("option_value", "the model option `{name}` cannot be sent", context) from None
        return self


def _form(value: Any) -> str:
    return "a table" if isinstance(value, dict) else "a name"


ModelChoice = Annotated[Annotated[ModelTable, Tag("a table")] | Annotated[str, Tag("a name")], Discriminator(_form)]
"""The model's name, or a table with its options."""
