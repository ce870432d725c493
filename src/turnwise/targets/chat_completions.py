"""Targets that speak the Chat Completions API, whoever serves it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..conversation.authored import Word
from .settings import Effort, ModelApi, Sampling, Seed, Stop, SystemRole, TargetBase, TokensField
from .texts import Address

__all__ = ["BASE_URL", "SYSTEM_ROLE", "ChatCompletions", "OllamaTarget", "OpenAITarget", "OpenRouterTarget"]

BASE_URL = "Where the API is; the vendor's own address, or the usual environment variable, if absent."
SYSTEM_ROLE = "The role under which the system text is sent."


class ChatCompletions(Effort, Stop, Seed, Sampling, ModelApi):
    """Settings of the Chat Completions API, whoever serves it."""

    system_role: SystemRole = Field("system", description=SYSTEM_ROLE)
    max_tokens_field: TokensField | None = Field(
        None,
        description="The field that carries `max_output_tokens`; `max_completion_tokens` at OpenAI's and Azure's own "
        "addresses and `max_tokens` elsewhere if absent.",
    )


class OpenAITarget(ChatCompletions, TargetBase):
    """OpenAI's Chat Completions API, or any server that speaks it: vLLM, llama.cpp, LiteLLM."""

    provider: Literal["openai"] = Field(description="OpenAI's Chat Completions API, or a server that speaks it.")
    base_url: Address | None = Field(None, description=BASE_URL)


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
