"""The targets file format: schema, validator and loader at once."""

from __future__ import annotations

from typing import Annotated, Any, get_args

from pydantic import Field

from ..conversation.authored import FormatModel
from .agents import ClaudeCodeTarget, CliTarget, CodexTarget, PiTarget, VSCodeInsidersTarget, VSCodeTarget
from .providers import (
    AnthropicTarget,
    AzureTarget,
    BedrockTarget,
    GeminiTarget,
    HttpTarget,
    LocalTarget,
    MockTarget,
    OllamaTarget,
    OpenAIResponsesTarget,
    OpenAITarget,
    OpenRouterTarget,
    PythonTarget,
    ReplayTarget,
)

__all__ = ["PROVIDERS", "Target", "TargetSpec", "TargetsHeader", "TargetsSpec"]

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

PROVIDERS: dict[str, type[Target]] = {
    get_args(model.model_fields["provider"].annotation)[0]: model for model in get_args(Target)
}
"""The model of each provider's targets, by the provider's name."""


class TargetsHeader(FormatModel):
    """A targets file, with targets that are validated one by one: the models of all providers take 80 ms to build."""

    schema_: str | None = Field(
        None, alias="$schema", description="Where editors find this schema; not used otherwise."
    )
    targets: Annotated[list[Any], Field(min_length=1)]


class TargetsSpec(TargetsHeader):
    """The targets of a project, in `.turnwise/targets.yaml`: whom to ask."""

    targets: Annotated[list[TargetSpec], Field(min_length=1)] = Field(
        description="The targets, each with its own name."
    )

    def target(self, name: str) -> Target | None:
        """The target of that name, if there is one."""
        return next((target for target in self.targets if target.name == name), None)
