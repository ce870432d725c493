"""Graders that ask a model without a deck: what they send, and what they keep of each answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .base import GradeError, Submission
from .judge_prompt import JudgePrompt
from .verdict import Status

if TYPE_CHECKING:
    from ..providers.base import ProviderRequest
    from .judges import Asker, JudgeAnswer
    from .roles import PromptText

__all__ = [
    "about_call",
    "answer_status",
    "judge_request",
    "prompt_of",
    "why_nobody",
]


def judge_request(
    asker: Asker, system: str, user: str, schema: Mapping[str, Any], submission: Submission
) -> ProviderRequest:
    """The task as a system message, the material as a user message, and the form of the answer. Agents get the same as
    one text."""
    from ..conversation.transcript import transcript
    from ..conversation.values import Message, Text
    from ..providers.base import ProviderRequest

    said = (("system", system), ("user", user))
    return ProviderRequest(
        question=transcript([Message(role, (Text(text),)) for role, text in said]),
        chat_prompt=[{"role": role, "content": text} for role, text in said],
        case_id=submission.case_id,
        attempt=submission.trial,
        settings=asker.settings,
        output_schema=schema,
    )


def answer_status(answer: JudgeAnswer) -> Status | None:
    """Why there is nothing to read; None if there is a text."""
    if answer.failure is None and answer.text is not None:
        return None
    return Status(answer.failure or "missing", answer.text or "", answer.detail)


def about_call(asker: Asker, answer: JudgeAnswer) -> dict[str, Any]:
    """Who was asked, and what it took."""
    return {
        "judge": asker.target,
        "model": answer.model,
        "usage": None if answer.usage is None else asdict(answer.usage),
        "cost_usd": answer.cost_usd,
        "latency_ms": answer.latency_ms,
        "attempts": answer.attempts,
    }


def why_nobody(target: str | None) -> GradeError:
    """The error where a judge that was planned is not there."""
    return GradeError("not-available", f"nobody is there to judge{f' as {target}' if target else ''}")


def prompt_of(submission: Submission, prompt: PromptText) -> JudgePrompt:
    """The words of a prompt: those of the file if it names one."""
    assert submission.judges is not None
    return JudgePrompt(submission.judges.prompt(prompt.written), prompt.form)
