"""The targets file as a whole, for its schema; a file is read target by target, with the models that it needs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from .agents import ClaudeCodeTarget, CliTarget, CodexTarget, PiTarget, VSCodeInsidersTarget, VSCodeTarget
from .applications import HttpTarget, PythonTarget
from .chat_completions import OllamaTarget, OpenAITarget, OpenRouterTarget
from .local_model import LocalTarget
from .stand_ins import MockTarget, ReplayTarget
from .targets_file import TargetsHeader
from .vendor_apis import AnthropicTarget, AzureTarget, BedrockTarget, GeminiTarget, OpenAIResponsesTarget

__all__ = ["Target", "TargetSpec", "TargetsSpec"]

Target = (
    OpenAITarget
    | OpenAIResponsesTarget
    | AzureTarget
    | AnthropicTarget
    | GeminiTarget
    | BedrockTarget
    | OpenRouterTarget
    | OllamaTarget
    | HttpTarget
    | PythonTarget
    | LocalTarget
    | MockTarget
    | ReplayTarget
    | CliTarget
    | CodexTarget
    | ClaudeCodeTarget
    | PiTarget
    | VSCodeTarget
    | VSCodeInsidersTarget
)
TargetSpec = Annotated[Target, Field(discriminator="provider")]


class TargetsSpec(TargetsHeader):
    """The targets of a project, in `.turnwise/targets.yaml`: whom to ask."""

    targets: Annotated[list[TargetSpec], Field(min_length=1)] = Field(
        description="The targets, each with its own name."
    )
