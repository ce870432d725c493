"""What one line of `results.jsonl` holds: schema and documentation at once.

Lines are written as plain dictionaries, without a detour over this model: there are many of them, and the tests hold
both together.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from ..conversation.authored import FormatModel, Word
from .record import Status

__all__ = ["ErrorSpec", "GradeSpec", "LiveSpec", "LiveUserSpec", "RawRequest", "ResultSpec", "UsageSpec"]

Score = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]


class RawRequest(FormatModel):
    """What was asked: as people read it, and as the model or agent received it."""

    question: str = Field(description="The transcript: what people and judges read.")
    guidelines: list[str] = Field(description="The texts of the guidelines.")
    chat_prompt: list[dict[str, Any]] = Field(description="The messages of the conversation, for a model API.")
    messages: list[dict[str, Any]] = Field(description="The messages that were really sent, before the API's rules.")
    rewrites: list[dict[str, Any]] = Field(
        description="What the API's rules changed: `kind`, `message_index`, `what`, `why`."
    )


class UsageSpec(FormatModel):
    """Tokens, as the provider counted them; null where it did not."""

    input_tokens: Count | None = Field(description="All that was sent, cached or not.")
    output_tokens: Count | None = Field(description="All that came back, reasoning included.")
    cached_input_tokens: Count | None = Field(description="Those sent that came from the API's cache.")
    cache_write_tokens: Count | None = Field(description="Those sent that went to the API's cache.")
    reasoning_tokens: Count | None = Field(description="Those that came back as reasoning.")


class ErrorSpec(FormatModel):
    """Why there is no answer."""

    kind: Word = Field(description="The class of the error, such as `rate_limit`.")
    message: str = Field(description="What happened, in words.")
    status: int | None = Field(description="The HTTP status, if there was one.")
    retryable: bool = Field(description="Whether the same request may succeed later.")
    hint: str | None = Field(None, description="What can be done about it; null if nobody knows.")


class GradeSpec(FormatModel):
    """What one grader said: a score, or why there is none."""

    name: Word = Field(description="The grader's name.")
    kind: Word = Field(description="The kind of grader.")
    score: Score | None = Field(description="From 0 to 1; null if it could not grade.")
    passed: bool | None = Field(description="Whether the score is enough; null if there is none.")
    reason: str = Field(description="Why, in words.")
    evidence: dict[str, Any] = Field(
        description="What the reason rests on. Of a deck: `verdict` (as the judge gave it), `reason` and `repairs`, or "
        "else `status` and `raw`; `deck`, `judge` (the target), `model`, `calibration` (how far it can be trusted), "
        "`usage`, `cost_usd`, `latency_ms` and `attempts`. Of `llm_judge`, `rubric` and `pairwise`: `votes`, each "
        "of which has the same about one call of a model, beside what was said."
    )
    weight: Annotated[float, Field(ge=0)] = Field(description="How much it counts in the case's score.")
    required: bool = Field(description="Whether the case fails if this one does.")
    error: dict[str, Any] | None = Field(description="`kind` and `message` of what kept it from grading.")


class LiveUserSpec(FormatModel):
    """What the simulated user of a conversation took; it is in `judge_usage` and `judge_cost_usd` as well."""

    target: Word = Field(description="The target that played the user.")
    messages: Count = Field(description="How many messages it wrote.")
    last_words: str | None = Field(
        None, description="What it said to end the conversation, with the stop word; null if it did not end it."
    )
    attempts: Count = Field(description="How often it was asked, retries included; 0 if all came from the cache.")
    usage: UsageSpec = Field(description="Its tokens.")
    cost_usd: Annotated[float, Field(ge=0)] | None = Field(description="US dollars; null if a price is not known.")


class LiveSpec(FormatModel):
    """How a conversation went that went on after the first answer."""

    turns: Count = Field(description="How many replies the model gave to the user.")
    requests: Count = Field(description="How often the model answered: replies, and calls of tools.")
    ended: Literal["answered", "tool-call", "stop-word", "max-turns", "no-tool-reply", "tool-rounds", "error"] = Field(
        description="How it ended: `answered`: the model answered the last turn; `tool-call`: it called a tool that is "
        "only declared, and the call is the answer; `stop-word` and `max-turns`: by the simulated user; "
        "`no-tool-reply`: it broke off, since a call of a tool has no reply; `tool-rounds`: it broke off, since the "
        "model called tools too often; `error`: see `error`, and `output_messages` for what was said before."
    )
    why: str = Field(description="The same, in words.")
    turn_latencies_ms: list[Annotated[float, Field(ge=0)] | None] = Field(
        description="Milliseconds of each reply, all of its requests together."
    )
    turn_usage: list[UsageSpec] | None = Field(None, description="The tokens of each reply, in the same way.")
    turn_costs_usd: list[Annotated[float, Field(ge=0)] | None] | None = Field(
        None, description="US dollars of each reply; null where a price is not known."
    )
    user: LiveUserSpec | None = Field(description="The simulated user; null if there is none.")


class ChangeSpec(FormatModel):
    """A file of the workspace that the agent changed."""

    path: Word = Field(description="The file, from the workspace.")
    change: Literal["added", "modified", "deleted"] = Field(description="What became of it.")


class AgentSpec(FormatModel):
    """What an agent did besides answering."""

    agent: Word = Field(description="The agent.")
    version: str | None = Field(description="The version that it says it is; null if it does not say.")
    exit_code: int | None = Field(description="How its program ended; negative for a signal, null if we ended it.")
    seconds: Annotated[float, Field(ge=0)] | None = Field(description="How long it ran.")
    workspace: str | None = Field(description="Its workspace, if it was kept.")
    changes: list[ChangeSpec] = Field(description="The files of the workspace that it changed.")
    diff: str = Field(description="The same as a unified diff.")
    note: str | None = Field(
        description="What is missing in the diff, the log or the counts, and why, and how `teardown` failed; null if "
        "there is nothing to say."
    )
    log: str | None = Field(description="The file with what it wrote; null if there is none.")


class ResultSpec(FormatModel):
    """One result: a case, asked of one target, once. A later line for the same case, target and trial replaces it."""

    schema_version: Literal[1] = Field(description="The version of this format.")
    run_id: Word = Field(description="The run that it belongs to.")
    suite: Word = Field(description="The suite's file, from the project root.")
    case_id: Word = Field(description="The case.")
    conversation_id: Word | None = Field(description="The conversation that the case is part of.")
    target: Word = Field(description="The target's name.")
    variant: Word | None = Field(description="The variant's name, where a run has variants.")
    trial: Annotated[int, Field(ge=1)] = Field(description="Which repeat of the case it is.")
    status: Status = Field(description="`error`: no answer; `ungraded`: an answer of which nobody knows.")
    score: Score | None = Field(
        description="The weighted mean of the grades; null unless every grader that counts has graded."
    )
    reason: str | None = Field(
        None, description="Why an answer has its status; it names graders that could not grade, or do not count."
    )
    threshold: Score = Field(description="The score from which the case passes.")
    grades: list[GradeSpec] = Field(description="What each grader said.")
    answer: str | None = Field(description="The text of the answer; null if there is none.")
    output_messages: list[dict[str, Any]] = Field(description="What the model or agent added to the conversation.")
    finish_reason: str | None = Field(description="Why the answer ended: `stop`, `length`, `tool_calls`, …")
    model: str | None = Field(None, description="The model that answered, as it calls itself; null if it is not known.")
    raw_request: RawRequest | None = Field(description="What was asked; null if the case could not be made.")
    usage: UsageSpec | None = Field(
        description="Tokens; null if there is no answer, unless an agent counted them before it failed."
    )
    cost_usd: Annotated[float, Field(ge=0)] | None = Field(
        description="US dollars; null if a price is not known. An answer from the cache costs nothing."
    )
    judge_usage: UsageSpec | None = Field(
        None, description="Tokens of the judges that graded the answer, all together; null if none was asked."
    )
    judge_cost_usd: Annotated[float, Field(ge=0)] | None = Field(
        None, description="US dollars for them, on top of `cost_usd`; null if none was asked, or a price is not known."
    )
    paid: bool = Field(description="Whether the target is paid by the token, so that a null cost is an unknown one.")
    latency_ms: Annotated[float, Field(ge=0)] | None = Field(description="Milliseconds of the attempt that answered.")
    first_token_ms: Annotated[float, Field(ge=0)] | None = Field(description="Until the first token, if streamed.")
    attempts: Count = Field(description="How often the request was sent; 0 if the answer came from the cache.")
    error: ErrorSpec | None = Field(description="Why there is no answer; null if there is one.")
    started_at: Word = Field(description="When it was begun, as ISO 8601 in UTC.")
    finished_at: Word = Field(description="When it was done.")
    live: LiveSpec | None = Field(
        None,
        description="Only there for a conversation with `turns`, a simulated `user` or canned tools. `output_messages` "
        "then holds all that was added, the user's messages too; `usage`, `cost_usd`, `latency_ms` and `attempts` are "
        "sums; `raw_request` is the last request.",
    )
    agent: AgentSpec | None = Field(None, description="Only there if an agent was asked.")
    masked: Literal[True] | None = Field(
        None, description="Only there if secrets were taken out of what was said, which cannot be graded again then."
    )
