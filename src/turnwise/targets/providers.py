"""One model per provider that asks a model, an application or a stand-in: which settings it takes, and nothing else."""

from __future__ import annotations

import re
import warnings
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, Tag, model_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from ..conversation.authored import FormatModel
from ..suite.format import Word
from .settings import (
    OR_VARIABLE,
    Count,
    Delay,
    Http,
    ModelApi,
    Sampling,
    Status,
    Switch,
    SystemRole,
    TargetBase,
    Variable,
)

__all__ = [
    "AnthropicTarget",
    "AzureTarget",
    "BedrockTarget",
    "GeminiTarget",
    "HttpTarget",
    "LocalTarget",
    "MockRule",
    "MockTarget",
    "OpenAIResponsesTarget",
    "OpenAITarget",
    "PythonTarget",
    "ReplayTarget",
]

Method = Annotated[Annotated[Literal["GET", "POST", "PUT", "PATCH"], Tag("value")] | Variable, OR_VARIABLE]
MatchBy = Annotated[Annotated[Literal["request", "case"], Tag("value")] | Variable, OR_VARIABLE]
Fault = Annotated[Annotated[Literal["status", "reset", "truncated", "slow"], Tag("value")] | Variable, OR_VARIABLE]

_BASE_URL = "Where the API is; the vendor's own address, or the usual environment variable, if absent."
_REMOVE_ONE = {"hint": "remove one of them"}
_SYSTEM_ROLE = "The role under which the system text is sent."
# What the loader demands beyond the types, in the words of JSON Schema; `null` is the same as absent.
_ONE_CREDENTIAL: JsonDict = {
    "not": {
        "required": ["api_key", "entra_token"],
        "properties": {"api_key": {"type": "string"}, "entra_token": {"type": "string"}},
    }
}
_ONE_ANSWER: JsonDict = {
    "not": {
        "required": ["response", "echo"],
        "properties": {"response": {"type": "string"}, "echo": {"const": True}},
    }
}
_POINTER: JsonDict = {"pattern": r"^(/|\$\{\{|$)"}
# Python's names are of any script, which `\w` is not in every editor: so this says what is not in a name.
_DOTTED = r"[^\s\d.:][^\s.:]*(\.[^\s\d.:][^\s.:]*)*"
_FUNCTION: JsonDict = {"pattern": rf"\$\{{\{{|^{_DOTTED}:{_DOTTED}$"}


def _pointer(text: str) -> str:
    if text and not text.startswith(("/", "${{")):
        raise PydanticCustomError(
            "json_pointer", "a JSON pointer starts with `/`", {"hint": "such as /choices/0/message/content"}
        )
    return text


def _function(text: str) -> str:
    module, colon, function = text.partition(":")
    parts = [*module.split("."), *function.split(".")]
    if "${{" not in text and not (colon and all(part.isidentifier() for part in parts)):
        raise PydanticCustomError(
            "function", "`function` must be `module:function`", {"hint": "such as my_app.chat:answer"}
        )
    return text


def _regex(text: str) -> str:
    if "${{" in text:
        return text
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise PydanticCustomError(
            "bad_pattern",
            "not a regular expression: {reason}",
            {"reason": str(error), "hint": "a literal bracket is written \\( or \\["},
        ) from error
    return text


JsonPointer = Annotated[str, AfterValidator(_pointer), Field(json_schema_extra=_POINTER)]
FunctionName = Annotated[Word, AfterValidator(_function), Field(json_schema_extra=_FUNCTION)]


class OpenAITarget(Sampling, ModelApi, TargetBase):
    """OpenAI's Chat Completions API, or any server that speaks it: vLLM, Ollama, llama.cpp, OpenRouter, LiteLLM."""

    provider: Literal["openai"] = Field(description="OpenAI's Chat Completions API, or a server that speaks it.")
    base_url: Word | None = Field(None, description=_BASE_URL)
    system_role: SystemRole = Field("system", description=_SYSTEM_ROLE)


class OpenAIResponsesTarget(Sampling, ModelApi, TargetBase):
    """OpenAI's Responses API."""

    provider: Literal["openai-responses"] = Field(description="OpenAI's Responses API.")
    base_url: Word | None = Field(None, description=_BASE_URL)
    system_role: SystemRole = Field("system", description=_SYSTEM_ROLE)


class AzureTarget(Sampling, ModelApi, TargetBase):
    """OpenAI's models on Azure."""

    model_config = ConfigDict(json_schema_extra=_ONE_CREDENTIAL)

    provider: Literal["azure"] = Field(description="OpenAI's models on Azure.")
    endpoint: Word | None = Field(
        None, description="The resource's URL, or its bare name; `AZURE_OPENAI_ENDPOINT` of the environment if absent."
    )
    deployment: Word | None = Field(None, description="The deployment's name, where it is not the same as `model`.")
    api_version: Word | None = Field(
        None, description="The `api-version` of the request; `v1` uses the `/openai/v1` form of the API."
    )
    entra_token: Word | None = Field(None, description="A Microsoft Entra token, instead of `api_key`.")
    system_role: SystemRole = Field("system", description=_SYSTEM_ROLE)

    @model_validator(mode="after")
    def _has_one_credential(self) -> Self:
        if self.api_key is not None and self.entra_token is not None:
            raise PydanticCustomError("two_credentials", "give `api_key` or `entra_token`, not both", _REMOVE_ONE)
        return self


class AnthropicTarget(Sampling, ModelApi, TargetBase):
    """Anthropic's Messages API."""

    provider: Literal["anthropic"] = Field(description="Anthropic's Messages API.")
    base_url: Word | None = Field(None, description=_BASE_URL)


class GeminiTarget(Sampling, ModelApi, TargetBase):
    """Google's Gemini API."""

    provider: Literal["gemini"] = Field(description="Google's Gemini API.")
    base_url: Word | None = Field(None, description=_BASE_URL)


class BedrockTarget(Sampling, ModelApi, TargetBase):
    """Amazon Bedrock's Converse API; signed with your AWS credentials unless `api_key` is given."""

    provider: Literal["bedrock"] = Field(description="Amazon Bedrock's Converse API.")
    base_url: Word | None = Field(None, description=_BASE_URL)
    region: Word | None = Field(None, description="The AWS region; that of your AWS configuration if absent.")
    profile: Word | None = Field(None, description="The profile of your AWS configuration to use.")


class HttpTarget(Http, TargetBase):
    """Any HTTP endpoint: for testing an application rather than a model."""

    provider: Literal["http"] = Field(description="Any HTTP endpoint.")
    url: Word = Field(description="The address to ask.")
    method: Method = Field("POST", description="The HTTP method.")
    body: Any = Field(
        None,
        description="The JSON body, in which `{{ question }}`, `{{ messages }}` and `{{ vars.NAME }}` are filled in.",
    )
    answer_pointer: JsonPointer | None = Field(
        None, description="A JSON pointer to the answer in the response; the whole response is the answer if absent."
    )


class PythonTarget(TargetBase):
    """A Python function of yours, sync or async, that takes the request and returns text or messages."""

    provider: Literal["python"] = Field(description="A Python function of yours.")
    function: FunctionName = Field(description="The function, as `module:function`.")
    path: Word | None = Field(None, description="A folder to import from; relative to the project root.")


class LocalTarget(Sampling, TargetBase):
    """A model file on this machine, run by llama.cpp; needs the extra `turnwise[local]`."""

    provider: Literal["local"] = Field(description="A model file on this machine, run by llama.cpp.")
    model: Word = Field(description="Path of a GGUF file.")
    context_length: Count | None = Field(
        None, description="Tokens of context for each request; the model's own if absent."
    )
    threads: Count | None = Field(None, description="How many CPU threads the model uses.")


class MockRule(FormatModel):
    """One scripted answer; the first rule whose conditions all hold is used."""

    case: Word | None = Field(None, description="Only for the case with this id.")
    turn: Count | None = Field(None, description="Only for the request of this number in its conversation, from 1.")
    pattern: Annotated[Word, AfterValidator(_regex)] | None = Field(
        None, description="Only if this regular expression is found in the last user message."
    )
    response: str | None = Field(None, description="The answer.")
    delay: Delay | None = Field(None, description="Seconds before the answer.")
    fault: Fault | None = Field(None, description="A failure to show instead of a whole answer.")
    status: Status | None = Field(None, description="The HTTP status of the fault `status`; 500 if absent.")
    times: Count | None = Field(None, description="How often the rule applies; always if absent.")


class MockTarget(TargetBase):
    """Answers without a model, for testing your own evals offline."""

    model_config = ConfigDict(json_schema_extra=_ONE_ANSWER)

    provider: Literal["mock"] = Field(description="Answers without a model.")
    response: str | None = Field(None, description="The answer where no rule of `script` applies.")
    echo: Switch = Field(False, description="Whether the answer is the last user message.")
    script: Annotated[list[MockRule], Field(min_length=1)] | None = Field(
        None, description="Answers by case, turn or pattern."
    )
    delay: Delay = Field(0.0, description="Seconds before each answer.")

    @model_validator(mode="after")
    def _has_one_answer(self) -> Self:
        if self.echo is True and self.response is not None:
            raise PydanticCustomError("two_answers", "give `response` or `echo: true`, not both", _REMOVE_ONE)
        return self


class ReplayTarget(TargetBase):
    """Answers that were recorded before."""

    provider: Literal["replay"] = Field(description="Answers that were recorded before.")
    path: Word = Field(description="The recording: a run's folder or a JSONL file; relative to the project root.")
    match_by: MatchBy = Field("request", description="Whether an answer is found by its whole request or by its case.")
