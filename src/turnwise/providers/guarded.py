"""A provider of another package: what it raises by mistake is told as its own failure, not as ours."""

from __future__ import annotations

from ..errors import ApplicationError, TurnwiseError
from .base import Preview, Provider, ProviderRequest, ProviderResponse
from .python_import import raised_at, shown_error

__all__ = ["GuardedProvider"]


class GuardedProvider:
    """Passes everything on, but for exceptions that are none of Turnwise's."""

    def __init__(self, inner: Provider, name: str) -> None:
        self.inner = inner
        self._name = name

    async def ask(self, request: ProviderRequest) -> ProviderResponse:
        """Ask the provider. Raises `ApplicationError` for whatever else goes wrong in it."""
        try:
            return await self.inner.ask(request)
        except TurnwiseError:
            raise
        except Exception as error:
            raise self._failure(error) from error

    def preview(self, request: ProviderRequest) -> Preview:
        """The provider's preview."""
        try:
            return self.inner.preview(request)
        except TurnwiseError:
            raise
        except Exception as error:
            raise self._failure(error) from error

    async def close(self) -> None:
        """Close the provider."""
        await self.inner.close()

    def _failure(self, error: Exception) -> ApplicationError:
        message = f"the provider {self._name!r} failed: {shown_error(error)} ({raised_at(error)})"
        return ApplicationError(message, hint="report it to the authors of the package that provides it")
