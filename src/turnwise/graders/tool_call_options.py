"""What a suite says about the tool calls that it expects."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from ..conversation.authored import FormatModel, Word
from .regex import why_not_regex
from .tool_call_matching import Order

__all__ = ["ArgumentMatch", "CallLimit", "ExpectedCall", "ToolCalls"]

ArgumentMatch = Literal["exact", "subset", "regex", "ignore"]
Count = Annotated[int, Field(ge=0)]
_MOST_EXPECTED = 100


class ExpectedCall(FormatModel):
    """A tool call that should be made, or may be."""

    name: Word = Field(description="The name of the tool.")
    arguments: dict[str, Any] | None = Field(None, description="Its arguments; any if absent.")
    match: ArgumentMatch | None = Field(
        None, description="How the arguments are compared; as the grader says if absent."
    )
    match_arguments: dict[str, ArgumentMatch] = Field(
        default_factory=dict, description="How single arguments are compared, by name."
    )

    @model_validator(mode="after")
    def _names_its_arguments(self) -> Self:
        unknown = sorted(set(self.match_arguments) - set(self.arguments or {}))
        if unknown:
            rule = "`match_arguments` names {name}, which is not among the `arguments`"
            hint = "give the argument a value, or remove it"
            raise PydanticCustomError("grader_options", rule, {"name": repr(unknown[0]), "hint": hint})
        return self

    def how(self, argument: str, default: ArgumentMatch) -> ArgumentMatch:
        """How one argument is compared."""
        return self.match_arguments.get(argument) or self.match or default


class CallLimit(FormatModel):
    """How often one tool is called."""

    min: Count | None = Field(None, description="The least.")
    max: Count | None = Field(None, description="The most.")


def _long_form(call: Any) -> Any:
    return {"name": call} if isinstance(call, str) else call


_Call = Annotated[ExpectedCall, BeforeValidator(_long_form, json_schema_input_type=Word | ExpectedCall)]


class ToolCalls(FormatModel):
    """The tools that were called, with which arguments and in which order."""

    expected: Annotated[list[_Call], Field(max_length=_MOST_EXPECTED)] | None = Field(
        None, description="The calls, as names or with arguments; those of `expected_messages` if absent."
    )
    order: Order = Field("exact", description="`exact`, `in_order`, `any_order` or `subset`.")
    match: ArgumentMatch = Field("subset", description="`exact`, `subset`, `regex` or `ignore`, for all arguments.")
    partial: bool = Field(False, description="Whether `order: exact` gives a share rather than 0 or 1.")
    min_calls: Count | None = Field(None, description="The least number of calls.")
    max_calls: Count | None = Field(None, description="The most calls.")
    limits: dict[Word, CallLimit] = Field(default_factory=dict, description="`min` and `max` of single tools, by name.")
    forbidden: list[Word] = Field(default_factory=list, description="Tools that must not be called.")

    @model_validator(mode="after")
    def _has_readable_patterns(self) -> Self:
        for call in self.expected or ():
            for name, value in (call.arguments or {}).items():
                if call.how(name, self.match) == "regex":
                    _check_pattern(name, value)
        if self.partial and self.order != "exact":
            rule = "`partial` is for `order: exact`; the other orders give a share anyhow"
            raise PydanticCustomError("grader_options", rule, {"hint": "remove it"})
        return self

    @property
    def has_limits(self) -> bool:
        """Whether something is asked of the calls besides which they are."""
        return bool(self.limits or self.forbidden or self.min_calls is not None or self.max_calls is not None)


def _check_pattern(name: str, value: Any) -> None:
    reason = why_not_regex(value) if isinstance(value, str) else "it is not a text"
    if reason is not None:
        raise PydanticCustomError(
            "bad_pattern",
            "the argument {name} is not a regular expression: {reason}",
            {"name": repr(name), "reason": reason, "hint": "write one, or choose another `match`"},
        )
