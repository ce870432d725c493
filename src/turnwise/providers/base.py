"""What every provider takes and gives: the request, the response, and the protocol between them. Plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from ..conversation.chat import ChatMessage, ChatPrompt
from ..conversation.values import File, Image

if TYPE_CHECKING:
    from .agents.work import AgentWork

__all__ = [
    "DEFAULT_TIMEOUT",
    "RESULTS",
    "FinishReason",
    "HttpRequest",
    "Preview",
    "Provider",
    "ProviderRequest",
    "ProviderResponse",
    "Rewrite",
    "Settings",
    "Tool",
    "Usage",
]

DEFAULT_TIMEOUT = 600.0
"""Seconds that an answer may take where a target sets no `timeout`."""
RESULTS = "results.jsonl"
"""The file of a run's folder that holds its answers."""

FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "refusal", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a model picks its words. None: not sent, the API's own default."""

    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] | None = None
    reasoning_effort: str | None = None
    thinking_budget: int | None = None

    def over(self, base: Settings) -> Settings:
        """These settings, and those of `base` where these say nothing.

        >>> Settings(temperature=0.0).over(Settings(temperature=1.0, seed=7)).seed
        7
        """
        mine = {each.name: getattr(self, each.name) for each in fields(self)}
        return Settings(**{name: getattr(base, name) if value is None else value for name, value in mine.items()})


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may ask for; `parameters` is a JSON Schema of its arguments."""

    name: str
    description: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})


# Nothing changes a request, a response or a preview once it is made. They are not frozen all the same: there is one
# for every case, and a frozen one takes several times as long to make.
@dataclass(slots=True, kw_only=True)
class ProviderRequest:
    """One conversation to be continued.

    LLM providers send `chat_prompt` and ignore `question` and `guidelines`; without a chat prompt they make one of
    these two. Agents take `question` and `files`. `metadata["system_prompt"]` is the configured system prompt for a
    request without a chat prompt. `attempt` counts trials, from 1.
    """

    question: str
    chat_prompt: ChatPrompt | None = None
    guidelines: Sequence[str] = ()
    files: Sequence[File | Image] = ()
    case_id: str | None = None
    attempt: int = 1
    settings: Settings = Settings()
    tools: Sequence[Tool] = ()
    output_schema: Mapping[str, Any] | None = None
    vars: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens, as the provider counted them; None where it did not say.

    `input_tokens` includes those that came from, or went to, the API's cache; `output_tokens` includes reasoning.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A change that an API's rules forced on the messages. `message_index` counts in the messages, from 0."""

    kind: str
    message_index: int | None
    what: str
    why: str


@dataclass(slots=True, kw_only=True)
class ProviderResponse:
    """An answer, in one form whatever API gave it.

    `messages` are what the model or agent added to the conversation, `sent` the neutral messages that it received,
    `rewrites` what the API's rules made of these. `raw_finish_reason` is the API's own word. `raw` is the API's JSON.
    `cost_usd` is what the provider itself says that it cost; `agent` is what an agent did besides answering.
    """

    text: str
    messages: Sequence[ChatMessage] = ()
    finish_reason: FinishReason = "stop"
    raw_finish_reason: str | None = None
    usage: Usage = Usage()
    reasoning: str | None = None
    refusal: str | None = None
    model: str | None = None
    response_id: str | None = None
    sent: Sequence[ChatMessage] = ()
    rewrites: Sequence[Rewrite] = ()
    latency_ms: float | None = None
    first_token_ms: float | None = None
    attempts: int = 1
    raw: Any = None
    cost_usd: float | None = None
    agent: AgentWork | None = None


@dataclass(slots=True, kw_only=True)
class HttpRequest:
    """One HTTP request, ready to be sent: `body` is JSON data, not yet text; None sends no body."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: Any = None


@dataclass(slots=True, kw_only=True)
class Preview:
    """What a provider would send, without sending it; secrets are replaced by the names of their variables."""

    messages: Sequence[ChatMessage]
    rewrites: Sequence[Rewrite]
    request: HttpRequest | None
    """None where nothing goes over HTTP."""


@runtime_checkable
class Provider(Protocol):
    """The adapter that takes requests to a model or an agent. Made for one target; safe for many requests at once."""

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        """Send the request and bring back the answer. Raises `ProviderError`, and nothing else."""
        ...

    def preview(self, request: ProviderRequest) -> Preview:
        """What `ask` would send. Raises `PromptError` for a conversation that cannot be sent."""
        ...

    async def close(self) -> None:
        """Free connections and processes. Nothing may be asked afterwards."""
        ...
