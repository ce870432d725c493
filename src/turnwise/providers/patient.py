"""Patience around a provider: rate limits before each attempt, retries after those that may succeed later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ..errors import ApplicationError, ProviderError, RateLimitError, SetupError, TurnwiseError, UsageError
from .base import Preview, Provider, ProviderRequest, ProviderResponse
from .python_import import raised_at, shown_error
from .retries import LONGEST_RETRY_AFTER, Retry, RetryPolicy, with_retries
from .tokens import estimated_tokens

if TYPE_CHECKING:
    from .limits import RateLimit

__all__ = ["PatientProvider", "policy_of"]


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
        max_output_tokens: int | None = None,
        counts_tokens: bool,
        on_retry: Callable[[Retry], bool | None] | None = None,
    ) -> None:
        self.inner = inner
        self._policy = policy
        self._limit = limit
        self._counts_tokens = counts_tokens
        self._max_output_tokens = max_output_tokens
        self._on_retry = on_retry

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        """Ask until there is an answer, or an error that will not pass. Raises `ProviderError`, and nothing else."""
        try:
            return await self._ask(request)
        except TurnwiseError:
            raise
        except Exception as error:
            # A request of odd values, a plugin, a callback, or a fault of ours: one case fails, not everything.
            message = f"asking failed: {shown_error(error)} ({raised_at(error)})"
            raise ApplicationError(message, hint="check the values of the request; else report a fault") from error

    async def _ask(self, request: ProviderRequest) -> ProviderResponse:
        tokens = estimated_tokens(request, self._max_output_tokens) if self._counts_tokens else 0

        async def attempt() -> ProviderResponse:
            await self._limit.acquire(tokens)
            started = perf_counter()
            try:
                response = await self.inner.ask(request)
            except UsageError as error:
                raise SetupError(str(error), hint=error.hint) from error
            except ProviderError as error:
                if tokens:
                    self._limit.settle(tokens, 0)
                self._hold_all(error)
                raise
            if tokens:
                usage = response.usage
                self._limit.settle(tokens, (usage.input_tokens or 0) + (usage.output_tokens or 0) or tokens)
            if response.latency_ms is None:
                return replace(response, latency_ms=(perf_counter() - started) * 1000)
            return response

        response, attempts = await with_retries(self._policy, attempt, on_retry=self._on_retry)
        return response if attempts == response.attempts else replace(response, attempts=attempts)

    def _hold_all(self, error: ProviderError) -> None:
        """Everybody who shares the limit waits, not only the one who was told; nobody for longer than a retry would."""
        wait = error.retry_after
        if isinstance(error, RateLimitError) and error.retryable and wait and wait <= LONGEST_RETRY_AFTER:
            self._limit.hold(wait)

    def preview(self, request: ProviderRequest) -> Preview:
        """What would be sent."""
        return self.inner.preview(request)

    async def close(self) -> None:
        """Close the provider inside."""
        await self.inner.close()
