"""What targets have in common: kinds of values, and groups of settings that several providers share.

A setting that is not text may also be a whole `${{ NAME }}`: its value is known only when the variables are. That is
why such a setting is, say, `int | str` here.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from ..conversation.authored import FormatModel, Word
from .agent_rules import check_at, check_folders
from .texts import Address, ExtraBody, Headers, ModelName, VariableName
from .variables import is_whole_reference

__all__ = [
    "Amount",
    "Count",
    "Delay",
    "Effort",
    "ModelApi",
    "Prices",
    "Probability",
    "Program",
    "Sampling",
    "Seconds",
    "Seed",
    "Status",
    "Stop",
    "Switch",
    "SystemRole",
    "TargetBase",
    "Thinking",
    "TokensField",
    "Variable",
    "WholeNumber",
    "Workspace",
]

RETRY_STATUSES = (408, 409, 425, 429, 500, 502, 503, 504, 529)


def _form(value: Any) -> str:
    return "variable" if isinstance(value, str) and "${{" in value else "value"


def _whole(text: str) -> str:
    if not is_whole_reference(text):
        raise PydanticCustomError(
            "variable_not_whole",
            "a setting that is not free text must be one whole variable, with nothing around it",
            {"hint": "write ${{ NAME }}"},
        )
    return text


def _fixed(text: str) -> str:
    if "${{" in text:
        raise PydanticCustomError(
            "variable_not_allowed", "a name of a target cannot hold variables", {"hint": "write it out"}
        )
    return text


_PATTERN = {"pattern": r"^\$\{\{\s*[A-Za-z_][A-Za-z0-9_]*\s*\}\}$"}
_NO_VARIABLE: JsonDict = {"not": {"pattern": r"\$\{\{"}}
OR_VARIABLE = Discriminator(_form)

Variable = Annotated[str, AfterValidator(_whole), Field(json_schema_extra=_PATTERN), Tag("variable")]
WholeNumber = Annotated[Annotated[int, Tag("value")] | Variable, OR_VARIABLE]
Count = Annotated[Annotated[int, Field(ge=1), Tag("value")] | Variable, OR_VARIABLE]
CountOrNone = Annotated[Annotated[int, Field(ge=0), Tag("value")] | Variable, OR_VARIABLE]
Budget = Annotated[Annotated[int, Field(ge=-1), Tag("value")] | Variable, OR_VARIABLE]
Status = Annotated[Annotated[int, Field(ge=100, le=599), Tag("value")] | Variable, OR_VARIABLE]
Amount = Annotated[Annotated[float, Field(ge=0, allow_inf_nan=False), Tag("value")] | Variable, OR_VARIABLE]
Delay = Amount
Seconds = Annotated[Annotated[float, Field(gt=0, allow_inf_nan=False), Tag("value")] | Variable, OR_VARIABLE]
Rate = Seconds
Factor = Annotated[Annotated[float, Field(ge=1, allow_inf_nan=False), Tag("value")] | Variable, OR_VARIABLE]
Probability = Annotated[Annotated[float, Field(gt=0, le=1), Tag("value")] | Variable, OR_VARIABLE]
Switch = Annotated[Annotated[bool, Tag("value")] | Variable, OR_VARIABLE]
SystemRole = Annotated[Annotated[Literal["system", "developer"], Tag("value")] | Variable, OR_VARIABLE]
TokensField = Annotated[Annotated[Literal["max_tokens", "max_completion_tokens"], Tag("value")] | Variable, OR_VARIABLE]
KeepWorkspaces = Annotated[Annotated[Literal["never", "failed", "always"], Tag("value")] | Variable, OR_VARIABLE]

# The same as `check_folders`, in the words of JSON Schema; `null` is the same as absent.
ONE_FOLDER: JsonDict = {
    "allOf": [
        {
            "anyOf": [
                {"properties": {"cwd": {"type": "null"}}},
                {"properties": {"workspace_template": {"type": "null"}, "workspace_revision": {"type": "null"}}},
            ]
        },
        {
            "anyOf": [
                {"properties": {"workspace_revision": {"type": "null"}}},
                {"required": ["workspace_template"], "properties": {"workspace_template": {"type": "string"}}},
            ]
        },
    ]
}

TargetName = Annotated[Word, AfterValidator(_fixed), Field(json_schema_extra=_NO_VARIABLE)]
Command = Annotated[list[Word], Field(min_length=1)] | Word


class Prices(FormatModel):
    """What a target costs, in US dollars per million tokens."""

    input: Amount = Field(description="Price of tokens that are sent.")
    output: Amount = Field(description="Price of tokens that come back, reasoning included.")
    cached_input: Amount | None = Field(
        None, description="Price of sent tokens that the API has cached; `input` if absent."
    )
    cache_write: Amount | None = Field(
        None, description="Price of tokens written to the API's cache; `input` if absent."
    )


class TargetBase(FormatModel):
    """The settings that every target has."""

    name: TargetName = Field(
        description="Names the target in suites, on the command line and in reports; unique in the file."
    )
    provider: str = Field(description="The adapter that takes requests to the model or agent.")
    description: str | None = Field(None, description="What the target is for.")
    judge_target: TargetName | None = Field(
        None, description="The target, of this file, that judges the answers of this one where a grader asks a model."
    )
    workers: Count | None = Field(None, description="How many requests may be under way at once.")
    system_prompt: str | None = Field(None, description="The system text of cases for which nothing else gives one.")
    timeout: Seconds | None = Field(
        None, description="Seconds that one answer may take; the provider's own limit if absent."
    )
    max_retries: CountOrNone = Field(
        3, description="How often a request that failed for a passing reason is sent again."
    )
    retry_initial_delay: Delay = Field(1.0, description="Seconds before the first retry.")
    retry_factor: Factor = Field(2.0, description="By how much the delay grows from one retry to the next.")
    retry_max_delay: Delay = Field(60.0, description="The longest delay before a retry, in seconds.")
    requests_per_minute: Rate | None = Field(None, description="The most requests to start in a minute.")
    tokens_per_minute: Rate | None = Field(None, description="The most tokens to send and receive in a minute.")
    prices: Prices | None = Field(None, description="What tokens cost, for budgets and reports.")


class Http(FormatModel):
    """Settings of everything that is asked over HTTP."""

    headers: Headers | None = Field(None, description="Further HTTP headers of every request.")
    retry_statuses: list[Status] = Field(
        list(RETRY_STATUSES), description="The HTTP statuses after which a request is sent again."
    )


class ModelApi(Http):
    """Settings of the LLM APIs."""

    model: ModelName = Field(description="The model's name, as the API knows it.")
    api_key: Word | None = Field(
        None,
        description="The key. Write `${{ NAME }}`, not the key. If absent, the provider's usual environment variable, "
        "where the address is the vendor's own, the usual variable's, or on this machine.",
    )
    images: Switch = Field(
        True,
        description="Whether the model takes images; with false, a case that holds one is an error before anything is "
        "sent.",
    )
    stream: Switch = Field(False, description="Whether answers are streamed, which tells the time to the first token.")
    extra_body: ExtraBody | None = Field(
        None, description="Further fields of the request body, as the API names them; they go before ours."
    )


class Sampling(FormatModel):
    """How a model picks its words, as far as every API can be told. What is absent is not sent."""

    temperature: Amount | None = Field(None, description="How freely the model picks its words; 0 is the least.")
    top_p: Probability | None = Field(None, description="Pick only among the likeliest words, up to this probability.")
    max_output_tokens: Count | None = Field(None, description="The longest answer, in tokens.")


class Seed(FormatModel):
    """For APIs that can repeat themselves."""

    seed: WholeNumber | None = Field(None, description="Makes sampling repeatable, as far as the API can.")


class Stop(FormatModel):
    """For APIs that end an answer at a text."""

    stop: Annotated[list[Word], Field(min_length=1)] | Word | None = Field(
        None, description="A text, or several, at which the answer ends."
    )


class Effort(FormatModel):
    """For APIs that can be told how hard to think."""

    reasoning_effort: Word | None = Field(
        None, description="How hard a reasoning model thinks, in the API's own words, such as `low` or `high`."
    )


class Thinking(FormatModel):
    """For APIs that count the tokens of thinking."""

    thinking_budget: Budget | None = Field(
        None, description="Tokens that the model may spend on thinking; 0 is none, -1 lets the model decide."
    )


class Workspace(FormatModel):
    """The surroundings of an agent: where it works, what it sees of this machine, and what is kept."""

    model_config = ConfigDict(json_schema_extra=ONE_FOLDER)

    cwd: Word | None = Field(None, description="The folder to work in; a fresh workspace for each case if absent.")
    workspace_template: Word | None = Field(None, description="A folder that each fresh workspace is a copy of.")
    workspace_revision: Word | None = Field(
        None,
        description="A git revision of `workspace_template`: each fresh workspace is a clone of it at that revision.",
    )
    setup: Command | None = Field(
        None,
        description="A command to run in the workspace before the agent starts: a text by a shell, a list as it is.",
    )
    teardown: Command | None = Field(
        None, description="A command to run in the workspace after the agent has ended, in the same way."
    )
    step_timeout: Seconds | None = Field(
        None, description="Seconds that `setup` and `teardown` may each take; 300 if absent."
    )
    keep_workspaces: KeepWorkspaces = Field("never", description="Which workspaces stay on disk after the run.")
    inherit_config: Switch = Field(False, description="Whether the agent sees your own HOME and configuration.")
    pass_env: list[VariableName] | None = Field(
        None, description="Names of environment variables that the agent may see."
    )
    env: dict[str, str] | None = Field(None, description="Environment variables to set for the agent.")
    log_dir: Word | None = Field(None, description="The folder for the agent's logs; the run's folder if absent.")

    @model_validator(mode="after")
    def _has_one_folder(self) -> Self:
        check_at("workspace_revision" if self.cwd is None else "cwd", check_folders, self)
        return self


class Program(FormatModel):
    """How a coding agent is started, and which model it uses."""

    executable: Word | None = Field(None, description="The program's name or path; the agent's usual name if absent.")
    args: list[str] | None = Field(None, description="Further arguments for the program.")
    model: Word | None = Field(None, description="The model that the agent uses; the agent's default if absent.")
    api_key: Word | None = Field(
        None, description="The agent's key for its model API. Write `${{ NAME }}`, not the key."
    )
    base_url: Address | None = Field(None, description="The model API that the agent uses, instead of its vendor's.")
