"""Patience around a provider: rate limits before each attempt, retries after those that may succeed later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..conversation.chat import ChatContent, ChatPrompt
from ..errors import RateLimitError, SetupError, UsageError
from .base import Preview, Provider, ProviderRequest, ProviderResponse
from .retries import Retry, RetryPolicy, with_retries

if TYPE_CHECKING:
    from .limits import RateLimit

__all__ = ["PatientProvider", "policy_of"]

_CHARACTERS_PER_TOKEN = 4


def policy_of(target: Any) -> RetryPolicy:
    """The retry settings of a resolved target."""
    return RetryPolicy(
        max_retries=target.max_retries,
        initial_delay=target.retry_initial_delay,
        factor=target.retry_factor,
        max_delay=target.retry_max_delay,
    )


class PatientProvider:
    """A provider whose `ask` waits for its turn and tries again. `on_retry` is told before each pause."""

    def __init__(
        self,
        inner: Provider,
        policy: RetryPolicy,
        limit: RateLimit,
        *,
        counts_tokens: bool,
        on_retry: Callable[[Retry], None] | None = None,
    ) -> None:
        self.inner = inner
        self._policy = policy
        self._limit = limit
        self._counts_tokens = counts_tokens
        self._on_retry = on_retry

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        """Ask until there is an answer, or an error that will not pass. Raises `ProviderError`."""
        tokens = _estimate(request) if self._counts_tokens else 0

        async def attempt() -> ProviderResponse:
            await self._limit.acquire(tokens)
            try:
                response = await self.inner.ask(request)
            except UsageError as error:
                raise SetupError(str(error), hint=error.hint) from error
            except RateLimitError as error:
                # Everybody who shares the limit waits, not only the one who was told.
                if error.retryable and error.retry_after:
                    self._limit.hold(error.retry_after)
                raise
            if tokens:
                usage = response.usage
                self._limit.settle(tokens, (usage.input_tokens or 0) + (usage.output_tokens or 0) or tokens)
            return response

        response, attempts = await with_retries(self._policy, attempt, on_retry=self._on_retry)
        return response if attempts == response.attempts else replace(response, attempts=attempts)

    def preview(self, request: ProviderRequest) -> Preview:
        """What would be sent."""
        return self.inner.preview(request)

    async def close(self) -> None:
        """Close the provider inside."""
        await self.inner.close()


def _estimate(request: ProviderRequest) -> int:
    """Tokens that a request will cost, before anybody has counted them: better too many than too few."""
    prompt: ChatPrompt = request.chat_prompt or [{"role": "user", "content": request.question}]
    characters = sum(_length(message["content"]) for message in prompt)
    return characters // _CHARACTERS_PER_TOKEN + (request.settings.max_output_tokens or 256)


def _length(content: ChatContent) -> int:
    if isinstance(content, list):
        return sum(len(part.get("text", "")) for part in content)
    return len(content or "")
