"""Targets of the vendors whose API is their own, and of Azure, which has settings of its own."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from ..conversation.authored import Word
from .chat_completions import BASE_URL, SYSTEM_ROLE, ChatCompletions
from .settings import Effort, ModelApi, Sampling, Seed, Stop, SystemRole, TargetBase, Thinking
from .texts import Address, Endpoint, Region

__all__ = ["AnthropicTarget", "AzureTarget", "BedrockTarget", "GeminiTarget", "OpenAIResponsesTarget"]

_REMOVE_ONE = {"hint": "remove one of them"}
_ONE_CREDENTIAL: JsonDict = {
    "not": {
        "required": ["api_key", "entra_token"],
        "properties": {"api_key": {"type": "string"}, "entra_token": {"type": "string"}},
    }
}
_MODEL_OR_DEPLOYMENT: JsonDict = {
    "anyOf": [{"required": [key], "properties": {key: {"type": "string"}}} for key in ("model", "deployment")]
}


class OpenAIResponsesTarget(Effort, Sampling, ModelApi, TargetBase):
    """OpenAI's Responses API."""

    provider: Literal["openai-responses"] = Field(description="OpenAI's Responses API.")
    base_url: Address | None = Field(None, description=BASE_URL)
    system_role: SystemRole = Field("system", description=SYSTEM_ROLE)


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
    base_url: Address | None = Field(None, description=BASE_URL)


class GeminiTarget(Thinking, Effort, Stop, Seed, Sampling, ModelApi, TargetBase):
    """Google's Gemini API."""

    provider: Literal["gemini"] = Field(description="Google's Gemini API.")
    base_url: Address | None = Field(None, description=BASE_URL)
    api_version: Word = Field("v1", description="The version of the API, as it stands in the path.")


class BedrockTarget(Stop, Effort, Sampling, ModelApi, TargetBase):
    """Amazon Bedrock's Converse API; signed with your AWS credentials unless `api_key` is given."""

    provider: Literal["bedrock"] = Field(description="Amazon Bedrock's Converse API.")
    base_url: Address | None = Field(None, description=BASE_URL)
    region: Region | None = Field(None, description="The AWS region; `AWS_REGION` or `AWS_DEFAULT_REGION` if absent.")
    profile: Word | None = Field(None, description="The profile of your AWS configuration to use.")
