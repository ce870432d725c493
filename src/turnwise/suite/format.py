"""The suite file format: schema, validator and loader at once."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, ConfigDict, Discriminator, Field, Tag, ValidationError, model_validator
from pydantic.config import JsonDict
from pydantic_core import InitErrorDetails, PydanticCustomError

from ..conversation.authored import AuthoredMessage, Content, FormatModel, MessageDict, Word
from ..conversation.globs import compile_glob
from ..conversation.values import is_blank
from ..errors import PatternError
from .live_format import ToolReply, ToolResult, UserSpec
from .when import WhenSpec

__all__ = [
    "CaseSpec",
    "GraderSpec",
    "GuidelinePattern",
    "LongGrader",
    "SuiteHeader",
    "SuiteSpec",
    "ToolSpec",
    "TurnSpec",
    "VariantSpec",
]


class LongGrader(FormatModel):
    """A grader with its settings; the kind decides which further keys it takes."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    type: str = Field(min_length=1, description="The kind of grader, such as `contains` or `llm_judge`.")
    name: Word | None = Field(None, description="A name for reports; the kind if absent.")
    weight: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Its share in the case's score; 1 if absent."
    )
    threshold: float | None = Field(None, ge=0, le=1, description="The score from which it passes.")
    required: bool | None = Field(None, description="Whether the case fails when this grader does not pass.")
    target: str | None = Field(None, description="The target that judges, for graders that ask a model.")
    on_error: Literal["ungraded", "skip"] | None = Field(
        None, description="`skip`: if it cannot grade, the case is scored without it; `ungraded` if absent."
    )
    when: WhenSpec | None = Field(None, description="Which answers this grader is for; all of them if absent.")
    scope: Literal["turn", "conversation"] | None = Field(
        None, description="`turn`: each reply of a live conversation is graded; the final answer alone if absent."
    )
    aggregate: Literal["min", "mean"] | None = Field(
        None, description="With `scope: turn`, how the replies' scores become one; `min` if absent."
    )

    @model_validator(mode="after")
    def _has_no_misspelt_key(self) -> Self:
        """A key that is nearly a common one is not a setting of the kind: it would be ignored silently."""
        errors = [
            InitErrorDetails(type="extra_forbidden", loc=(key,), input=value)
            for key, value in (self.model_extra or {}).items()
            if _meant(key)
        ]
        if errors:
            raise ValidationError.from_exception_data("LongGrader", errors)
        return self


@lru_cache(maxsize=256)
def _meant(key: str) -> str | None:
    """The common key of graders that this one is a misspelling of. `targets` is none: some kinds have it."""
    from .explain import near_miss

    return None if key == "targets" else near_miss(key, list(LongGrader.model_fields))


def _short_form(grader: dict[str, Any]) -> dict[str, Any]:
    if len(grader) != 1:
        rule = "a grader needs a `type`, or is a single `kind: value` pair"
        hint = "write two graders, or `type: kind` and its settings"
        settings = [key for key in grader if key in LongGrader.model_fields]
        if any(_meant(key) == "type" for key in grader):
            hint = "did you mean `type`?"
        elif settings and len(settings) == len(grader) - 1:
            (kind,) = grader.keys() - settings
            beside = ", ".join(f"{key}: …" for key in settings)
            hint = f"settings stand below the kind: `{kind}: {{value: …, {beside}}}`, or beside `type: {kind}`"
        raise PydanticCustomError("grader_form", rule, {"hint": hint})
    return grader


def _grader_form(value: Any) -> str | None:
    if isinstance(value, dict):
        return "long" if "type" in value else "short"
    return "line" if isinstance(value, str) else None


_ONE_PAIR: JsonDict = {"minProperties": 1, "maxProperties": 1, "not": {"required": ["type"]}}
GraderSpec = Annotated[
    Annotated[str, Field(min_length=1), Tag("line")]
    | Annotated[LongGrader, Tag("long")]
    | Annotated[dict[str, Any], AfterValidator(_short_form), Field(json_schema_extra=_ONE_PAIR), Tag("short")],
    Discriminator(
        _grader_form,
        custom_error_type="grader_form",
        custom_error_message="a grader is a text (a rubric line), a `kind: value` pair, or a mapping with `type`",
        custom_error_context={"hint": "quote it if it is a rubric line"},
    ),
]


def _readable_pattern(pattern: str) -> str:
    try:
        compile_glob(pattern.removeprefix("!"))
    except PatternError as error:
        hint = "globs know `*`, `**`, `?`, `[…]` and `{a,b}`; `!` in front excludes"
        raise PydanticCustomError("bad_pattern", "{reason}", {"reason": str(error), "hint": hint}) from error
    return pattern


_NOT_EMPTY: JsonDict = {"not": {"pattern": r"^!?(\./)?/*$"}}


def _judge_of_all_cases(name: str) -> str:
    if "{{" in name:
        raise PydanticCustomError(
            "unknown_target",
            "`judge` is for all cases of the suite: {{ }} is not filled in there",
            {"hint": "name a target, or write {{ }} into the `target` of a grader"},
        )
    return name


GuidelinePattern = Annotated[str, AfterValidator(_readable_pattern), Field(json_schema_extra=_NOT_EMPTY)]
Threshold = Annotated[float, Field(ge=0, le=1)]
Trials = Annotated[int, Field(ge=1)]
Messages = Annotated[list[AuthoredMessage], Field(min_length=1)]


class ToolSpec(FormatModel):
    """A function that the model may ask for."""

    name: Word = Field(description="The function's name.")
    description: str | None = Field(None, description="What it does, for the model.")
    parameters: dict[str, Any] | None = Field(None, description="A JSON Schema of its arguments; none if absent.")
    replies: list[ToolReply] | None = Field(
        None, description="What calls bring, by their arguments; the first that fits is used."
    )
    reply: ToolResult | None = Field(None, description="What a call brings that none of the `replies` fits.")

    @property
    def is_canned(self) -> bool:
        """Whether a call of it can be answered."""
        return bool(self.replies) or self.reply is not None


class WrappedTool(FormatModel):
    """The same in OpenAI's form."""

    type: Literal["function"]
    function: ToolSpec


def _tool_form(value: Any) -> str:
    return "wrapped" if isinstance(value, dict) and "function" in value else "plain"


AuthoredTool = Annotated[
    Annotated[ToolSpec, Tag("plain")] | Annotated[WrappedTool, Tag("wrapped")], Discriminator(_tool_form)
]


def _no_name_twice(tools: list[AuthoredTool]) -> list[AuthoredTool]:
    names = [tool.function.name if isinstance(tool, WrappedTool) else tool.name for tool in tools]
    for name, count in Counter(names).items():
        if count > 1:
            message = "{count} tools have the name {name}"
            context = {"count": count, "name": repr(name), "hint": "rename them: a call could not say which it means"}
            raise PydanticCustomError("duplicate_tool", message, context)
    return tools


Tools = Annotated[list[AuthoredTool], AfterValidator(_no_name_twice)]


_ONE_MESSAGE: JsonDict = {
    "oneOf": [
        {"required": ["user"], "properties": {"user": {"type": "string"}}},
        {"required": ["content"], "properties": {"content": {"type": ["string", "array"]}}},
    ]
}


class TurnSpec(FormatModel):
    """What the user says after the model's reply, and what is expected of the reply to it."""

    model_config = ConfigDict(json_schema_extra=_ONE_MESSAGE)

    user: str | None = Field(None, description="The text of the message.")
    role: Literal["user"] | None = Field(None, description="Who speaks; may be left out.")
    content: Content = Field(None, description="The message as in `input_messages`, instead of `user`.")
    graders: list[GraderSpec] | None = Field(None, description="Graders of the reply to this message alone.")
    expected: Word | None = Field(None, description="A good reply to this message, for its graders.")

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.user is None) == (self.content is None):
            rule = "a turn needs `user`, or `content`, and only one of them"
            raise PydanticCustomError("turn_form", rule, {"hint": "write `- user: text`"})
        said = self.content if self.user is None else self.user
        if not said or (isinstance(said, str) and is_blank(said)):
            raise PydanticCustomError("empty", "a turn must not be blank", {"hint": "remove it, or write what is said"})
        return self

    @property
    def message(self) -> MessageDict:
        """The message, as `input_messages` have it."""
        return {"role": "user", "content": self.content if self.user is None else self.user}


Turns = Annotated[list[TurnSpec], Field(min_length=1)]
Rounds = Annotated[int, Field(ge=1, le=100)]


def _says_something(prompt: str) -> str:
    if is_blank(prompt):
        hint = "leave it out to keep the prompts of the suite and its cases"
        raise PydanticCustomError("empty", "`system_prompt` must not be blank", {"hint": hint})
    return prompt


_NOT_BLANK: JsonDict = {"pattern": r"\S"}


class VariantSpec(FormatModel):
    """Another way to ask the cases of a suite; what it leaves out stays as the suite has it."""

    system_prompt: (
        Annotated[str, AfterValidator(_says_something), Field(min_length=1, json_schema_extra=_NOT_BLANK)] | None
    ) = Field(None, description="The system text, instead of the suite's and its cases'.")
    vars: dict[str, Any] | None = Field(None, description="Other values for variables that the cases have.")
    settings: dict[str, Any] | None = Field(None, description="Other settings for the target, such as `temperature`.")


_PROMPT_IN_METADATA: JsonDict = {"properties": {"systemPrompt": {"type": ["string", "null"]}}}


class CaseSpec(FormatModel):
    """One conversation to be continued, with what is expected of the answer."""

    model_config = ConfigDict(defer_build=False)  # every suite needs it

    id: Word = Field(description="Names the case; unique in its suite.")
    conversation_id: Word | None = Field(None, description="Cases that are parts of one conversation share it.")
    outcome: str | None = Field(None, description="What a good answer achieves, in words.")
    input_messages: Messages | None = Field(
        None,
        description="The conversation so far. Required, unless the suite gives `input_messages` for all its cases.",
    )
    expected_messages: list[AuthoredMessage] | None = Field(
        None, description="A good answer, for graders that compare."
    )
    system_prompt: str | None = Field(None, description="The system text, unless a message has the role `system`.")
    target: Word | None = Field(None, description="The target that this case is for, instead of the suite's.")
    graders: list[GraderSpec] | None = Field(None, description="Replace the suite's graders.")
    inherit_graders: bool = Field(False, description="Keep the suite's graders and add the case's own.")
    threshold: Threshold | None = Field(None, description="The score from which the case passes; 0.5 if nowhere given.")
    trials: Trials | None = Field(None, description="How often the case is repeated.")
    tags: list[Word] | None = Field(None, description="Words to select and group cases by; added to the suite's.")
    metadata: dict[str, Any] | None = Field(
        None,
        description="Anything else; `systemPrompt` in it is the same as `system_prompt`.",
        json_schema_extra=_PROMPT_IN_METADATA,
    )
    vars: dict[str, Any] | None = Field(
        None, description="Values for `{{ name }}` in texts, paths, tool calls and graders; they go before the suite's."
    )
    tools: Tools | None = Field(None, description="Functions that the model may ask for, instead of the suite's.")
    output_schema: dict[str, Any] | None = Field(
        None, description="A JSON Schema that the answer must follow, instead of the suite's."
    )
    turns: Turns | None = Field(
        None, description="What the user says next, each after the model's reply, instead of the suite's."
    )
    user: UserSpec | None = Field(
        None, description="A model that plays the user, after the `turns` if there are any, instead of the suite's."
    )
    max_tool_rounds: Rounds | None = Field(
        None, description="How often calls of tools are answered in one turn; 10 if nowhere given."
    )


# What the loader demands beyond the types, in the words of JSON Schema; `null` is the same as absent.
_HAS_MESSAGES: JsonDict = {"required": ["input_messages"], "properties": {"input_messages": {"type": "array"}}}
_MESSAGES_FROM_SUITE_OR_CASE: JsonDict = {"anyOf": [_HAS_MESSAGES, {"properties": {"cases": {"items": _HAS_MESSAGES}}}]}
_ONE_KIND_OF_TARGET: JsonDict = {
    "not": {
        "required": ["target", "targets"],
        "properties": {"target": {"type": "string"}, "targets": {"type": "array"}},
    }
}
_DATASET: JsonDict = {"pattern": r"\.([jJ][sS][oO][nN][lL]|[nN][dD][jJ][sS][oO][nN]|[cC][sS][vV])$"}


class SuiteHeader(FormatModel):
    """An eval file without its cases, which are validated one by one."""

    model_config = ConfigDict(defer_build=False)  # every suite needs it

    schema_: str | None = Field(
        None, alias="$schema", description="Where editors find this schema; not used otherwise."
    )
    name: Word | None = Field(None, description="Names the suite in reports; the file's name if absent.")
    description: str | None = Field(None, description="What the suite is about.")
    target: Word | None = Field(None, description="The target to ask.")
    targets: Annotated[list[Word], Field(min_length=1)] | None = Field(None, description="Several targets to ask.")
    judge: Annotated[Word, AfterValidator(_judge_of_all_cases)] | None = Field(
        None, description="The target that judges where neither the grader nor its deck names one; not for `similar`."
    )
    system_prompt: str | None = Field(None, description="The system text of cases that have none of their own.")
    guideline_patterns: list[GuidelinePattern] | None = Field(
        None, description="Which files are guidelines, instead of the config's patterns; `[]`: none."
    )
    graders: list[GraderSpec] | None = Field(None, description="The graders of cases that have none of their own.")
    threshold: Threshold | None = Field(None, description="The score from which a case passes.")
    min_pass_rate: Threshold | None = Field(
        None, description="The share of graded results that must pass; all of them if absent."
    )
    trials: Trials | None = Field(None, description="How often each case is repeated.")
    variants: Annotated[dict[Word, VariantSpec | None], Field(min_length=1)] | None = Field(
        None, description="Ways to ask the cases, each under its name; `{}` is the suite as it is written."
    )
    tags: list[Word] | None = Field(None, description="Words to select and group cases by.")
    metadata: dict[str, Any] | None = Field(None, description="Anything else about the suite.")
    vars: dict[str, Any] | None = Field(
        None, description="Values for `{{ name }}` in the texts, paths, tool calls and graders of cases."
    )
    outcome: str | None = Field(None, description="The outcome of cases that have none of their own.")
    input_messages: Messages | None = Field(
        None,
        description="The messages of cases that have none of their own: a template for `vars` and CSV rows.",
    )
    expected_messages: list[AuthoredMessage] | None = Field(
        None, description="The expected messages of cases that have none of their own."
    )
    tools: Tools | None = Field(None, description="Functions that the model may ask for.")
    output_schema: dict[str, Any] | None = Field(None, description="A JSON Schema that every answer must follow.")
    turns: Turns | None = Field(None, description="The turns of cases that have none of their own.")
    user: UserSpec | None = Field(None, description="The simulated user of cases that have none of their own.")
    max_tool_rounds: Rounds | None = Field(None, description="How often calls of tools are answered in one turn.")
    cases: Any = Field(description="Validated elsewhere.")


class SuiteSpec(SuiteHeader):
    """An eval file: defaults and cases."""

    model_config = ConfigDict(
        defer_build=True, json_schema_extra={"allOf": [_MESSAGES_FROM_SUITE_OR_CASE, _ONE_KIND_OF_TARGET]}
    )

    cases: Annotated[list[CaseSpec], Field(min_length=1)] | Annotated[Word, Field(json_schema_extra=_DATASET)] = Field(
        description="The cases, or the path of a dataset: `.jsonl` with a case a line, or `.csv` with a row of `vars`."
    )
