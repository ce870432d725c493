"""From a case of a suite to the request that providers take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .base import ProviderRequest, Tool

if TYPE_CHECKING:
    from ..suite.case import Case

__all__ = ["request_for"]


def request_for(case: Case, *, system_prompt: str | None = None, attempt: int = 1) -> ProviderRequest:
    """The request for a case; `system_prompt` is the target's, which counts where nothing else gives one.

    Raises `ResolutionError` if the case refers to files that cannot be read.
    """
    conversation = case.conversation
    default = case.context.default_system_prompt
    tools = [
        Tool(each.name, each.description, each.parameters or {"type": "object", "properties": {}})
        for each in case.tools
    ]
    return ProviderRequest(
        question=conversation.transcript(),
        chat_prompt=conversation.chat_prompt(system_prompt, default),
        guidelines=conversation.guidelines,
        files=conversation.files,
        case_id=case.id,
        attempt=attempt,
        tools=tools,
        output_schema=case.output_schema,
        vars=case.vars,
        metadata=case.metadata,
    )
